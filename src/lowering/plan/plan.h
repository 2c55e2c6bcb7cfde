#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/nest.h"

/// The plan: every decision that lowering and emission read, as a document (docs/design.md and
/// docs/plan.md).
namespace tessera::plan {

/// The place of a tensor.
enum class Place : uint8_t {
    kGiven,    ///< input, output, constant or state: the plan does not choose its place
    kArena,    ///< at `offset` in the arena, alive from its first to its last kernel
    kTile,     ///< never whole: the tiles of one kernel lie at `offset` in the arena
    kView,     ///< addresses of `of` under the operator's map: nothing is computed or stored
    kInPlace,  ///< takes over the storage of `of`, which no later operator reads
};

struct TensorPlan {
    Place place = Place::kArena;
    std::string of;                 ///< kView, kInPlace
    std::optional<int64_t> offset;  ///< bytes; kArena and kTile, once buffers are placed
    int64_t bytes = 0;              ///< for which the offset was chosen
    Layout layout;                  ///< of an intermediate value; inputs and outputs are row-major
    bool each_worker = false;       ///< kArena: every worker has one of its own
    bool operator==(const TensorPlan&) const = default;
};

struct KernelPlan {
    std::string block;
    Nest nest;             ///< its name is that of its root
    bool barrier = false;  ///< all workers meet before it
    bool alone =
        false;  ///< worker 0 computes it; else each does its part, or all of it if nothing divides it
    bool operator==(const KernelPlan&) const = default;
};

/// Inclusive.
struct SymbolBounds {
    int64_t low;
    int64_t high;
    bool operator==(const SymbolBounds&) const = default;
};

/// One specialisation of the step: inclusive bounds of every symbol, and the decisions under them.
struct SpecialisationPlan {
    std::string name;
    std::map<std::string, SymbolBounds> bounds;
    std::map<std::string, TensorPlan> tensors;  ///< by value name: every intermediate
    std::vector<KernelPlan> kernels;            ///< in the order of execution within each block
    int64_t arena_bytes = 0;
    int64_t max_live_bytes = 0;  ///< lower bound of arena_bytes
    bool operator==(const SpecialisationPlan&) const = default;
};

/// The kernels of all blocks, in the order of execution.
std::vector<const KernelPlan*> kernels_in_order(const Graph& graph, const SpecialisationPlan& specialisation);

/// An operand of an operator, by the name of the tensor in its definition.
struct CopyReader {
    std::string node, tensor;
    bool operator==(const CopyReader&) const = default;
};

/// A second instance of a value in another layout, which these read.
struct CopyPlan {
    std::string of;
    std::vector<CopyReader> readers;
    bool is_made = false;  ///< the operator of `of` makes this one, and `of` is copied from it
    bool operator==(const CopyPlan&) const = default;
};

struct Plan {
    std::string graph;
    std::string machine;
    int64_t workers = 1;                     ///< threads that compute one step together
    std::map<std::string, Layout> stored;    ///< constants and states: one form for all specialisations
    std::map<std::string, CopyPlan> copies;  ///< by the name of the copy; lowering/plan/copies.h
    std::vector<SpecialisationPlan> specialisations;
    bool operator==(const Plan&) const = default;
};

/// Limit of the size of a buffer and of the arena: beyond any machine, and so far below 64 bits that no
/// number of buffers and copies overflows.
inline constexpr int64_t kMostBytes = int64_t{1} << 46;

/// Lines of comments in a printed plan: on all of it, on each specialisation, on each of its kernels. Lists
/// may be shorter than the lists that they comment on.
struct PlanComments {
    struct OfSpecialisation {
        std::vector<std::string> step;
        std::vector<std::vector<std::string>> kernels;
    };
    std::vector<std::string> plan;
    std::vector<OfSpecialisation> specialisations;
};

/// TOML (docs/plan.md); parse_plan(print(p)) equals p, whatever the comments are.
std::string print(const Plan& plan, const PlanComments& comments = {});
/// @throws Error with the line if the text is not a plan. `verify` checks that it fits a graph.
Plan parse_plan(std::string_view text, const std::string& where, MicroKernels kernels);

}  // namespace tessera::plan
