#include "lowering/leaf.h"

#include <algorithm>
#include <numeric>

#include "lowering/movement/identifier.h"
#include "lowering/refusal.h"

namespace tessera::lowering {

std::string Names::fresh(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
}

int iterator_parameter(const LeafScope& scope, const plan::Parameter& parameter) {
    return plan::iterator_of(*scope.node.definition(), scope.leaf, parameter);
}

int iterator_of_lanes(const LeafScope& scope, const plan::Parameter& iterator, const plan::Parameter& lanes) {
    const int x = iterator_parameter(scope, iterator);
    if (x < 0 && scope.leaf.number(lanes) > 1)
        throw Refused(scope.node.name, "lanes", "there are lanes but no iterator for them",
                      "give x=ITERATOR");
    return x;
}

LeafLoops::LeafLoops(const LeafScope& scope, const std::vector<int>& iterators) {
    const Definition& definition = *scope.node.definition();
    for (const Range& range : scope.ranges) values_.push_back(range.begin);
    for (const int x : iterators) {
        const Range& range = scope.ranges[static_cast<size_t>(x)];
        if (range.is_single()) continue;
        const movement::Variable variable{scope.names.fresh(movement::iterator_identifier(
                                              definition.iterators[static_cast<size_t>(x)].name)),
                                          {range.begin.bounds().low, range.end.bounds().high - 1}};
        values_[static_cast<size_t>(x)] = movement::Index::variable(variable);
        loops_.push_back({variable, range.begin, range.end});
    }
}

movement::Body LeafLoops::around(movement::Body body) const {
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
        movement::Body outer;
        outer.push_back({movement::For{loop->variable, loop->begin, loop->end, 1, std::move(body)}});
        body = std::move(outer);
    }
    return body;
}

LaneLoop lane_loop(const LeafScope& scope, int x, int64_t lanes) {
    const Range& range = scope.ranges[static_cast<size_t>(x)];
    const int64_t divisor = range.begin.divisor();
    LaneLoop loop;
    loop.start = {scope.names.fresh(movement::iterator_identifier(
                      scope.node.definition()->iterators[static_cast<size_t>(x)].name)),
                  {range.begin.bounds().low, std::max(range.begin.bounds().low, range.end.bounds().high - 1)},
                  divisor == 0 ? lanes : std::gcd(divisor, lanes)};
    loop.lanes = lanes;
    loop.begin = range.begin;
    loop.end = range.end;
    // A lone group starts where the range does.
    const movement::Index start =
        range.largest <= lanes ? range.begin : movement::Index::variable(loop.start);
    loop.value = start + movement::Index::variable({kLane, {0, lanes - 1}});
    return loop;
}

movement::Statement LaneLoop::around(movement::Body body) const {
    return {movement::VectorFor{start, begin, end, lanes, std::move(body)}};
}

namespace {

std::vector<int> iterators_of_result(const Definition& definition, int tensor) {
    std::vector<int> result;
    for (const ExprPtr& component : definition.tensors[static_cast<size_t>(tensor)].map) {
        for (const int x : iterators_in(component)) {
            if (std::find(result.begin(), result.end(), x) == result.end()) result.push_back(x);
        }
    }
    return result;
}

}  // namespace

movement::Body lower_identity(const LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    movement::Body body;
    for (const int tensor : definition.results()) {
        const double start = identity(definition, tensor);
        LeafLoops loops(scope, iterators_of_result(definition, tensor));
        const ValueScope values{scope.node, scope.storage, loops.values(), 0, nullptr};
        for (movement::Statement& s :
             loops.around({{store_to(tensor, movement::number_value(start), values)}}))
            body.push_back(std::move(s));
    }
    return body;
}

movement::Body lower_post(const LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    if (!definition.post) return {};
    const int tensor = definition.results().front();
    std::vector<int> iterators = iterators_of_result(definition, tensor);
    const plan::LaneParameters& parameters = scope.leaf.kernel->lanes;
    const int x = parameters.along ? iterator_parameter(scope, *parameters.along) : -1;
    const auto at = std::find(iterators.begin(), iterators.end(), x);
    const bool is_vector = at != iterators.end();
    if (is_vector) iterators.erase(at);
    LeafLoops loops(scope, iterators);
    ValueScope values{scope.node, scope.storage, loops.values(), 0, nullptr};
    if (!is_vector) {
        values.folded = load_result(tensor, values);
        return loops.around({{store_to(tensor, to_value(definition.post, values), values)}});
    }
    const LaneLoop lanes = lane_loop(scope, x, scope.leaf.number(*parameters.count));
    values.iterators[static_cast<size_t>(x)] = lanes.value;
    values.folded = load_result(tensor, values);
    return loops.around({lanes.around({{store_to(tensor, to_value(definition.post, values), values)}})});
}

bool computes_on(const Definition& definition, const TensorDecl& tensor) {
    return tensor.role != Role::kIn || definition.is_wide() || is_read_as_f32(tensor.type);
}

namespace {

/// A function that f32 does not have. @throws Refused
void check_functions(const Node& node) {
    for (const ExprPtr& root : read_roots(*node.definition())) {
        walk(root, [&](const Expr& expr) {
            const auto* call = std::get_if<Apply>(&expr.node);
            if (call && is_wide(call->function))
                throw Refused(node.name, std::string(name(call->function)), "is not computed in f32",
                              is_of_bits(call->function) ? "add `acc i64`" : "add `acc f64`");
            return true;
        });
    }
}

}  // namespace

void check_types(const Node& node, const plan::MicroKernel& kernel) {
    const Definition& definition = *node.definition();
    if (definition.accumulator == ElementType::kI32) {
        throw Refused(node.name, "acc", "is i32", "compiled code accumulates in f32, f64 or i64");
    }
    if (definition.is_wide()) {
        if (!kernel.is_plain)
            throw Refused(node.name, "acc", fmt::format("is {}", name(definition.accumulator)),
                          fmt::format("the micro-kernel {} computes in f32", kernel.name));
        for (const int result : definition.results()) {
            const ElementType type = definition.tensors[static_cast<size_t>(result)].type;
            if (bits(type) < 8)
                throw Refused(node.name, definition.tensors[static_cast<size_t>(result)].name,
                              fmt::format("has element type {}", name(type)),
                              "compiled code stores whole bytes");
        }
        return;
    }
    check_functions(node);
    for (const TensorDecl& tensor : definition.tensors) {
        const bool is_read = tensor.role == Role::kIn || tensor.role == Role::kIndex;
        const bool is_stored =
            std::find(kernel.results.begin(), kernel.results.end(), tensor.type) != kernel.results.end();
        if (!computes_on(definition, tensor)) {
            throw Refused(node.name, tensor.name, fmt::format("has element type {}", name(tensor.type)),
                          fmt::format("f32 does not compute with its numbers: add `acc {}`",
                                      is_integer(tensor.type) ? "i64" : "f64"));
        }
        if (!is_read && !is_stored) {
            throw Refused(node.name, tensor.name, fmt::format("has element type {}", name(tensor.type)),
                          fmt::format("the micro-kernel {} does not store it", kernel.name));
        }
    }
}

bool leaves_gaps(const Node& node, const Storage& storage) {
    const Definition& definition = *node.definition();
    if (definition.monoid == Monoid::kNone && definition.where) return true;
    const std::vector<movement::Index> extents = iterator_extents(node, storage.input());
    for (const int tensor : definition.results()) {
        const std::vector<movement::Index> shape = storage.extents(value_of(node, tensor));
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const auto* x =
                std::get_if<IteratorRef>(&definition.tensors[static_cast<size_t>(tensor)].map[axis]->node);
            if (!x || !(extents[static_cast<size_t>(x->index)] == shape[axis])) return true;
        }
    }
    return false;
}

}  // namespace tessera::lowering
