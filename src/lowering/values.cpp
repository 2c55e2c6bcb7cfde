#include "lowering/values.h"

#include <algorithm>

#include "ir/f32_number.h"
#include "lowering/movement/number_kind.h"
#include "lowering/refusal.h"

namespace tessera::lowering {
namespace {

bool is_index_expression(const ExprPtr& expr, const ValueScope& scope);

/// True for a number other than 0, as far as the symbols are known.
bool is_constant_divisor(const ExprPtr& expr, const ValueScope& scope) {
    if (!iterators_in(expr).empty() || !reads_in({expr}).empty() || !is_index_expression(expr, scope))
        return false;
    const auto divisor = to_index(expr, scope.node, scope.iterators, scope.storage).as_constant();
    return divisor && *divisor != 0;
}

/// True for integers of iterators, dims and index operands, which are computed exactly as Index.
bool is_index_expression(const ExprPtr& expr, const ValueScope& scope) {
    if (const auto* n = std::get_if<Number>(&expr->node)) return n->is_integer;
    if (std::holds_alternative<IteratorRef>(expr->node) || std::holds_alternative<DimRef>(expr->node))
        return true;
    if (const auto* read = std::get_if<Read>(&expr->node)) {
        return scope.node.definition()->tensors[static_cast<size_t>(read->tensor)].role == Role::kIndex;
    }
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call) return false;
    switch (call->function) {
        case Function::kAdd:
        case Function::kSub:
        case Function::kMul:
        case Function::kNegate:
        case Function::kMin:
        case Function::kMax:
            break;
        case Function::kFloorDiv:
        case Function::kMod:
            if (!is_constant_divisor(call->arguments[1], scope)) return false;
            break;
        default:
            return false;
    }
    return std::all_of(call->arguments.begin(), call->arguments.end(),
                       [&](const ExprPtr& a) { return is_index_expression(a, scope); });
}

/// True if the coordinate stays inside the axis for every iteration of the box, whatever the symbols are.
bool is_inside(const ExprPtr& component, const movement::Index& extent, const ValueScope& scope) {
    const std::vector<movement::Index> extents = iterator_extents(scope.node, scope.storage.input());
    std::vector<movement::Index> variables;
    for (size_t x = 0; x < extents.size(); ++x) {
        variables.push_back(
            movement::Index::variable({fmt::format("#{}", x), {0, extents[x].bounds().high - 1}}));
    }
    const movement::Index at = to_index(component, scope.node, variables, scope.storage);
    if (at.bounds().low < 0) return false;
    movement::Index room = extent - movement::Index(1) - at;
    for (size_t x = 0; x < extents.size(); ++x) {
        const std::string name = fmt::format("#{}", x);
        if (const auto coefficient = room.coefficient(name); coefficient && *coefficient != 0) {
            room = room.substitute(name,
                                   *coefficient > 0 ? movement::Index(0) : extents[x] - movement::Index(1));
        }
    }
    return room.bounds().low >= 0;
}

/// @throws Error if the integer may be too large for 64 bits.
void expect_64_bits(const movement::ValuePtr& value, const ExprPtr& expr, const Node& node) {
    if (movement::number_kind(*value) != movement::NumberKind::kInteger ||
        !movement::may_exceed_64_bits(*value))
        return;
    throw Refused(
        node.name, print(*node.definition(), expr),
        "may be an integer of more than 60 bits, as far as its iterators, symbols and index operands "
        "tell",
        "write its constants as reals, such as 4.0, to compute it in f32");
}

/// True if the value is computed in floats although all of its parts are integers.
bool is_quotient_by_what_may_be_zero(const movement::ValueExpr& value) {
    const auto* call = std::get_if<movement::ApplyValue>(&value.node);
    return call && (call->function == Function::kFloorDiv || call->function == Function::kMod) &&
           movement::has_integer_arguments(*call) &&
           movement::number_kind(value) == movement::NumberKind::kFloat;
}

[[noreturn]] void refuse_out_of_range(const Node& node, const std::string& tensor) {
    throw Refused(node.name, tensor, "may be read out of range within a group of lanes",
                  "choose another iterator for the lanes");
}

movement::Load::Guard guard_of(const movement::Index& coordinate, const movement::Index& extent,
                               const Node& node, const std::string& tensor) {
    const auto stride = coordinate.coefficient(kLane);
    if (!stride || *stride < 0) refuse_out_of_range(node, tensor);
    return {coordinate.substitute(kLane, movement::Index(0)), extent, *stride};
}

/// @throws Refused if the lanes leave several axes, or lie in one place.
void expect_one_of_lanes(const movement::Load& load, const Node& node, const std::string& tensor) {
    const auto with_lanes = std::ranges::count_if(
        load.guards, [](const movement::Load::Guard& guard) { return guard.lane_stride > 0; });
    if (with_lanes > 1 || (with_lanes == 1 && load.lane_stride == 0)) refuse_out_of_range(node, tensor);
}

movement::ValuePtr integer_value(const movement::Index& value, const Node& node) {
    const auto stride = value.coefficient(kLane);
    if (!stride) {
        throw Refused(node.name, print(value), "is an integer that does not grow by one step a lane",
                      "choose another iterator for the lanes, or fewer lanes");
    }
    return std::make_shared<const movement::ValueExpr>(
        movement::ValueExpr{movement::Integer{value.substitute(kLane, movement::Index(0)), *stride}});
}

}  // namespace

LaneAddress split_lanes(const movement::Address& address, const Node& node, const std::string& what,
                        bool is_tile) {
    const auto stride = address.offset.coefficient(kLane);
    if (!stride) {
        throw Refused(
            Refusal{.where = node.name,
                    .entity = what,
                    .problem = fmt::format("its lanes lie irregularly, at {}", print(address.offset)),
                    .advice = "choose another iterator for the lanes, fewer lanes, or another layout",
                    // A symbolic stride is the layout's; quotients and rests depend on where a tile begins.
                    .is_of_all_tiles = !is_tile && address.offset.uses_in_products(kLane)});
    }
    return {{address.buffer, address.offset.substitute(kLane, movement::Index(0)), address.element}, *stride};
}

movement::ValuePtr to_value(const ExprPtr& expr, const ValueScope& scope) {
    const Definition& definition = *scope.node.definition();
    if (const auto* n = std::get_if<Number>(&expr->node)) {
        if (!definition.is_wide() && !fits_f32(n->value))
            throw Refused(scope.node.name, print(definition, expr),
                          "is a number that f32, in which compiled code computes, does not hold");
        return std::make_shared<const movement::ValueExpr>(movement::ValueExpr{*n});
    }
    if (std::holds_alternative<Infinity>(expr->node))
        return std::make_shared<const movement::ValueExpr>(movement::ValueExpr{Infinity{}});
    if (std::holds_alternative<Folded>(expr->node)) return scope.folded;
    if (is_index_expression(expr, scope)) {
        movement::ValuePtr value =
            integer_value(to_index(expr, scope.node, scope.iterators, scope.storage), scope.node);
        expect_64_bits(value, expr, scope.node);
        return value;
    }
    if (const auto* read = std::get_if<Read>(&expr->node)) {
        const TensorDecl& tensor = definition.tensors[static_cast<size_t>(read->tensor)];
        const ValueId value = value_of(scope.node, read->tensor);
        const std::vector<movement::Index> extents = scope.storage.extents(value);
        std::vector<movement::Index> at;
        movement::Load load;
        load.outside = scope.outside;
        for (size_t axis = 0; axis < read->coordinates.size(); ++axis) {
            const ExprPtr& component = read->coordinates[axis];
            at.push_back(to_index(component, scope.node, scope.iterators, scope.storage));
            // Values of index operands are in range: the run time checks the inputs of a step.
            if (is_indirect(component) || is_inside(component, extents[axis], scope)) continue;
            load.guards.push_back(guard_of(at.back(), extents[axis], scope.node, tensor.name));
        }
        if (load.guards.empty()) load.outside = 0;
        // A recurrence reads what its lines write.
        const LaneAddress split = split_lanes(scope.storage.locate(value, at, tensor.is_result()), scope.node,
                                              tensor.name, scope.storage.is_tile(value));
        load.from = split.address;
        load.lane_stride = split.stride;
        expect_one_of_lanes(load, scope.node, tensor.name);
        return std::make_shared<const movement::ValueExpr>(movement::ValueExpr{std::move(load)});
    }
    if (const auto* to = std::get_if<Cast>(&expr->node)) {
        movement::ValuePtr argument = to_value(to->argument, scope);
        // Numbers of 64 bits are no f32 yet.
        if (definition.is_wide() && to->to == ElementType::kF32)
            return movement::make_value({movement::RoundValue{to->to, std::move(argument)}});
        if (!is_integer(to->to) || movement::number_kind(*argument) != movement::NumberKind::kInteger)
            return movement::rounded_value(to->to, std::move(argument));
        const IntegerRange limits = range(to->to);
        return movement::apply_value(
            Function::kMax, {movement::apply_value(
                                 Function::kMin, {std::move(argument),
                                                  movement::number_value(static_cast<double>(limits.high))}),
                             movement::number_value(static_cast<double>(limits.low))});
    }
    const auto& call = std::get<Apply>(expr->node);
    std::vector<movement::ValuePtr> arguments;
    for (const ExprPtr& a : call.arguments) arguments.push_back(to_value(a, scope));
    movement::ValuePtr value = movement::apply_value(call.function, std::move(arguments));
    expect_64_bits(value, expr, scope.node);
    if (!is_quotient_by_what_may_be_zero(*value)) return value;
    // The sum has the zero of integers, without a sign.
    return movement::apply_value(Function::kAdd, {std::move(value), movement::number_value(0)});
}

namespace {

LaneAddress result_address(int tensor, bool is_written, const ValueScope& scope) {
    const TensorDecl& result = scope.node.definition()->tensors[static_cast<size_t>(tensor)];
    std::vector<movement::Index> at;
    for (const ExprPtr& c : result.map) at.push_back(to_index(c, scope.node, scope.iterators, scope.storage));
    const ValueId value = value_of(scope.node, tensor);
    return split_lanes(scope.storage.locate(value, at, is_written), scope.node, result.name,
                       scope.storage.is_tile(value));
}

}  // namespace

movement::Store store_to(int tensor, movement::ValuePtr value, const ValueScope& scope) {
    // A byte holds more than the two truths.
    if (scope.node.definition()->tensors[static_cast<size_t>(tensor)].type == ElementType::kBool)
        value = movement::rounded_value(ElementType::kBool, std::move(value));
    const LaneAddress at = result_address(tensor, true, scope);
    const bool is_group = std::any_of(scope.iterators.begin(), scope.iterators.end(),
                                      [](const movement::Index& x) { return x.uses(kLane); });
    if (is_group && at.stride == 0 &&
        has_lanes(*value)) {  // an axis of one element, read by an expression of its iterator
        throw Refused(scope.node.name, scope.node.definition()->tensors[static_cast<size_t>(tensor)].name,
                      "all lanes of it lie in one place",
                      "choose another iterator for the lanes, or scalars");
    }
    return {at.address, at.stride, std::move(value)};
}

movement::ValuePtr load_result(int tensor, const ValueScope& scope) {
    const LaneAddress at = result_address(tensor, true, scope);
    const Definition& definition = *scope.node.definition();
    if (at.address.element != (definition.is_wide() ? definition.accumulator : ElementType::kF32)) {
        throw Refused(scope.node.name, scope.node.definition()->tensors[static_cast<size_t>(tensor)].name,
                      fmt::format("has element type {}, so what is folded so far would be rounded",
                                  name(at.address.element)),
                      "leave its reduction whole, with the micro-kernel loops");
    }
    movement::Load load;
    load.from = at.address;
    load.lane_stride = at.stride;
    return std::make_shared<const movement::ValueExpr>(movement::ValueExpr{std::move(load)});
}

bool has_lanes(const movement::ValueExpr& value) {
    if (const auto* rounded = std::get_if<movement::RoundValue>(&value.node))
        return has_lanes(*rounded->argument);
    if (const auto* load = std::get_if<movement::Load>(&value.node)) return load->lane_stride != 0;
    if (const auto* integer = std::get_if<movement::Integer>(&value.node)) return integer->lane_stride != 0;
    if (const auto* acc = std::get_if<movement::AccumulatorRef>(&value.node)) return !acc->fold_lanes;
    if (const auto* call = std::get_if<movement::ApplyValue>(&value.node)) {
        return std::any_of(call->arguments.begin(), call->arguments.end(),
                           [](const movement::ValuePtr& a) { return has_lanes(*a); });
    }
    return false;
}

}  // namespace tessera::lowering
