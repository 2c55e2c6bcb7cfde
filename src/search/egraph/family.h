#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "search/egraph/operator.h"

namespace tessera::egraph {

/// A scalar expression as an attribute, compared by structure. Null is one too.
struct Formula {
    ExprPtr expr;
    friend bool operator==(const Formula& a, const Formula& b) { return same(a.expr, b.expr); }
};

/// A property that distinguishes the members of a family: a permutation, a shape, a function, an epsilon.
using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<Dim>, Formula>;
using Attributes = std::map<std::string, Attribute>;

/// Operators that rules treat alike, such as all transposes. Structured operators are recognised by their
/// definition: nothing else says what they are.
struct OperatorFamily {
    std::string name;
    /// The attributes of a member; empty for other operators.
    std::function<std::optional<Attributes>(const Operator&)> recognise;
    /// The member with these attributes for children of these types; empty where there is none. Without it
    /// the family can be matched only.
    std::function<std::optional<Operator>(const Attributes&, std::span<const TensorType> children)> make = {};
};
using FamilyPtr = std::shared_ptr<const OperatorFamily>;

/// The composites of a kind, by their own attributes.
FamilyPtr composites(
    std::string kind,
    std::function<std::optional<Operator>(const Attributes&, std::span<const TensorType>)> make = {});

}  // namespace tessera::egraph
