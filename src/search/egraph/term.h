#pragma once

#include <compare>
#include <vector>

namespace tessera::egraph {

/// Into the operators of an e-graph.
struct OperatorId {
    int index = -1;
    auto operator<=>(const OperatorId&) const = default;
};
/// Into the terms of an e-graph.
struct TermId {
    int index = -1;
    auto operator<=>(const TermId&) const = default;
};
/// An e-class, by the number of its first term; after a union one of the two numbers stands for both.
struct ClassId {
    int index = -1;
    auto operator<=>(const ClassId&) const = default;
};

/// An operator applied to terms.
struct Term {
    OperatorId op;
    std::vector<TermId> children;
    bool operator==(const Term&) const = default;
};

}  // namespace tessera::egraph
