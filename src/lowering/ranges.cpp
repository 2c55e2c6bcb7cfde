#include "lowering/ranges.h"

#include <algorithm>
#include <functional>

#include "lowering/nest_rules.h"
#include "support/error.h"

namespace tessera::lowering {
namespace {

/// Iterators as variables, named so that they never meet a loop's.
std::vector<movement::Index> as_variables(const Node& node, const LoweringInput& input) {
    std::vector<movement::Index> result;
    const std::vector<movement::Index> extents = iterator_extents(node, input);
    for (size_t x = 0; x < extents.size(); ++x) {
        // Extent 1 must not fold away: the name carries which iterator an axis follows.
        result.push_back(movement::Index::variable(
            {fmt::format("#{}", x), {0, std::max<int64_t>(extents[x].bounds().high - 1, 1)}}));
    }
    return result;
}

/// The iterator that the component is, or nothing.
std::optional<size_t> single_iterator(const movement::Index& component) {
    if (component.constant() != 0 || component.terms().size() != 1) return std::nullopt;
    const movement::Index::Term& term = component.terms().front();
    const std::string& name = term.atom->variable.name;
    if (term.coefficient != 1 || !name.starts_with('#')) return std::nullopt;
    return static_cast<size_t>(std::stoul(name.substr(1)));
}

bool uses_any_refined(const movement::Index& component, const Ranges& ranges, const Ranges& whole) {
    for (size_t x = 0; x < ranges.size(); ++x) {
        const bool is_refined = !(ranges[x].begin == whole[x].begin) || !(ranges[x].end == whole[x].end);
        if (is_refined && component.uses(fmt::format("#{}", x))) return true;
    }
    return false;
}

bool same_range(const Range& a, const Range& b) {
    return a.begin == b.begin && a.end == b.end;
}

/// Follows one tile of the last operator backwards.
class NeededBackwards {
public:
    NeededBackwards(const std::vector<const Node*>& nodes, Storage& storage)
        : nodes_(nodes), storage_(storage) {}

    NeededRanges run(const Ranges& root_ranges) {
        needed_.of[nodes_.back()] = root_ranges;
        for (size_t p = nodes_.size() - 1; p-- > 0 && !needed_.refusal;) add_producer(p);
        return std::move(needed_);
    }

private:
    void add_producer(size_t p) {
        const Node& producer = *nodes_[p];
        Ranges ranges = whole_ranges(producer, storage_.input());
        std::vector<bool> is_known(ranges.size());
        for (const int t : producer.definition()->results()) {
            const ValueId made = storage_.base(value_of(producer, t));
            const bool has_own_axes = storage_.replaced(value_of(producer, t)) == made;
            for (size_t r = p + 1; r < nodes_.size(); ++r) {
                const Node& reader = *nodes_[r];
                const Definition& d = *reader.definition();
                for (int o = 0; o < static_cast<int>(d.tensors.size()); ++o) {
                    const Role role = d.tensors[static_cast<size_t>(o)].role;
                    if (role == Role::kOut || role == Role::kUpdate) continue;
                    if (!(storage_.base(value_of(reader, o)) == made)) continue;
                    if (!has_own_axes)
                        return refuse({NestRule::kHasOwnAxes, &producer, value_of(producer, t)});
                    for (const auto& coordinates : accesses(d, o)) {
                        const std::vector<Range> region = needed_by(reader, o, coordinates, made);
                        if (needed_.refusal) return;
                        add_access(producer, t, region, ranges, is_known);
                        if (needed_.refusal) return;
                    }
                }
            }
        }
        needed_.of[&producer] = std::move(ranges);
    }

    /// Result t of the producer is needed in this region, too.
    void add_access(const Node& producer, int t, const std::vector<Range>& region, Ranges& ranges,
                    std::vector<bool>& is_known) {
        const ValueId made = storage_.base(value_of(producer, t));
        const auto& map = producer.definition()->tensors[static_cast<size_t>(t)].map;
        for (size_t axis = 0; axis < region.size(); ++axis) {
            const auto* x = std::get_if<IteratorRef>(&map[axis]->node);
            if (!x) return refuse({NestRule::kWrittenAtIterators, &producer, made});
            const auto at = static_cast<size_t>(x->index);
            if (!(iterator_extents(producer, storage_.input())[at] == storage_.extents(made)[axis]))
                return refuse({NestRule::kWrittenWhole, &producer, made, -1, axis});
            if (is_known[at] && !same_range(ranges[at], region[axis])) {
                ranges[at] = whole_ranges(producer, storage_.input())[at];
            } else if (!is_known[at]) {
                ranges[at] = region[axis];
            }
            is_known[at] = true;
        }
    }

    /// Axis by axis, the part of `target` that one access of operand o of the reader needs.
    std::vector<Range> needed_by(const Node& reader, int o, const std::vector<ExprPtr>& coordinates,
                                 ValueId target) {
        const Ranges& ranges = needed_.of.at(&reader);
        const std::vector<movement::Index> variables = as_variables(reader, storage_.input());
        std::vector<movement::Index> at;
        for (const ExprPtr& c : coordinates) at.push_back(to_index(c, reader, variables, storage_));
        const Resolved resolved = storage_.resolve(value_of(reader, o), std::move(at));
        const Ranges whole = whole_ranges(reader, storage_.input());
        const std::vector<movement::Index> extents = storage_.extents(target);
        std::vector<Range> region;
        for (size_t axis = 0; axis < extents.size(); ++axis) {
            const movement::Index& component = resolved.coordinates[axis];
            if (const auto x = single_iterator(component);
                x && *x < ranges.size() && runs_inside(whole[*x].end, extents[axis])) {
                region.push_back(ranges[*x]);
            } else if (!uses_any_refined(component, ranges, whole)) {
                region.push_back(
                    {movement::Index(0), extents[axis], extents[axis].bounds().high, extents[axis]});
            } else {
                const std::string read_at = print(component);
                refuse({NestRule::kReadAtIterators, &reader, target, -1, axis, &reader, read_at});
                break;
            }
        }
        return region;
    }

    void refuse(const BrokenRule& broken) { needed_.refusal = refusal(broken, storage_.input().graph); }

    const std::vector<const Node*>& nodes_;  ///< in the order of execution
    Storage& storage_;
    NeededRanges needed_;
};

}  // namespace

Ranges whole_ranges(const Node& node, const LoweringInput& input) {
    Ranges result;
    for (const movement::Index& extent : iterator_extents(node, input))
        result.push_back({movement::Index(0), extent, extent.bounds().high, extent});
    return result;
}

bool runs_inside(const movement::Index& iterator_extent, const movement::Index& axis_extent) {
    return iterator_extent == axis_extent || (axis_extent - iterator_extent).bounds().low >= 0;
}

NeededRanges needed_ranges(const std::vector<const Node*>& nodes, const Ranges& root_ranges,
                           Storage& storage) {
    return NeededBackwards(nodes, storage).run(root_ranges);
}

std::map<const Node*, Ranges> required_ranges(const std::vector<const Node*>& nodes,
                                              const Ranges& root_ranges, Storage& storage) {
    NeededRanges needed = needed_ranges(nodes, root_ranges, storage);
    if (needed.refusal) throw Refused(*needed.refusal);
    return std::move(needed.of);
}

std::vector<Range> region_of(const Node& node, ValueId result, const Ranges& ranges) {
    const Definition& definition = *node.definition();
    std::vector<Range> region;
    for (const int t : definition.results()) {
        if (!(value_of(node, t) == result)) continue;
        for (const ExprPtr& component : definition.tensors[static_cast<size_t>(t)].map) {
            const auto* x = std::get_if<IteratorRef>(&component->node);
            TESSERA_CHECK(x != nullptr, "{} is written at an expression", node.name);
            region.push_back(ranges[static_cast<size_t>(x->index)]);
        }
    }
    return region;
}

std::vector<ExprPtr> conjuncts(const ExprPtr& where) {
    if (!where) return {};
    if (const auto* call = std::get_if<Apply>(&where->node); call && call->function == Function::kAnd) {
        std::vector<ExprPtr> result;
        for (const ExprPtr& argument : call->arguments) {
            for (ExprPtr& part : conjuncts(argument)) result.push_back(std::move(part));
        }
        return result;
    }
    return {where};
}

std::vector<movement::Index> bounds_by_predicate(const Node& node, int x, const Ranges& ranges,
                                                 Storage& storage) {
    std::vector<movement::Index> result;
    for (const ExprPtr& conjunct : conjuncts(node.definition()->where)) {
        const auto* call = std::get_if<Apply>(&conjunct->node);
        if (!call || call->arguments.size() != 2) continue;
        const auto is_x = [&](const ExprPtr& e) {
            const auto* i = std::get_if<IteratorRef>(&e->node);
            return i && i->index == x;
        };
        const bool left = is_x(call->arguments[0]) &&
                          (call->function == Function::kLess || call->function == Function::kLessEqual);
        const bool right = is_x(call->arguments[1]) && (call->function == Function::kGreater ||
                                                        call->function == Function::kGreaterEqual);
        if (!left && !right) continue;
        const ExprPtr& limit = call->arguments[left ? 1 : 0];
        const std::vector<int> others = iterators_in(limit);
        if (std::find(others.begin(), others.end(), x) != others.end()) continue;
        const bool is_inclusive =
            call->function == Function::kLessEqual || call->function == Function::kGreaterEqual;

        // The largest limit in the ranges: iterators of one value are that value, others must occur plainly.
        std::vector<movement::Index> at = as_variables(node, storage.input());
        for (size_t y = 0; y < at.size(); ++y) {
            if (ranges[y].is_single()) at[y] = ranges[y].begin;
        }
        movement::Index bound = to_index(limit, node, at, storage);
        bool is_bounded = true;
        for (const int y : others) {
            const Range& range = ranges[static_cast<size_t>(y)];
            if (range.is_single()) continue;
            const std::string name = fmt::format("#{}", y);
            const auto coefficient = bound.coefficient(name);
            is_bounded = is_bounded && coefficient.has_value();
            if (coefficient)
                bound =
                    bound.substitute(name, *coefficient > 0 ? range.end - movement::Index(1) : range.begin);
        }
        if (is_bounded) result.push_back(is_inclusive ? bound + movement::Index(1) : bound);
    }
    return result;
}

bool readers_imply_predicate(const Node& node, const std::vector<const Node*>& kernel,
                             const Storage& storage) {
    const Definition& definition = *node.definition();
    for (const int t : definition.results()) {
        const ValueId made = value_of(node, t);
        if (storage.plan_of(made).place != plan::Place::kTile) return false;
        for (const Node* reader : kernel) {
            const Definition& d = *reader->definition();
            for (int o = 0; o < static_cast<int>(d.tensors.size()); ++o) {
                const TensorDecl& read = d.tensors[static_cast<size_t>(o)];
                if (read.role == Role::kOut || read.role == Role::kUpdate) continue;
                const ValueId value = value_of(*reader, o);
                if (!(storage.base(value) == made)) continue;
                if (!(value == made) || accesses(d, o).size() != 1)
                    return false;  // through a view: not followed here
                // A streaming softmax multiplies its values by weights of 0 where the predicate does not
                // hold.
                if (d.monoid == Monoid::kSoftmaxSum) {
                    const auto values = reads_in({d.body[1]});
                    if (std::any_of(values.begin(), values.end(),
                                    [&](const Read& v) { return v.tensor == o; }))
                        return false;
                }
                // Map each of the node's iterators to the reader's, then compare conjuncts over the same
                // operands by name.
                std::map<int, int> renamed;
                for (size_t axis = 0; axis < read.map.size(); ++axis) {
                    const auto* mine =
                        std::get_if<IteratorRef>(&definition.tensors[static_cast<size_t>(t)].map[axis]->node);
                    const auto* theirs = std::get_if<IteratorRef>(&accesses(d, o)[0][axis]->node);
                    if (!mine || !theirs) return false;
                    renamed[mine->index] = theirs->index;
                }
                std::function<bool(const ExprPtr&, const ExprPtr&)> agrees = [&](const ExprPtr& a,
                                                                                 const ExprPtr& b) {
                    if (a->node.index() != b->node.index()) return false;
                    if (const auto* i = std::get_if<IteratorRef>(&a->node)) {
                        const auto at = renamed.find(i->index);
                        return at != renamed.end() && at->second == std::get<IteratorRef>(b->node).index;
                    }
                    if (const auto* r = std::get_if<Read>(&a->node)) {
                        if (!(value_of(node, r->tensor) == value_of(*reader, std::get<Read>(b->node).tensor)))
                            return false;
                    } else if (const auto* c = std::get_if<Apply>(&a->node)) {
                        if (c->function != std::get<Apply>(b->node).function) return false;
                    } else if (const auto* dim = std::get_if<DimRef>(&a->node)) {
                        return definition.dims[static_cast<size_t>(dim->index)].name ==
                               d.dims[static_cast<size_t>(std::get<DimRef>(b->node).index)].name;
                    } else {
                        return same(a, b);
                    }
                    const auto left = children(*a), right = children(*b);
                    return std::equal(left.begin(), left.end(), right.begin(), right.end(), agrees);
                };
                const auto theirs = conjuncts(d.where);
                for (const ExprPtr& mine : conjuncts(definition.where)) {
                    if (std::none_of(theirs.begin(), theirs.end(),
                                     [&](const ExprPtr& c) { return agrees(mine, c); }))
                        return false;
                }
            }
        }
    }
    return true;
}

}  // namespace tessera::lowering
