#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "search/egraph/rule.h"

namespace tessera::rules {

/// A term that the rule rewrites. Either the left side of the rule filled: each hole becomes an input of the
/// type, each bound attribute has the value; or the text of a graph with one block (docs/ir.md) in which it
/// occurs.
struct Example {
    using Holes = std::map<std::string, TensorType>;
    explicit Example(Holes of_holes, egraph::Attributes of_names)
        : holes(std::move(of_holes)), attributes(std::move(of_names)) {}
    explicit Example(std::string text) : graph(std::move(text)) {}

    Holes holes;
    egraph::Attributes attributes;
    std::string graph;  ///< empty: the left side, filled
};

/// How far both sides agree in floating point (docs/rewriting.md).
enum class Exactness : uint8_t {
    kExact,     ///< bit for bit, NaN and signed zero included
    kInRange,   ///< so, unless an intermediate value leaves the normal range of its type
    kSumOrder,  ///< sums of the same numbers, added in another order
};

/// A rule as the product has it. Every one carries examples on which one test tries all of them.
struct RuleEntry {
    egraph::Rule rule;
    Exactness exactness;
    Example example;
};

}  // namespace tessera::rules
