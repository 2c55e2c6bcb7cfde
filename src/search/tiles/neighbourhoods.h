#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "search/tiles/box_bounds.h"
#include "search/tiles/normal_form.h"

namespace tessera::tiles {

/// Boxes around an assignment: a few variables are free, all others keep their values.
class Neighbourhoods {
public:
    explicit Neighbourhoods(const NormalForm& form);

    Box next(const Box& root, const std::vector<int32_t>& values);
    /// Adapts the number of free variables to what became of the last one.
    void learn(bool was_searched_whole, bool has_improved);
    bool are_exhausted() const { return failures_ >= kMostFailures; }

private:
    static constexpr int kMostFailures = 300;

    std::vector<std::vector<size_t>>
        partners_;  ///< of each variable, those of the factors and scopes it is in
    std::mt19937 random_{1};
    double size_ = 3;
    int failures_ = 0;
};

}  // namespace tessera::tiles
