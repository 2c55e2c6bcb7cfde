#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "nest/nests/space.h"

/// The space of tiling expressions of MCFuser (paper 002, III-A), and the part of it that its rules 1 to 4
/// (III-C) leave. It is counted beside our own space, for comparison; nothing searches it.
namespace tessera::nests {

/// The paper does not say which loops rule 1 takes out of an expression: one reading of it.
struct RuleReading {
    std::string rule_1;                    ///< how it is read
    std::vector<std::string> expressions;  ///< that rule 1 leaves, sorted
    int64_t after_rule_2 = 0;              ///< without k outside of n
    int64_t after_strict_rule_2 = 0;       ///< also without n outside of m or h
    bool operator==(const RuleReading&) const = default;
};

struct ExpressionCounts {
    int64_t expressions = 0;  ///< all orders of m, n, k and h, and those in which k and h stand side by side
    int64_t tiles = 0;        ///< choices of sizes: the multiples, up to each extent
    int64_t candidates = 0;   ///< expressions x tiles
    std::vector<RuleReading> readings;
    int64_t after_rule_3 = 0;  ///< choices of sizes that divide the extents
    int64_t after_rule_4 = 0;  ///< of these, choices whose tiles take at most 1.2 times the capacity
    bool operator==(const ExpressionCounts&) const = default;
};

/// @throws Error unless the space has two products, C[m, n] over k and E[m, h] over n
ExpressionCounts count_expressions(const Space& space);

nlohmann::ordered_json to_json(const ExpressionCounts& counts);
/// For people.
std::string to_text(const ExpressionCounts& counts);

}  // namespace tessera::nests
