#include "lowering/movement/step_memory.h"

#include <algorithm>
#include <cstring>

#include "lowering/movement/stored_element.h"
#include "lowering/plan/constants.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

constexpr size_t kGuard = 256;
constexpr unsigned char kCanary = 0xA5;

size_t bytes_of(ElementType type, int64_t elements) {
    return static_cast<size_t>((elements * bits(type) + 7) / 8);
}

template <typename Visit>
void for_each_element(const std::vector<int64_t>& shape, Visit&& visit) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::vector<int64_t> at(shape.size());
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i;
        for (size_t axis = shape.size(); axis-- > 0;) {
            at[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        visit(static_cast<size_t>(i), at);
    }
}

/// Padding holds zeros, as the packer writes it.
void pack_into(unsigned char* to, ElementType type, const Layout& layout, const TensorData& data) {
    std::memset(to, 0, bytes_of(type, stored_elements(layout, data.shape)));
    for_each_element(data.shape, [&](size_t i, const std::vector<int64_t>& at) {
        put_element(to, type, offset_of(layout, data.shape, at), data.values[i]);
    });
}

TensorData unpacked(const unsigned char* from, ElementType type, const Layout& layout,
                    std::vector<int64_t> shape) {
    TensorData data{std::move(shape), {}};
    for_each_element(data.shape, [&](size_t, const std::vector<int64_t>& at) {
        data.values.push_back(get_element(from, type, offset_of(layout, data.shape, at)));
    });
    return data;
}

std::vector<std::span<std::byte>> bytes_of(const std::vector<GuardedMemory>& memory) {
    std::vector<std::span<std::byte>> result;
    for (const GuardedMemory& m : memory) result.push_back(m.bytes());
    return result;
}

}  // namespace

GuardedMemory::GuardedMemory(size_t bytes) : bytes_(bytes), storage_(bytes + 3 * kGuard, kCanary) {
    const auto begin = reinterpret_cast<uintptr_t>(storage_.data()) + kGuard;
    data_ = storage_.data() + ((begin + 63) / 64 * 64 - reinterpret_cast<uintptr_t>(storage_.data()));
    std::memset(data_, 0xFF, bytes);  // F32 and I32 that nobody takes for a result
}

bool GuardedMemory::is_intact() const {
    const auto is_canary = [](unsigned char c) { return c == kCanary; };
    const unsigned char* begin = storage_.data();
    return std::all_of(begin, static_cast<const unsigned char*>(data_), is_canary) &&
           std::all_of(static_cast<const unsigned char*>(data_ + bytes_), begin + storage_.size(), is_canary);
}

StepMemory::StepMemory(const Graph& graph, const plan::Plan& plan,
                       const plan::SpecialisationPlan& specialisation, const GraphCall& call)
    : graph_(graph),
      plan_(plan),
      values_of_symbols_(call.symbols),
      constants_(static_cast<size_t>(plan::constant_section(graph, plan).bytes)),
      arena_(static_cast<size_t>(specialisation.arena_bytes)) {
    for (const DimSymbol& s : graph.symbols) symbols_.push_back(call.symbols.at(s.name));
    add_constants(call);
    for (const Value& value : graph.values) {
        if (value.kind == ValueKind::kInput) add_input(value, call.inputs.at(value.name));
        if (value.kind == ValueKind::kState) add_state(value, call.states.at(value.name));
    }
    for (const ValueId output : graph.outputs) {
        outputs_.emplace_back(
            bytes_of(graph[output].type.element,
                     stored_elements({}, evaluate(graph[output].type.shape, call.symbols))));
    }
}

void StepMemory::add_constants(const GraphCall& call) {
    const plan::ConstantSection section = plan::constant_section(graph_, plan_);
    for (const Value& value : graph_.values) {
        if (value.kind != ValueKind::kConstant) continue;
        const plan::StoredConstant& stored = section.constants.at(value.name);
        for (int64_t r = 0; r < stored.repetitions; ++r) {
            pack_into(constants_.data() + stored.offset + r * stored.stride, value.type.element,
                      plan::stored_layout(plan_, value.name), call.constant(value, r));
        }
    }
}

void StepMemory::add_input(const Value& value, const TensorData& data) {
    inputs_.emplace_back(bytes_of(value.type.element, std::ssize(data.values)));
    pack_into(inputs_.back().data(), value.type.element, {}, data);
}

void StepMemory::add_state(const Value& value, const std::vector<TensorData>& before) {
    const Layout& layout = plan::stored_layout(plan_, value.name);
    const size_t bytes =
        bytes_of(value.type.element, stored_elements(layout, evaluate(value.type.shape, values_of_symbols_)));
    states_.emplace_back(bytes * before.size());
    for (size_t r = 0; r < before.size(); ++r) {
        pack_into(states_.back().data() + r * bytes, value.type.element, layout, before[r]);
    }
}

movement::ProgramMemory StepMemory::memory() const {
    return {.symbols = symbols_,
            .inputs = bytes_of(inputs_),
            .outputs = bytes_of(outputs_),
            .states = bytes_of(states_),
            .constants = constants_.bytes(),
            .arena = arena_.bytes()};
}

GraphResult StepMemory::results() const {
    for (const auto* group : {&inputs_, &states_, &outputs_}) {
        for (const GuardedMemory& m : *group) {
            if (!m.is_intact()) throw Error("step", {}, "wrote outside an input, a state or an output");
        }
    }
    if (!arena_.is_intact()) throw Error("step", {}, "wrote outside the arena");
    if (!constants_.is_intact()) throw Error("step", {}, "wrote outside the constants");
    GraphResult result;
    for (size_t o = 0; o < graph_.outputs.size(); ++o) {
        const TensorType& type = graph_[graph_.outputs[o]].type;
        result.outputs.push_back(
            unpacked(outputs_[o].data(), type.element, {}, evaluate(type.shape, values_of_symbols_)));
    }
    auto state = states_.begin();
    for (const Value& value : graph_.values) {
        if (value.kind != ValueKind::kState) continue;
        const Layout& layout = plan::stored_layout(plan_, value.name);
        const std::vector<int64_t> shape = evaluate(value.type.shape, values_of_symbols_);
        const size_t bytes = bytes_of(value.type.element, stored_elements(layout, shape));
        int64_t repetitions = 1;
        for (const Block& block : graph_.blocks) {
            for (const StateUpdate& update : block.states) {
                if (graph_[update.before].name == value.name) repetitions = block.repeat;
            }
        }
        for (size_t r = 0; r < static_cast<size_t>(repetitions); ++r)
            result.states[value.name].push_back(
                unpacked(state->data() + r * bytes, value.type.element, layout, shape));
        ++state;
    }
    return result;
}

}  // namespace tessera::testing
