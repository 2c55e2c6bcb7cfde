// Core-guided search, OLL: assume that every soft literal holds. An unsatisfiable core of them says that at
// least one fails, which costs at least the least weight w in it:
//
//     softs  a:3  b:2  c:5      core {a, b}:  lower += 2,  a:1, b:0,  and a totalizer over -a, -b
//                                             whose "not at least 2" is a new soft literal of weight 2
//
// When a new literal itself is in a core, the next count takes its place. The first model that satisfies all
// assumptions costs exactly the lower bound.
//
// Stratification: heavy literals first. Cores found under one stratum are relaxed together once no further
// one is found, so that totalizers do not multiply while weights are still being split. Exhaustion: a new
// totalizer's count is raised as long as a cheap call shows that it must be. Hardening: a literal whose
// weight reaches the gap can only be violated by solutions that are not better than the best known.
//
// Sources: Morgado, Dodaro, Marques-Silva: Core-Guided MaxSAT with Soft Cardinality Constraints, CP 2014
// (OLL); Ignatiev, Morgado, Marques-Silva: RC2, JSAT 2019 (exhaustion, stratification); Berg, Jarvisalo:
// Weight-Aware Core Extraction, CP 2017. Left out: intrinsic at-most-one constraints, core minimisation to
// the last literal.
#include "search/extraction/max_sat.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace tessera::extraction {
namespace {

// A call that only improves a core or a count is worth little more than propagation.
constexpr int64_t kTrimConflicts = 1000;
constexpr int kTrimCalls = 5;
constexpr int64_t kDeletionConflicts = 100;
constexpr size_t kDeletionSize = 60;
constexpr int64_t kExhaustConflicts = 30;

/// A stratum ends where the weights fall steeply, or holds this share of the remaining literals.
constexpr double kWeightDrop = 0.5;

}  // namespace

MaxSat::MaxSat(Sat& sat, const std::vector<Soft>& softs, Weight base, ModelFound model_found)
    : sat_(sat), model_found_(std::move(model_found)), stratum_(0), lower_(base) {
    for (const Soft& soft : softs) {
        add_soft(soft.literal, soft.weight);
        stratum_ = std::max(stratum_, softs_[soft.literal]);
    }
}

void MaxSat::add_soft(int literal, Weight weight) {
    TESSERA_CHECK(weight > 0 && softs_.count(-literal) == 0, "literal {}", literal);
    softs_[literal] += weight;
}

std::vector<int> MaxSat::assumptions() const {
    std::vector<std::pair<Weight, int>> heavy;
    for (const auto& [literal, weight] : softs_)
        if (weight >= stratum_) heavy.emplace_back(-weight, literal);
    std::sort(heavy.begin(), heavy.end());
    std::vector<int> result;
    for (const auto& [weight, literal] : heavy) result.push_back(literal);
    return result;
}

bool MaxSat::next_stratum() {
    Weight next = 0;
    for (const auto& [literal, weight] : softs_)
        if (weight < stratum_) next = std::max(next, weight);
    if (next == 0) return false;
    // All weights of one order of magnitude together: a stratum of one literal learns nothing.
    const auto reach = static_cast<Weight>(static_cast<double>(next) * kWeightDrop);
    for (const auto& [literal, weight] : softs_)
        if (weight < stratum_ && weight > reach) next = std::min(next, weight);
    stratum_ = next;
    return true;
}

/// The answer; none where the model was refused and the question is open again.
std::optional<Sat::Answer> MaxSat::ask(std::span<const int> literals, Budget& budget) {
    const Sat::Answer answer = sat_.solve(literals, budget);
    if (answer != Sat::Answer::kSatisfiable) return answer;
    const auto cost = model_found_();
    if (!cost) return std::nullopt;
    upper_ = std::min(upper_, *cost);
    return answer;
}

void MaxSat::harden() {
    if (upper_ == kUnreached) return;
    for (auto soft = softs_.begin(); soft != softs_.end();) {
        if (soft->second < upper_ - lower_) {
            ++soft;
            continue;
        }
        sat_.add({soft->first});
        soft = softs_.erase(soft);
    }
}

std::vector<int> MaxSat::failed(const std::vector<int>& assumed) const {
    std::vector<int> core;
    std::copy_if(assumed.begin(), assumed.end(), std::back_inserter(core),
                 [&](int literal) { return sat_.has_failed(literal); });
    return core;
}

void MaxSat::shrink(std::vector<int>& core, Budget& budget) {
    const auto is_core = [&](const std::vector<int>& literals, int64_t conflicts) {
        Budget part(budget, conflicts);
        return sat_.solve(literals, part) == Sat::Answer::kUnsatisfiable;
    };
    for (int call = 0; call < kTrimCalls && core.size() > 1; ++call) {
        std::vector<int> reversed(core.rbegin(), core.rend());
        const size_t before = core.size();
        if (!is_core(reversed, kTrimConflicts)) return;
        core = failed(reversed);
        if (core.size() == before) break;
    }
    if (core.size() > kDeletionSize) return;
    for (const int candidate : std::vector<int>(core)) {
        std::vector<int> without = core;
        if (std::erase(without, candidate) == 0 || without.empty()) continue;
        if (is_core(without, kDeletionConflicts)) core = failed(without);
    }
}

/// Takes the least weight out of the core and leaves its relaxation for later.
void MaxSat::charge(std::vector<int> core) {
    Weight least = kUnreached;
    for (const int literal : core) least = std::min(least, softs_.at(literal));
    lower_ += least;
    for (const int literal : core) {
        const auto soft = softs_.find(literal);
        if ((soft->second -= least) == 0) softs_.erase(soft);
        const auto counted = counted_.find(literal);
        if (counted == counted_.end()) continue;
        const auto [totalizer, k] = counted->second;
        if (k == totalizer->size()) continue;
        const int next = -totalizer->at_least(k + 1);
        counted_[next] = {totalizer, k + 1};
        add_soft(next, least);
    }
    if (core.size() == 1) {
        sat_.add({-core.front()});
        return;
    }
    pending_.push_back({std::move(core), least});
}

void MaxSat::relax(const Core& core, Budget& budget) {
    std::vector<int> violated;
    for (const int literal : core.literals) violated.push_back(-literal);
    sat_.add(violated);
    Totalizer& totalizer = *totalizers_.emplace_back(std::make_unique<Totalizer>(sat_, violated));
    int count = 1;
    while (count < totalizer.size()) {
        const std::vector<int> at_most = {-totalizer.at_least(count + 1)};
        Budget part(budget, kExhaustConflicts);
        if (ask(at_most, part) != Sat::Answer::kUnsatisfiable) break;
        sat_.add({-at_most.front()});
        lower_ += core.weight;
        ++count;
    }
    if (count == totalizer.size()) return;
    const int soft = -totalizer.at_least(count + 1);
    counted_[soft] = {&totalizer, count + 1};
    add_soft(soft, core.weight);
}

MaxSat::End MaxSat::run(Budget& budget) {
    while (true) {
        if (lower_ >= upper_) return End::kOptimal;
        harden();
        const std::vector<int> assumed = assumptions();
        const auto answer = ask(assumed, budget);
        if (!answer) continue;
        if (*answer == Sat::Answer::kOutOfBudget) return End::kOutOfBudget;
        if (*answer == Sat::Answer::kUnsatisfiable) {
            std::vector<int> core = failed(assumed);
            shrink(core, budget);
            if (core.empty()) {  // unsatisfiable under any assumptions
                if (upper_ == kUnreached) return End::kInfeasible;
                lower_ = upper_;
                return End::kOptimal;
            }
            charge(std::move(core));
            continue;
        }
        if (!pending_.empty()) {
            for (const Core& core : std::exchange(pending_, {})) relax(core, budget);
            continue;
        }
        if (!next_stratum()) {
            TESSERA_CHECK(upper_ <= lower_, "a model that satisfies everything costs {}, not {}", upper_,
                          lower_);
            return End::kOptimal;
        }
    }
}

}  // namespace tessera::extraction
