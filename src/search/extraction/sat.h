#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "search/extraction/budget.h"

namespace tessera::extraction {

/// An incremental SAT solver (CaDiCaL). A literal is a variable (from 1) or its negative.
class Sat {
public:
    Sat();
    ~Sat();
    Sat(const Sat&) = delete;
    Sat& operator=(const Sat&) = delete;

    int new_variable() { return ++variables_; }
    void add(std::span<const int> clause);
    void add(std::initializer_list<int> clause) { add(std::span(clause.begin(), clause.size())); }

    enum class Answer : uint8_t { kSatisfiable, kUnsatisfiable, kOutOfBudget };
    /// Spends from the budget what it takes.
    Answer solve(std::span<const int> assumptions, Budget& budget);

    bool is_true(int literal) const;     ///< @pre the last answer was kSatisfiable
    bool has_failed(int literal) const;  ///< an assumption. @pre the last answer was kUnsatisfiable

private:
    struct Engine;
    std::unique_ptr<Engine> engine_;
    int variables_ = 0;
};

}  // namespace tessera::extraction
