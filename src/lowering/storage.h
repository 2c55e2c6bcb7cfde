#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/movement/program.h"
#include "lowering/plan/constants.h"
#include "lowering/plan/plan.h"

/// Places of the elements of the graph's values under a plan: layouts, views, in-place results and tiles
/// resolved to offsets into buffers.
namespace tessera::lowering {

/// Values begin <= x < end of one iterator or axis; `largest` bounds end - begin at compile time. All trips
/// of the loops around it together run over 0 <= x < `covered`; empty if a predicate may end them earlier.
struct Range {
    movement::Index begin, end;
    int64_t largest = 1;
    std::optional<movement::Index> covered = std::nullopt;
    bool is_single() const { return largest == 1; }
};

/// The complete input of lowering.
struct LoweringInput {
    const Graph& graph;
    const plan::Plan& plan;
    const plan::SpecialisationPlan& specialisation;
    const plan::ConstantSection& constants;
    std::map<std::string, movement::Variable> symbols;  ///< bounds of the specialisation
    std::map<std::string, ValueId> values = {};         ///< of the graph, by name
    std::vector<const Node*> producers = {};            ///< by value; null if no operator makes it

    /// The number of the worker that runs the code.
    movement::Index worker() const {
        return movement::Index::variable({movement::kWorker, {0, plan.workers - 1}});
    }
};

LoweringInput lowering_input(const Graph& graph, const plan::Plan& plan,
                             const plan::SpecialisationPlan& specialisation,
                             const plan::ConstantSection& constants);

/// The storage behind a value, views and in-place results followed, and the coordinates there.
struct Resolved {
    ValueId value;
    std::vector<movement::Index> coordinates;
};

/// @pre places of values do not change while it lives
class Storage {
public:
    Storage(const LoweringInput& input, const Block& block);

    /// Follows views (their access maps are composed) and in-place results.
    Resolved resolve(ValueId value, std::vector<movement::Index> coordinates) const;
    ValueId base(ValueId value) const;
    bool is_tile(ValueId value) const;  ///< only tiles of it exist
    /// The value whose storage this one takes over, view or not; itself if there is none.
    ValueId replaced(ValueId value) const;
    /// The element at these coordinates. The buffer becomes one of the kernel's.
    movement::Address locate(ValueId value, const std::vector<movement::Index>& coordinates, bool is_written);
    /// The element in a worker's part of the value; without `worker`, of the worker that runs the kernel.
    movement::Address locate_part(ValueId value, const std::vector<movement::Index>& coordinates,
                                  const std::optional<movement::Index>& worker);
    /// Extents of a value as Index.
    std::vector<movement::Index> extents(ValueId value) const;

    /// Makes `locate` find the value in the part that the worker running the kernel has folded.
    void set_parted(ValueId value) { parted_.insert(value); }
    void set_tile(ValueId value, std::vector<Range> region) { tiles_[base(value)] = std::move(region); }
    const plan::TensorPlan& plan_of(ValueId value) const;
    const Node* producer(ValueId value) const { return input_.producers[static_cast<size_t>(value.index)]; }
    std::vector<movement::ProgramBuffer> buffers() const;
    const LoweringInput& input() const { return input_; }
    const Block& block() const { return block_; }

private:
    movement::ProgramBuffer describe(ValueId value) const;
    /// The bytes of this many elements at the upper bounds of the symbols. @throws Error beyond
    /// plan::kMostBytes.
    int64_t bytes_of(const movement::Index& elements, int64_t bits, const std::string& value) const;
    /// Gives each worker its own copy; no two share a cache line.
    void copy_for_workers(movement::ProgramBuffer& buffer) const;
    // parts.cpp
    movement::ProgramBuffer describe_parts(ValueId value) const;
    const plan::TensorPlan& plan_of_parts(ValueId value) const;

    const LoweringInput& input_;
    const Block& block_;
    std::map<ValueId, std::vector<Range>> tiles_;
    mutable std::map<ValueId, ValueId> bases_;  ///< those that were asked for
    std::set<ValueId> parted_;
    std::map<std::string, movement::ProgramBuffer> buffers_;  ///< by name
    plan::TensorPlan given_;
};

/// True if every element of both values lies at the same place: they are one, or made in place of one.
bool lie_alike(const Storage& storage, ValueId a, ValueId b);

/// Offset of an element under a layout, and the number of elements of the whole (padding included).
movement::Index offset_of(const Layout& layout, const std::vector<movement::Index>& extents,
                          const std::vector<movement::Index>& coordinates);
movement::Index stored_elements(const Layout& layout, const std::vector<movement::Index>& extents);

/// The value of an expression in iterators, dims and index operands at these values of the iterators.
movement::Index to_index(const ExprPtr& expr, const Node& node, const std::vector<movement::Index>& iterators,
                         Storage& storage);
/// Extents of a node's iterators.
std::vector<movement::Index> iterator_extents(const Node& node, const LoweringInput& input);
/// The value bound to a tensor of the node's definition.
ValueId value_of(const Node& node, int tensor);

}  // namespace tessera::lowering
