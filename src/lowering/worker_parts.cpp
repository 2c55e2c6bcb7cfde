// A trip of `h:2@worker` runs over h in [2 i, 2 i + 2) for i = worker (mod workers). Its accesses follow from
// the access map composed with views and in-place results: a coordinate of the storage that is
//
//   h                       lies in group i of 2
//   h div 2                 lies in group i of 1
//   128 h + e, 0 <= e < 128 lies in group i of 256
//
// so two accesses with the same groups along the same axis, whatever operators they belong to, meet only
// where they are made by one worker. Coordinates of other forms (h mod 2, slot[t]) say nothing; another axis
// may.
#include "lowering/worker_parts.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "support/checked.h"

namespace tessera::lowering {
namespace {

std::string name_of(size_t iterator) {
    return fmt::format("#{}", iterator);
}

/// The size of the groups in which the values of an index lie, by the size for each divided iterator.
std::optional<int64_t> group_of(const movement::Index& index, const std::map<std::string, int64_t>& groups) {
    for (const movement::Index::Term& term : index.terms()) {
        if (term.coefficient < 1) continue;
        std::optional<int64_t> group;
        if (term.atom->kind == movement::Index::AtomKind::kVariable) {
            const auto at = groups.find(term.atom->variable.name);
            if (at != groups.end()) group = at->second;
        } else if (term.atom->kind == movement::Index::AtomKind::kFloorDiv) {
            group = group_of(term.atom->arguments.front(), groups);
            group = group && *group % term.atom->modulus == 0 ? std::optional(*group / term.atom->modulus)
                                                              : std::nullopt;
        }
        if (!group) continue;
        // k x + rest with 0 <= rest < k: x is the leading digit.
        const movement::Index rest = index - index_of(term);
        const movement::Bounds bounds = rest.bounds();
        // A group too large for 64 bits says nothing.
        if (bounds.low >= 0 && bounds.high < term.coefficient) return checked_mul(*group, term.coefficient);
    }
    return std::nullopt;
}

bool is_written_by_the_step(const Graph& graph, ValueId value) {
    const ValueKind kind = graph[value].kind;
    return kind == ValueKind::kIntermediate || kind == ValueKind::kState;
}

class NodeAccesses {
public:
    NodeAccesses(const Node& node, const Ranges& ranges, const Division* division, Storage& storage)
        : node_(node), storage_(storage), by_all_(division == nullptr) {
        const std::vector<movement::Index> extents = iterator_extents(node, storage.input());
        for (size_t x = 0; x < extents.size(); ++x) {
            iterators_.push_back(movement::Index::variable(
                {name_of(x), {0, std::max<int64_t>(extents[x].bounds().high - 1, 0)}}));
            if (division && is_divided(ranges[x], *division)) groups_[name_of(x)] = division->group;
        }
    }

    void add(std::vector<movement::WorkerAccess>& out) const {
        const Definition& definition = *node_.definition();
        for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
            const TensorDecl& tensor = definition.tensors[static_cast<size_t>(t)];
            const ValueId value = value_of(node_, t);
            const bool is_write = tensor.role == Role::kOut || tensor.role == Role::kUpdate;
            if (is_write) {
                out.push_back(access(value, tensor.map, true));
            } else if (is_written_by_the_step(storage_.input().graph, storage_.base(value))) {
                for (const auto& coordinates : accesses(definition, t))
                    out.push_back(access(value, coordinates, false));
            }
        }
    }

private:
    movement::WorkerAccess access(ValueId value, const std::vector<ExprPtr>& map, bool is_write) const {
        std::vector<movement::Index> at;
        Storage scratch(storage_.input(), storage_.block());
        for (const ExprPtr& component : map) at.push_back(to_index(component, node_, iterators_, scratch));
        const Resolved resolved = storage_.resolve(value, std::move(at));
        movement::WorkerAccess result{
            storage_.input().graph[resolved.value].name, node_.name, is_write, by_all_, {}};
        for (size_t axis = 0; axis < resolved.coordinates.size(); ++axis) {
            if (const auto group = group_of(resolved.coordinates[axis], groups_))
                result.parts.push_back({static_cast<int>(axis), *group});
        }
        return result;
    }

    const Node& node_;
    Storage& storage_;
    bool by_all_;
    std::vector<movement::Index> iterators_;
    std::map<std::string, int64_t> groups_;  ///< of the iterators that the division runs over
};

}  // namespace

bool is_divided(const Range& range, const Division& division) {
    return range.begin.uses(division.variable);
}

void keep_common(std::vector<movement::WorkerPart>& parts, const std::vector<movement::WorkerPart>& others) {
    std::erase_if(parts, [&](const movement::WorkerPart& part) {
        return std::ranges::find(others, part) == others.end();
    });
}

std::vector<movement::WorkerAccess> worker_accesses(const std::vector<const Node*>& nodes,
                                                    const std::map<const Node*, Ranges>& ranges,
                                                    const Division* division, Storage& storage) {
    std::vector<movement::WorkerAccess> result;
    for (const Node* node : nodes) NodeAccesses(*node, ranges.at(node), division, storage).add(result);
    return result;
}

}  // namespace tessera::lowering
