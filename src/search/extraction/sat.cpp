#include "search/extraction/sat.h"

#include <cstdlib>

#include <cadical.hpp>

#include "support/error.h"

namespace tessera::extraction {
namespace {

constexpr int kSatisfiable = 10;
constexpr int kUnsatisfiable = 20;

/// Every learned clause comes from a conflict: the solver tells them, but not their number.
class Counter final : public CaDiCaL::Learner {
public:
    bool learning(int) override {
        ++count;
        return false;
    }
    void learn(int) override {}
    int64_t count = 0;
};

class Stop final : public CaDiCaL::Terminator {
public:
    bool terminate() override { return budget && budget->must_stop(); }
    Budget* budget = nullptr;
};

}  // namespace

struct Sat::Engine {
    // Connected by pointer: declared first, so that the solver goes before they do.
    Counter counter;
    Stop stop;
    CaDiCaL::Solver solver;
};

Sat::Sat() : engine_(std::make_unique<Engine>()) {
    CaDiCaL::Solver& solver = engine_->solver;
    solver.set("quiet", 1);
    // Variables that nothing demands are false: a class that no chosen node uses is not computed.
    solver.set("phase", 0);
    solver.connect_learner(&engine_->counter);
    solver.connect_terminator(&engine_->stop);
}

Sat::~Sat() = default;

void Sat::add(std::span<const int> clause) {
    for (const int literal : clause) engine_->solver.add(literal);
    engine_->solver.add(0);
}

Sat::Answer Sat::solve(std::span<const int> assumptions, Budget& budget) {
    CaDiCaL::Solver& solver = engine_->solver;
    if (budget.is_exhausted()) return Answer::kOutOfBudget;
    for (const int literal : assumptions) solver.assume(literal);
    const int64_t before = engine_->counter.count;
    engine_->stop.budget = &budget;
    solver.limit("conflicts", static_cast<int>(std::min<int64_t>(budget.left(), 1'000'000'000)));
    const int answer = solver.solve();
    engine_->stop.budget = nullptr;
    budget.spend(1 + engine_->counter.count - before);
    if (answer == kSatisfiable) return Answer::kSatisfiable;
    return answer == kUnsatisfiable ? Answer::kUnsatisfiable : Answer::kOutOfBudget;
}

bool Sat::is_true(int literal) const {
    // A variable that no clause has is neither true nor false for the solver; here it is false.
    const int variable = std::abs(literal);
    return (engine_->solver.val(variable) == variable) == (literal > 0);
}

bool Sat::has_failed(int literal) const {
    return engine_->solver.failed(literal);
}

}  // namespace tessera::extraction
