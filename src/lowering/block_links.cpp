#include "lowering/block_links.h"

#include <algorithm>
#include <map>

#include "lowering/nest_rules.h"
#include "lowering/ranges.h"
#include "support/error.h"

namespace tessera::lowering {
namespace {

using movement::Index;

class LinkBuilder {
public:
    LinkBuilder(const LoweringInput& input, const Block& block) : storage_(input, block) {
        out_.graph = &input.graph;
        for (const Node& node : block.nodes)
            if (storage_.plan_of(node.results.front()).place != plan::Place::kView || node.results.size() > 1)
                nodes_.push_back(&node);
    }

    BlockLinks run() {
        for (const Node* node : nodes_) add(*node);
        return std::move(out_);
    }

private:
    void add(const Node& node) {
        BlockLinks::Operator op{&node, {}, {}, {}, {}, {}};
        const std::vector<Index> extents = iterator_extents(node, storage_.input());
        const Ranges whole = whole_ranges(node, storage_.input());
        for (size_t x = 0; x < extents.size(); ++x) {
            op.largest.push_back(extents[x].bounds().high);
            op.extent.push_back(number_of(extents[x]));
            op.ends.push_back(end_of(node, static_cast<int>(x), whole));
        }
        add_accesses(node, extents, op);
        add_results(node, extents, op);
        out_.operators.push_back(std::move(op));
    }

    std::optional<BlockLinks::End> end_of(const Node& node, int x, const Ranges& whole) {
        const auto bounds = [&](const std::vector<int>& single) {
            Ranges ranges = whole;
            for (const int y : single)
                ranges[static_cast<size_t>(y)] = {Index::variable({name_of(y), {0, 1}}), Index(0), 1};
            return bounds_by_predicate(node, x, ranges, storage_);
        };
        std::vector<int> others;
        for (int y = 0; y < static_cast<int>(whole.size()); ++y)
            if (y != x) others.push_back(y);
        const std::vector<Index> all = bounds(others);
        if (all.empty()) return std::nullopt;
        BlockLinks::End end;
        if (bounds({}).empty()) {
            end.single = others;
            for (const int y : others)
                if (!bounds({y}).empty()) {
                    end.single = {y};
                    break;
                }
        }
        for (const int y : others)
            if (std::ranges::find(end.single, y) == end.single.end() && all.back().uses(name_of(y)))
                end.grows_with = y;
        return end;
    }

    void add_results(const Node& node, const std::vector<Index>& extents, BlockLinks::Operator& op) {
        const Definition& definition = *node.definition();
        for (const int t : definition.results()) {
            const TensorDecl& tensor = definition.tensors[static_cast<size_t>(t)];
            BlockLinks::Result result;
            result.value = value_of(node, t);
            result.tensor = t;
            result.is_update = tensor.role == Role::kUpdate;
            result.used = iterators_in(tensor.map);
            const ValueId base = storage_.base(result.value);
            result.is_in_view = !(storage_.replaced(result.value) == base);
            const std::vector<Index> shape = storage_.extents(result.value);
            for (size_t axis = 0; axis < tensor.map.size(); ++axis) {
                const auto* x = std::get_if<IteratorRef>(&tensor.map[axis]->node);
                result.iterators.push_back(x ? x->index : -1);
                result.is_whole.push_back(x && extents[static_cast<size_t>(x->index)] == shape[axis]);
            }
            made_[base] = {static_cast<int>(out_.operators.size()), static_cast<int>(op.results.size())};
            op.results.push_back(std::move(result));
        }
    }

    void add_accesses(const Node& node, const std::vector<Index>& extents, BlockLinks::Operator& op) {
        const Definition& definition = *node.definition();
        // Extents of 1 must not fold away: the name says which iterator an axis follows.
        std::vector<Index> variables;
        for (size_t x = 0; x < op.largest.size(); ++x)
            variables.push_back(Index::variable(
                {name_of(static_cast<int>(x)), {0, std::max<int64_t>(op.largest[x] - 1, 1)}}));
        for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
            const Role role = definition.tensors[static_cast<size_t>(t)].role;
            if (role == Role::kOut || role == Role::kUpdate) continue;
            const ValueId value = value_of(node, t);
            const auto made = made_.find(storage_.base(value));
            if (made == made_.end()) continue;
            for (const auto& coordinates : accesses(definition, t)) {
                std::vector<Index> at;
                for (const ExprPtr& c : coordinates) at.push_back(to_index(c, node, variables, storage_));
                BlockLinks::Access access{
                    made->second.first, made->second.second, {}, is_read_behind_fold(definition, t)};
                const Resolved resolved = storage_.resolve(value, std::move(at));
                const std::vector<Index> shape = storage_.extents(resolved.value);
                for (size_t axis = 0; axis < shape.size(); ++axis)
                    access.axes.push_back(axis_of(resolved.coordinates[axis], extents, shape[axis]));
                op.accesses.push_back(std::move(access));
            }
        }
    }

    static std::string name_of(int x) { return fmt::format("#{}", x); }

    static BlockLinks::Axis axis_of(const Index& component, const std::vector<Index>& extents,
                                    const Index& extent) {
        BlockLinks::Axis axis;
        for (int x = 0; x < static_cast<int>(extents.size()); ++x)
            if (component.uses(name_of(x))) axis.mixed.push_back(x);
        if (axis.mixed.size() == 1 && component.constant() == 0 && component.terms().size() == 1 &&
            component.coefficient(name_of(axis.mixed.front())) == 1 &&
            runs_inside(extents[static_cast<size_t>(axis.mixed.front())], extent)) {
            axis.iterator = axis.mixed.front();
            axis.mixed.clear();
        }
        return axis;
    }

    int number_of(const Index& extent) {
        const auto [at, is_new] =
            numbers_.emplace(movement::print(extent), static_cast<int>(numbers_.size()));
        if (is_new) out_.extents.push_back(at->first);
        return at->second;
    }

    Storage storage_;
    std::vector<const Node*> nodes_;
    std::map<ValueId, std::pair<int, int>> made_;  ///< by storage: the last operator that writes it
    std::map<std::string, int> numbers_;
    BlockLinks out_;
};

}  // namespace

int BlockLinks::find(std::string_view name) const {
    const auto found =
        std::ranges::find_if(operators, [&](const Operator& op) { return op.node->name == name; });
    return found == operators.end() ? -1 : static_cast<int>(found - operators.begin());
}

BlockLinks block_links(const LoweringInput& input, const Block& block) {
    return LinkBuilder(input, block).run();
}

}  // namespace tessera::lowering
