#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "search/extraction/budget.h"
#include "search/extraction/instance.h"
#include "search/extraction/sat.h"
#include "search/extraction/totalizer.h"

namespace tessera::extraction {

/// A literal that costs `weight` where it is false.
struct Soft {
    int literal;
    Weight weight;
};

/// Minimises the sum of the weights of violated soft literals under the clauses of a solver, from below:
/// cores raise the lower bound until a model meets it. Anytime, and may be resumed with a new budget.
class MaxSat {
public:
    /// Called for every model that is found: the cost of the solution that it stands for, or none where the
    /// model is none and the caller has added clauses that exclude it.
    using ModelFound = std::function<std::optional<Weight>()>;

    /// @param base  cost of a solution without violated soft literals
    MaxSat(Sat& sat, const std::vector<Soft>& softs, Weight base, ModelFound model_found);

    enum class End : uint8_t { kOptimal, kInfeasible, kOutOfBudget };
    /// Searches for a solution that is cheaper than `upper()`. kOptimal: there is none; kInfeasible: there is
    /// no solution at all.
    End run(Budget& budget);

    Weight upper() const { return upper_; }
    void lower_upper(Weight cost) { upper_ = std::min(upper_, cost); }  ///< a solution is known elsewhere
    Weight lower() const { return std::min(lower_, upper_); }           ///< no solution costs less

private:
    struct Counted {  ///< the soft literal says: fewer than k of the totalizer's literals
        Totalizer* totalizer;
        int k;
    };
    struct Core {
        std::vector<int> literals;  ///< soft literals, not all of which can hold
        Weight weight;
    };

    std::vector<int> assumptions() const;
    std::optional<Sat::Answer> ask(std::span<const int> literals, Budget& budget);
    void harden();
    bool next_stratum();
    std::vector<int> failed(const std::vector<int>& assumed) const;
    void shrink(std::vector<int>& core, Budget& budget);
    void charge(std::vector<int> core);
    void relax(const Core& core, Budget& budget);
    void add_soft(int literal, Weight weight);

    Sat& sat_;
    ModelFound model_found_;
    std::map<int, Weight> softs_;  ///< by literal; positive weights
    std::map<int, Counted> counted_;
    std::vector<std::unique_ptr<Totalizer>> totalizers_;
    std::vector<Core> pending_;  ///< charged, not yet relaxed
    Weight stratum_;             ///< lighter soft literals are not assumed yet
    Weight lower_;
    Weight upper_ = kUnreached;
};

}  // namespace tessera::extraction
