#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distribution/problem.h"

/// The ways in which an operator can be distributed: SBP signatures over all levels.
namespace tessera::distribution {

/// The way in which one level distributes an operator.
struct LevelChoice {
    enum class Kind : uint8_t {
        kBroadcast,  ///< all devices of a group do the same
        kIterator,   ///< each executes one part of an iterator
        kLinear,     ///< each computes with a summand of one operand
    };
    Kind kind = Kind::kBroadcast;
    int index = -1;     ///< the iterator, or the tensor that is P(sum)
    int64_t grain = 1;  ///< of the iterator's parts
    bool operator==(const LevelChoice&) const = default;
};

/// "B", "k", "k:64" in whole 64s, "linear X".
std::string text(const LevelChoice& choice, const Definition& definition);

struct Choice {
    std::vector<LevelChoice> levels;
    std::vector<Form> forms;  ///< for each tensor the form in which it is read or made
    double seconds = 0;       ///< on one device
};

/// Every signature of the operator that is true in every group of every level. Among those that read and make
/// the same forms it is the first of the fastest. The forms follow from facts/sbp and facts/linear, the
/// seconds from facts/work and facts/touched (docs/distribution.md).
/// @throws Error if there are more than kMostChoices.
std::vector<Choice> derive_choices(const Problem& problem, const Operator& op);

inline constexpr size_t kMostChoices = 20'000;

}  // namespace tessera::distribution
