#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/egraph/operator.h"
#include "search/egraph/proof_forest.h"
#include "search/egraph/term.h"

namespace tessera::egraph {

/// Facts that hold for every term of a class.
struct ClassFacts {
    std::vector<TensorType> types;  ///< one for each result; several only where a node has several results
    bool is_constant = false;       ///< some term of it has only constants as leaves: known before run time
    bool is_finite = false;         ///< some term of it is a constant without infinity and NaN
    bool operator==(const ClassFacts&) const = default;
};

/// Hash-consed terms, united into classes. Adding a term and uniting two is cheap; `rebuild` then restores
/// the invariants of the rest: two terms with the same operator and equal children are equal (congruence),
/// the nodes of a class are distinct, and facts have reached every parent. Source: Willsey et al.: egg: Fast
/// and Extensible Equality Saturation, POPL 2021 (deferred rebuild).
///
/// Every order that shows in a result follows from the order of the calls: no hash, no address does.
class EGraph {
public:
    /// The term, new or known. @pre the children exist, in number and element types those of the operator
    TermId add(const Operator& op, std::vector<TermId> children);
    TermId add(OperatorId op, std::vector<TermId> children);

    /// Makes two terms equal, for the reason that explanations give: the name of a rule.
    /// @return true if they were not. A union of different types is a bug of the rule, and ends the program.
    bool unite(TermId a, TermId b, std::string_view reason);
    void rebuild();
    bool is_rebuilt() const { return dirty_.empty() && changed_facts_.empty(); }

    ClassId find(TermId term) const;
    bool are_equal(TermId a, TermId b) const { return find(a) == find(b); }

    /// Ascending. @pre is_rebuilt()
    std::vector<ClassId> classes() const;
    /// Distinct e-nodes, in the order in which they were added. @pre is_rebuilt()
    const std::vector<TermId>& nodes(ClassId e_class) const { return at(e_class).nodes; }
    /// Terms that have a term of the class as a child, some perhaps under several names.
    const std::vector<TermId>& parents(ClassId e_class) const { return at(e_class).parents; }
    const ClassFacts& facts(ClassId e_class) const { return at(e_class).facts; }
    const ClassFacts& facts(TermId term) const { return facts(find(term)); }
    /// A term of the class: the first one whose number it bears.
    static TermId any_term(ClassId e_class) { return {e_class.index}; }

    const Term& term(TermId id) const { return terms_[static_cast<size_t>(id.index)]; }
    const Operator& op(OperatorId id) const { return operators_[static_cast<size_t>(id.index)]; }
    const Operator& op(TermId id) const { return op(term(id).op); }
    size_t operators() const { return operators_.size(); }
    size_t terms() const { return terms_.size(); }
    /// Distinct e-nodes of all classes; between `unite` and `rebuild` an upper bound.
    int64_t node_count() const { return node_count_; }
    int64_t class_count() const { return class_count_; }

    const ProofForest& proofs() const { return proofs_; }

private:
    struct Class {
        std::vector<TermId> nodes;
        std::vector<TermId> parents;  ///< terms that have a term of the class as a child
        ClassFacts facts;
    };
    struct TermHash {
        size_t operator()(const Term& term) const;
    };
    using TermTable = std::unordered_map<Term, TermId, TermHash>;

    Class& at(ClassId id) { return classes_[static_cast<size_t>(id.index)]; }
    const Class& at(ClassId id) const { return classes_[static_cast<size_t>(id.index)]; }
    OperatorId intern(const Operator& op);
    Term canonical(const Term& term) const;
    ClassFacts facts_of(const Term& term) const;
    void check_children(const Operator& op, const std::vector<TermId>& children) const;
    bool join(TermId a, TermId b, const Reason& reason);
    void restore_congruence();
    void propagate_facts();
    void remove_duplicates();

    std::vector<Operator> operators_;
    std::unordered_map<std::string, OperatorId> operator_ids_;
    std::vector<Term> terms_;      ///< as they were added
    TermTable exact_;              ///< by the children as they were given
    TermTable canonical_;          ///< by the classes of the children, written as their first terms
    mutable std::vector<int> up_;  ///< union-find; a root is the number of its class
    std::vector<Class> classes_;   ///< by root; empty for others
    ProofForest proofs_;
    std::vector<TermId> dirty_;  ///< parents of classes that have been merged away
    std::vector<ClassId> changed_facts_;
    std::vector<ClassId> touched_;  ///< may hold nodes twice
    int64_t node_count_ = 0;
    int64_t class_count_ = 0;
};

}  // namespace tessera::egraph
