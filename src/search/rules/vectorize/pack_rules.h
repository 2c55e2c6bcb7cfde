#pragma once

#include <functional>
#include <span>
#include <vector>

#include "search/egraph/rule.h"
#include "search/rules/vectorize/packing.h"

/// Auto Vectorize (paper 000, 3.1.2, table 2) on operators of which nothing is known but their definitions.
namespace tessera::rules {

/// One way to run an operator: where its operands (in the order of the children) and its result lie.
struct Form {
    std::vector<Layout> operands;
    Layout result;
    bool operator==(const Form&) const = default;
};

struct PackRuleOptions {
    std::vector<machine::ComputeUnit> units;  ///< of the machine: they determine the packings
    std::vector<DimSymbol> symbols;           ///< of the graph
    /// Layouts of constants to offer beside those that follow from the units; may be null.
    std::function<std::vector<Form>(const egraph::Operator&)> more_forms = {};
};

/// MetaPackOperation: an operator on row-major tensors equals the unpacked result of the operator on packed
/// ones, for every packing that a unit takes. Each is offered thrice: with all its tensors packed, with its
/// constants packed and the rest row-major, as units do that read rows at a stride, and with the result alone
/// not packed.
egraph::Rule meta_pack(const PackRuleOptions& options);

/// An operator one of whose operands is there in packed form works on that: the packing of its iterators
/// that the lanes of the operand are, for its other tensors too. So layouts pass through chains.
egraph::Rule pass_through(const PackRuleOptions& options);

/// An operator whose result is wanted in packed form makes it so, from operands as they are, packed alike,
/// or, if there is only one, in any form in which it exists: a repack becomes part of the operator in front
/// of it.
egraph::Rule write_as_read(const PackRuleOptions& options);

/// An operator that finds elements by an index (a row of an embedding) can read any form of the constant.
egraph::Rule read_as_stored(const PackRuleOptions& options);

/// FoldNopPack and its like: packing twice is packing once, and nothing at all if the second restores the
/// original layout. Thereby an unpack before a pack becomes a direct repack.
egraph::Rule fold_packs(const PackRuleOptions& options);

/// All of them.
std::vector<egraph::Rule> pack_rules(const PackRuleOptions& options);

}  // namespace tessera::rules
