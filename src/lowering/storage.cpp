#include "lowering/storage.h"

#include <algorithm>
#include <numeric>

#include "lowering/movement/identifier.h"
#include "lowering/refusal.h"
#include "support/error.h"

namespace tessera::lowering {

LoweringInput lowering_input(const Graph& graph, const plan::Plan& plan,
                             const plan::SpecialisationPlan& specialisation,
                             const plan::ConstantSection& constants) {
    LoweringInput input{graph, plan, specialisation, constants, {}};
    for (const Value& value : graph.values)
        input.values.emplace(value.name, ValueId{static_cast<int>(input.values.size())});
    input.producers.resize(graph.values.size());
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            for (const ValueId result : node.results)
                input.producers[static_cast<size_t>(result.index)] = &node;
    for (const DimSymbol& symbol : graph.symbols) {
        const plan::SymbolBounds& bounds = specialisation.bounds.at(symbol.name);
        input.symbols[symbol.name] = {
            movement::symbol_identifier(symbol.name), {bounds.low, bounds.high}, symbol.multiple_of};
    }
    return input;
}

ValueId value_of(const Node& node, int tensor) {
    const Definition& definition = *node.definition();
    size_t operand = 0, result = 0;
    for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
        const Role role = definition.tensors[static_cast<size_t>(t)].role;
        const bool is_result = role == Role::kOut || role == Role::kUpdate;
        if (t == tensor) return is_result ? node.results[result] : node.operands[operand];
        ++(is_result ? result : operand);
    }
    TESSERA_CHECK(false, "tensor {} of {}", tensor, node.name);
    return {};
}

namespace {

movement::Index dim_index(const Dim& dim, const LoweringInput& input) {
    return dim.is_constant()
               ? movement::Index(dim.factor)
               : movement::Index::variable(input.symbols.at(*dim.symbol)) * movement::Index(dim.factor);
}

/// The divisor of a `div` or `mod` in a map or extent.
int64_t constant_divisor(const ExprPtr& expr, const movement::Index& divisor, const Definition& definition) {
    const auto constant = divisor.as_constant();
    if (!constant)
        throw Refused(definition.name, print(definition, expr), "divides by a symbol",
                      "compiled code needs constant divisors");
    if (*constant == 0) throw Refused(definition.name, print(definition, expr), "divides by zero");
    return *constant;
}

/// Integer expressions in dims only.
movement::Index constant_index(const ExprPtr& expr, const Definition& definition,
                               const LoweringInput& input) {
    const auto argument = [&](const Apply& call, size_t i) {
        return constant_index(call.arguments[i], definition, input);
    };
    if (const auto* n = std::get_if<Number>(&expr->node)) return {static_cast<int64_t>(n->value)};
    if (const auto* d = std::get_if<DimRef>(&expr->node)) {
        return movement::Index::variable(
            input.symbols.at(definition.dims[static_cast<size_t>(d->index)].name));
    }
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call) throw Refused(definition.name, print(definition, expr), "is not an integer expression");
    switch (call->function) {
        case Function::kAdd:
            return argument(*call, 0) + argument(*call, 1);
        case Function::kSub:
            return argument(*call, 0) - argument(*call, 1);
        case Function::kMul:
            return argument(*call, 0) * argument(*call, 1);
        case Function::kNegate:
            return movement::Index(0) - argument(*call, 0);
        case Function::kMin:
            return movement::min(argument(*call, 0), argument(*call, 1));
        case Function::kMax:
            return movement::max(argument(*call, 0), argument(*call, 1));
        case Function::kFloorDiv:
        case Function::kMod: {
            const int64_t divisor = constant_divisor(expr, argument(*call, 1), definition);
            return call->function == Function::kMod ? movement::mod(argument(*call, 0), divisor)
                                                    : movement::floor_div(argument(*call, 0), divisor);
        }
        default:
            throw Refused(definition.name, print(definition, expr), "is not an integer expression");
    }
}

}  // namespace

std::vector<movement::Index> iterator_extents(const Node& node, const LoweringInput& input) {
    std::vector<movement::Index> result;
    for (const Iterator& iterator : node.definition()->iterators) {
        result.push_back(constant_index(iterator.extent, *node.definition(), input));
    }
    return result;
}

movement::Index to_index(const ExprPtr& expr, const Node& node, const std::vector<movement::Index>& iterators,
                         Storage& storage) {
    const Definition& definition = *node.definition();
    const auto index = [&](const ExprPtr& e) { return to_index(e, node, iterators, storage); };
    if (const auto* i = std::get_if<IteratorRef>(&expr->node))
        return iterators[static_cast<size_t>(i->index)];
    if (const auto* read = std::get_if<Read>(&expr->node)) {
        std::vector<movement::Index> at;
        for (const ExprPtr& c : read->coordinates) at.push_back(index(c));
        const movement::Address address = storage.locate(value_of(node, read->tensor), at, false);
        return movement::Index::read(address.buffer, address.offset);
    }
    if (const auto* call = std::get_if<Apply>(&expr->node)) {
        const std::vector<ExprPtr>& a = call->arguments;
        switch (call->function) {
            case Function::kAdd:
                return index(a[0]) + index(a[1]);
            case Function::kSub:
                return index(a[0]) - index(a[1]);
            case Function::kMul:
                return index(a[0]) * index(a[1]);
            case Function::kNegate:
                return movement::Index(0) - index(a[0]);
            case Function::kMin:
                return movement::min(index(a[0]), index(a[1]));
            case Function::kMax:
                return movement::max(index(a[0]), index(a[1]));
            case Function::kFloorDiv:
            case Function::kMod: {
                const int64_t divisor =
                    constant_divisor(expr, constant_index(a[1], definition, storage.input()), definition);
                return call->function == Function::kMod ? movement::mod(index(a[0]), divisor)
                                                        : movement::floor_div(index(a[0]), divisor);
            }
            default:
                break;
        }
        throw Refused(node.name, print(definition, expr), "is not an integer expression");
    }
    return constant_index(expr, definition, storage.input());
}

// ---- layouts
// ---------------------------------------------------------------------------------------------------------

namespace {

struct SymbolicAxis {
    int axis;
    int64_t divisor;
    bool is_outer;
    movement::Index extent;
};

std::vector<SymbolicAxis> symbolic_axes(const Layout& layout, const std::vector<movement::Index>& extents) {
    std::vector<int64_t> lanes(extents.size(), 1);
    for (const Lane& lane : layout.lanes) lanes[static_cast<size_t>(lane.axis)] *= lane.factor;
    std::vector<int> order = layout.order;
    if (order.empty()) {
        order.resize(extents.size());
        std::iota(order.begin(), order.end(), 0);
    }
    std::vector<SymbolicAxis> axes;
    for (const int axis : order) {
        const int64_t factor = lanes[static_cast<size_t>(axis)];
        axes.push_back(
            {axis, factor, true,
             movement::floor_div(extents[static_cast<size_t>(axis)] + movement::Index(factor - 1), factor)});
    }
    for (const Lane& lane : layout.lanes) {
        int64_t& left = lanes[static_cast<size_t>(lane.axis)];
        left /= lane.factor;
        axes.push_back({lane.axis, left, false, movement::Index(lane.factor)});
    }
    return axes;
}

}  // namespace

movement::Index offset_of(const Layout& layout, const std::vector<movement::Index>& extents,
                          const std::vector<movement::Index>& coordinates) {
    const std::vector<SymbolicAxis> axes = symbolic_axes(layout, extents);
    movement::Index offset, stride(1);
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        const movement::Index quotient =
            movement::floor_div(coordinates[static_cast<size_t>(axis->axis)], axis->divisor);
        offset = offset +
                 (axis->is_outer ? quotient : movement::mod(quotient, *axis->extent.as_constant())) * stride;
        stride = stride * axis->extent;
    }
    return offset;
}

movement::Index stored_elements(const Layout& layout, const std::vector<movement::Index>& extents) {
    movement::Index count(1);
    for (const SymbolicAxis& axis : symbolic_axes(layout, extents)) count = count * axis.extent;
    return count;
}

// ---- storage
// ---------------------------------------------------------------------------------------------------------

Storage::Storage(const LoweringInput& input, const Block& block)
    : input_(input),
      block_(block),
      given_{.place = plan::Place::kGiven, .of = {}, .offset = {}, .layout = {}} {}

const plan::TensorPlan& Storage::plan_of(ValueId value) const {
    const auto at = input_.specialisation.tensors.find(input_.graph[value].name);
    return at == input_.specialisation.tensors.end() ? given_ : at->second;
}

Resolved Storage::resolve(ValueId value, std::vector<movement::Index> coordinates) const {
    while (true) {
        const plan::TensorPlan& plan = plan_of(value);
        if (plan.place == plan::Place::kInPlace) {
            value = input_.values.at(plan.of);
        } else if (plan.place == plan::Place::kView) {
            const Node* node = producer(value);
            const auto& source = std::get<Read>(node->definition()->body.front()->node);
            Storage scratch(input_, block_);  // a view reads no index operand
            std::vector<movement::Index> at;
            for (const ExprPtr& c : source.coordinates)
                at.push_back(to_index(c, *node, coordinates, scratch));
            value = value_of(*node, source.tensor);
            coordinates = std::move(at);
        } else {
            return {value, std::move(coordinates)};
        }
    }
}

bool Storage::is_tile(ValueId value) const {
    return plan_of(base(value)).place == plan::Place::kTile;
}

ValueId Storage::base(ValueId value) const {
    std::vector<ValueId> passed;
    ValueId at = value;
    for (auto known = bases_.find(at); known == bases_.end(); known = bases_.find(at)) {
        const plan::TensorPlan& plan = plan_of(at);
        if (plan.place != plan::Place::kInPlace && plan.place != plan::Place::kView) {
            bases_.emplace(at, at);
            break;
        }
        passed.push_back(at);
        at = input_.values.at(plan.of);
    }
    const ValueId found = bases_.at(at);
    for (const ValueId each : passed) bases_.emplace(each, found);
    return found;
}

ValueId Storage::replaced(ValueId value) const {
    while (plan_of(value).place == plan::Place::kInPlace) value = input_.values.at(plan_of(value).of);
    return value;
}

std::vector<movement::Index> Storage::extents(ValueId value) const {
    std::vector<movement::Index> result;
    for (const Dim& dim : input_.graph[value].type.shape) result.push_back(dim_index(dim, input_));
    return result;
}

movement::Address Storage::locate(ValueId value, const std::vector<movement::Index>& coordinates,
                                  bool is_written) {
    if (parted_.contains(value)) return locate_part(value, coordinates, std::nullopt);
    auto [target, at] = resolve(value, coordinates);
    movement::ProgramBuffer buffer = describe(target);
    auto [entry, is_new] = buffers_.emplace(buffer.name, buffer);
    entry->second.is_written |= is_written;

    const Value& v = input_.graph[target];
    const bool is_stored = v.kind == ValueKind::kConstant || v.kind == ValueKind::kState;
    const Layout& layout = is_stored ? plan::stored_layout(input_.plan, v.name) : plan_of(target).layout;
    const auto tile = tiles_.find(target);
    if (tile == tiles_.end()) return {buffer.name, offset_of(layout, extents(target), at), v.type.element};
    std::vector<movement::Index> tile_extents;
    for (size_t axis = 0; axis < at.size(); ++axis) {
        at[axis] = at[axis] - tile->second[axis].begin;
        tile_extents.emplace_back(tile->second[axis].largest);
    }
    return {buffer.name, offset_of(layout, tile_extents, at), v.type.element};
}

int64_t Storage::bytes_of(const movement::Index& elements, int64_t bits, const std::string& value) const {
    const int64_t count = elements.bounds().high;
    if (count > plan::kMostBytes * 8 / bits)
        throw Refused("", value,
                      fmt::format("may have {} elements, more than {} bytes hold", count, plan::kMostBytes),
                      "choose smaller tiles and lanes");
    return (count * bits + 7) / 8;
}

void Storage::copy_for_workers(movement::ProgramBuffer& buffer) const {
    if (input_.plan.workers == 1) return;
    buffer.worker_stride = (buffer.bytes + 63) / 64 * 64;
    buffer.bytes = buffer.worker_stride * input_.plan.workers;
}

movement::ProgramBuffer Storage::describe(ValueId id) const {
    const Value& value = input_.graph[id];
    movement::ProgramBuffer buffer{.name = movement::value_identifier(value.name),
                                   .value = value.name,
                                   .element = value.type.element,
                                   .repetition_stride = {}};
    const auto position_among = [&](ValueKind kind) {
        int64_t position = 0;
        for (const Value& other : input_.graph.values) {
            if (&other == &value) break;
            position += other.kind == kind;
        }
        return position;
    };
    const auto bytes_in = [&](const Layout& layout, const std::vector<movement::Index>& shape) {
        return bytes_of(stored_elements(layout, shape), bits(value.type.element), value.name);
    };
    switch (value.kind) {
        case ValueKind::kInput:
            buffer.bytes = bytes_in({}, extents(id));
            buffer.memory = movement::MemoryKind::kInput;
            buffer.position = position_among(ValueKind::kInput);
            break;
        case ValueKind::kState:
            buffer.memory = movement::MemoryKind::kState;
            buffer.bytes = bytes_in(plan::stored_layout(input_.plan, value.name), extents(id));
            buffer.position = position_among(ValueKind::kState);
            buffer.repetition_stride =
                stored_elements(plan::stored_layout(input_.plan, value.name), extents(id)) *
                movement::Index(bits(value.type.element) / 8);
            break;
        case ValueKind::kConstant: {
            const plan::StoredConstant& stored = input_.constants.constants.at(value.name);
            buffer.memory = movement::MemoryKind::kConstant;
            buffer.position = stored.offset;
            buffer.bytes = stored.bytes;
            buffer.repetition_stride = movement::Index(stored.stride);
            break;
        }
        case ValueKind::kIntermediate: {
            const auto& outputs = input_.graph.outputs;
            const auto output = std::find(outputs.begin(), outputs.end(), id);
            if (output != outputs.end()) {
                buffer.memory = movement::MemoryKind::kOutput;
                buffer.position = output - outputs.begin();
                buffer.bytes = bytes_in({}, extents(id));
            } else {
                buffer.memory = movement::MemoryKind::kArena;
                buffer.position = plan_of(id).offset.value_or(0);  // buffers are placed after lowering
                std::vector<movement::Index> shape = extents(id);
                if (const auto tile = tiles_.find(id); tile != tiles_.end()) {
                    for (size_t axis = 0; axis < shape.size(); ++axis)
                        shape[axis] = movement::Index(tile->second[axis].largest);
                }
                buffer.bytes = bytes_in(plan_of(id).layout, shape);
                if (plan_of(id).place == plan::Place::kTile || plan_of(id).each_worker)
                    copy_for_workers(buffer);
            }
            break;
        }
    }
    return buffer;
}

bool lie_alike(const Storage& storage, ValueId a, ValueId b) {
    std::vector<movement::Index> at;
    const std::vector<movement::Index> extents = storage.extents(a);
    if (extents != storage.extents(b)) return false;
    for (size_t axis = 0; axis < extents.size(); ++axis)
        at.push_back(movement::Index::variable(
            {fmt::format("#{}", axis), {0, std::max<int64_t>(extents[axis].bounds().high - 1, 1)}}));
    const Resolved of_a = storage.resolve(a, at), of_b = storage.resolve(b, at);
    return of_a.value == of_b.value && of_a.coordinates == of_b.coordinates;
}

std::vector<movement::ProgramBuffer> Storage::buffers() const {
    std::vector<movement::ProgramBuffer> result;
    for (const auto& [name, buffer] : buffers_) result.push_back(buffer);
    return result;
}

}  // namespace tessera::lowering
