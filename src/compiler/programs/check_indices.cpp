#include "compiler/programs/check_indices.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/program_limits.h"
#include "ir/body_value.h"
#include "ir/box_walk.h"
#include "ir/injectivity.h"
#include "support/error.h"

// The components of access maps that read an index operand are evaluated with the contents that the call will
// have, wherever their iterators go. If one leaves the tensor, the iterators of the predicate are walked too:
// iterations that it leaves out choose nothing. So are direct components that may leave an index operand or a
// result; a read of another operand that leaves it is a value of the definition.

namespace tessera::programs {
namespace {

/// A few seconds of work.
constexpr int64_t kMostIterations = int64_t{1} << 26;

class NodeCheck {
public:
    NodeCheck(const Graph& graph, const Node& node, const std::map<std::string, int64_t>& symbols,
              const IndexContents& contents, int64_t repetition, const std::string& where)
        : node_(node),
          definition_(*node.definition()),
          where_(where),
          extents_(bound_extents(definition_, dims_of(definition_, symbols), where)),
          tensors_(indices(graph, contents, repetition)),
          point_(definition_, extents_, tensors_, where_) {}

    void run() {
        for (size_t tensor = 0; tensor < definition_.tensors.size(); ++tensor)
            for (const std::vector<ExprPtr>& coordinates : accesses(definition_, static_cast<int>(tensor)))
                for (size_t axis = 0; axis < coordinates.size(); ++axis)
                    if (may_leave(tensor, axis, coordinates[axis])) check(tensor, axis, coordinates[axis]);
        check_writes();
    }

private:
    std::vector<TensorData> indices(const Graph& graph, const IndexContents& contents,
                                    int64_t repetition) const {
        std::vector<TensorData> all(definition_.tensors.size());
        size_t operand = 0;
        for (size_t i = 0; i < all.size(); ++i) {
            const Role role = definition_.tensors[i].role;
            if (role != Role::kIndex && role != Role::kIn) continue;
            const ValueId id = node_.operands[operand++];
            // The compiler has made sure that computed indices cannot leave what they choose from.
            if (role == Role::kIndex && graph[id].kind != ValueKind::kIntermediate)
                all[i] = contents(graph[id], repetition);
        }
        return all;
    }

    /// The predicate, where it can be evaluated before the call: index operands and iterators alone.
    std::optional<ExprPtr> predicate() const {
        if (!definition_.where) return std::nullopt;
        for (const Read& read : reads_in({definition_.where}))
            if (definition_.tensors[static_cast<size_t>(read.tensor)].role != Role::kIndex)
                return std::nullopt;
        return definition_.where;
    }

    bool may_leave(size_t tensor, size_t axis, const ExprPtr& component) const {
        if (!is_indirect(component) && definition_.tensors[tensor].role == Role::kIn) return false;
        return compiler::may_leave(extents_, tensor, axis, component, where_);
    }

    void check(size_t tensor, size_t axis, const ExprPtr& component) {
        if (!outside(tensor, axis, component, std::nullopt)) return;
        const Role role = definition_.tensors[tensor].role;
        const bool is_set = sets_all_elements(definition_) && (role == Role::kOut || role == Role::kUpdate);
        const std::optional<int64_t> coordinate =
            outside(tensor, axis, component, is_set ? std::nullopt : predicate());
        if (!coordinate) return;
        throw Error(where_, node_.name,
                    fmt::format("has {} as the index along axis {} of `{}`, expected 0 to {}, {}",
                                *coordinate, axis, definition_.tensors[tensor].name,
                                extents_.shapes[tensor][axis] - 1, point_.iteration()),
                    is_set ? "elements that are folded are set whatever `where` leaves out: mark what "
                             "chooses them as a reduction, `i*`"
                           : fmt::format("the index is `{}`", print(definition_, component)));
    }

    /// Two iterations that write one element would leave it to the order of execution which of them counts,
    /// in a fold, too, if they differ in more than its reductions.
    void check_writes() {
        const bool is_map = definition_.monoid == Monoid::kNone;
        const TensorDecl& result = definition_.tensors[static_cast<size_t>(definition_.results().back())];
        if (!std::ranges::any_of(result.map, [](const ExprPtr& c) { return is_indirect(c); }))
            return;  // checked by the compiler
        const bool is_asked = definition_.where && !predicate();
        if (is_map && is_asked) return;
        StoredPart part = stored_part(definition_, extents_);
        if (is_asked) part.definition.where = nullptr;
        BodyValue point(part.definition, part.extents, tensors_, where_);
        if (find_store_collision(part.definition, part.extents, point, where_) != StoreCollision::kFound)
            return;
        throw Error(where_, node_.name,
                    fmt::format("writes an element of `{}` twice, again {}", result.name, point.iteration()),
                    is_map ? "the indices that choose it must differ"
                           : "only iterators that are marked as reductions, `i*`, fold what meets");
    }

    /// A coordinate outside of the tensor, at the iteration where the point is then.
    std::optional<int64_t> outside(size_t tensor, size_t axis, const ExprPtr& component,
                                   const std::optional<ExprPtr>& executed) {
        const int64_t extent = extents_.shapes[tensor][axis];
        std::vector<ExprPtr> roots = {component};
        if (executed) roots.push_back(*executed);
        const BoxWalk walk(extents_.iterators, iterators_in(roots));
        if (walk.count() > kMostIterations)
            throw Error(where_, node_.name,
                        fmt::format("chooses elements of `{}` by an index in {} iterations, too many to "
                                    "check them",
                                    definition_.tensors[tensor].name, walk.count()),
                        "call it with smaller arrays");
        if (walk.count() == 0) return std::nullopt;
        walk.start(point_.iterators);
        do {
            if (executed && point_.value(**executed) == 0) continue;
            const int64_t coordinate = point_.coordinate(*component);
            if (coordinate < 0 || coordinate >= extent) return coordinate;
        } while (walk.next(point_.iterators));
        return std::nullopt;
    }

    const Node& node_;
    const Definition& definition_;
    const std::string& where_;
    BoundExtents extents_;
    std::vector<TensorData> tensors_;
    BodyValue point_;
};

}  // namespace

void check_indices(const Graph& graph, const std::map<std::string, int64_t>& symbols,
                   const IndexContents& contents, const std::string& where) {
    for (const Block& block : graph.blocks) {
        for (const Node& node : block.nodes) {
            if (node.definition() == nullptr) continue;
            bool differs = false;
            for (const ValueId id : node.operands)
                differs = differs || (graph[id].kind == ValueKind::kConstant && graph[id].repetitions() > 1);
            for (int64_t r = 0; r < (differs ? block.repeat : 1); ++r)
                NodeCheck(graph, node, symbols, contents, r, where).run();
        }
    }
}

}  // namespace tessera::programs
