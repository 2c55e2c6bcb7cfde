#pragma once

#include <set>
#include <string>
#include <vector>

#include "lowering/plan/nest.h"
#include "lowering/values.h"

/// Operators inside their tiles: the building blocks for lowering every micro-kernel.
namespace tessera::lowering {

/// Names that are declared inside of one kernel.
class Names {
public:
    /// A name that was not given yet. @param wanted an `iterator_identifier`, or a word of lowering's own
    std::string fresh(const std::string& wanted);

private:
    std::set<std::string> taken_;
};

struct LeafScope {
    const Node& node;
    const plan::Leaf& leaf;
    const Ranges& ranges;
    /// Outer loops tile the reduction: the leaf folds into the present results, initialisation and
    /// post-expression happen outside.
    bool is_partial;
    Storage& storage;
    const std::vector<const Node*>& kernel;
    Names& names;
};

/// True unless the tensor is read as numbers that the arithmetic of the operator does not hold; as indices
/// they are exact.
bool computes_on(const Definition& definition, const TensorDecl& tensor);
/// Compiled code computes in f32, which would round large integers and their sums.
/// @throws Error for a definition that needs them, or with results of a type that the kernel does not store.
void check_types(const Node& node, const plan::MicroKernel& kernel);

/// Sets the results in the ranges to the identity of the monoid.
movement::Body lower_identity(const LeafScope& scope);
/// Applies the post-expression to the results in the ranges; nothing if there is none.
movement::Body lower_post(const LeafScope& scope);
/// True if some elements of the results are written by no iteration, or only where the predicate holds.
bool leaves_gaps(const Node& node, const Storage& storage);

// ---- parts that leaves share
// -----------------------------------------------------------------------------------------

/// The iterator that a parameter names; -1 if it is not given.
int iterator_parameter(const LeafScope& scope, const plan::Parameter& parameter);

/// The same for the iterator of lanes. @throws Refused if there are several lanes and it is not given
int iterator_of_lanes(const LeafScope& scope, const plan::Parameter& iterator, const plan::Parameter& lanes);

/// Loops over some iterators of a leaf, outermost first: the others are set by the caller.
class LeafLoops {
public:
    LeafLoops(const LeafScope& scope, const std::vector<int>& iterators);
    /// Values of all iterators: variables of the loops, the only value of single ones, begin of the rest.
    std::vector<movement::Index>& values() { return values_; }
    movement::Body around(movement::Body body) const;

private:
    struct Loop {
        movement::Variable variable;
        movement::Index begin, end;
    };
    std::vector<movement::Index> values_;
    std::vector<Loop> loops_;
};

/// The loop over groups of lanes of iterator x: `start` + lane.
struct LaneLoop {
    movement::Variable start;
    movement::Index value;  ///< start + lane
    movement::Index begin, end;
    int64_t lanes;
    movement::Statement around(movement::Body body) const;
};
LaneLoop lane_loop(const LeafScope& scope, int x, int64_t lanes);

}  // namespace tessera::lowering
