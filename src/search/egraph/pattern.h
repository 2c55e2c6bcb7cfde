#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "search/egraph/e_graph.h"
#include "search/egraph/family.h"

namespace tessera::egraph {

class Match;

/// The attribute takes the value of this name, or gives it to the name where it has none yet.
struct Bound {
    std::string name;
};
/// A value computed from the bound ones; for the right side of a rule only.
using Computed = std::function<Attribute(const Match&)>;
using AttributePattern = std::variant<Attribute, Bound, Computed>;

/// A term with holes. Built by the functions below, so that a rule reads like a line of a table:
///
///     apply(transpose, {{"perm", bound("p")}}, {hole("x")})
struct Pattern {
    std::string hole;                                     ///< its name; empty for an operator
    std::function<bool(const ClassFacts&)> accepts = {};  ///< of a hole: the classes that it takes; null: all

    FamilyPtr family = nullptr;
    std::map<std::string, AttributePattern> attributes = {};  ///< those that are not named may have any value
    std::vector<Pattern> children = {};
    std::string all_children = {};  ///< a name for however many there are; `children` is empty then
};

/// Any term; the same term wherever the name recurs.
Pattern hole(std::string name, std::function<bool(const ClassFacts&)> accepts = {});
/// A member of the family with exactly these children.
Pattern apply(FamilyPtr family, std::map<std::string, AttributePattern> attributes,
              std::vector<Pattern> children);
/// A member of the family with any number of children, which Match::lists has under this name. For the left
/// side of a rule only.
Pattern apply_to_all(FamilyPtr family, std::map<std::string, AttributePattern> attributes, std::string name);
AttributePattern bound(std::string name);
AttributePattern computed(Computed value);

/// One place where a pattern occurs.
class Match {
public:
    ClassId root;
    std::map<std::string, TermId> holes;
    std::map<std::string, std::vector<TermId>> lists;  ///< children of operators that may have any number
    Attributes attributes;                             ///< by the bound name
    std::vector<OperatorId> operators;  ///< that the pattern's operators have, each before its children

    TermId operator[](const std::string& hole) const { return holes.at(hole); }
    template <typename T>
    const T& attribute(const std::string& name) const {
        return std::get<T>(attributes.at(name));
    }
};

}  // namespace tessera::egraph
