#include "chip/partition/chip_memory.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "support/error.h"

namespace tessera::partition {

ChipMemory::ChipMemory(const chip::ChipDescription& chip, std::string program)
    : program_(std::move(program)),
      room_(chip.chip.sram_bytes + chip.reserved_bytes),
      cores_(static_cast<size_t>(chip.chip.cores)) {}

const HeldNumbers& ChipMemory::at(int32_t core, const NumbersKey& key) const {
    const auto& held = cores_[static_cast<size_t>(core)].held;
    const auto found = held.find(key);
    return found == held.end() ? nothing_ : found->second.numbers;
}

void ChipMemory::count(int32_t core, int64_t more_bits) {
    Core& of = cores_[static_cast<size_t>(core)];
    of.bits += more_bits;
    const int64_t bytes = (of.bits + 7) / 8;
    of.peak = std::max(of.peak, bytes);
    if (bytes > room_)
        throw Error(program_, fmt::format("core {}", core),
                    fmt::format("holds {} bytes at cycle {:.3f}, and has {}", bytes, now_, room_));
}

void ChipMemory::put(int32_t core, const NumbersKey& key, int64_t bits, const Elements& elements,
                     const std::vector<double>& numbers) {
    Held& held = cores_[static_cast<size_t>(core)].held[key];
    held.bits = bits;
    const int64_t before = held.numbers.count();
    held.numbers.put(elements, numbers);
    count(core, (held.numbers.count() - before) * bits);
}

void ChipMemory::drop(int32_t core, const NumbersKey& key, const Elements& elements) {
    auto& all = cores_[static_cast<size_t>(core)].held;
    const auto held = all.find(key);
    if (held == all.end()) return;
    const int64_t before = held->second.numbers.count();
    held->second.numbers.drop(elements);
    count(core, (held->second.numbers.count() - before) * held->second.bits);
}

void ChipMemory::drop(const NumbersKey& key) {
    for (size_t c = 0; c < cores_.size(); ++c)
        if (const auto held = cores_[c].held.extract(key))
            count(static_cast<int32_t>(c), -held.mapped().numbers.count() * held.mapped().bits);
}

std::vector<int64_t> ChipMemory::peaks() const {
    std::vector<int64_t> peaks;
    for (const Core& core : cores_) peaks.push_back(core.peak);
    return peaks;
}

std::vector<double> numbers_of(const TensorData& data, const Elements& elements) {
    std::vector<double> numbers;
    for (const facts::Range& range : elements.ranges())
        numbers.insert(numbers.end(), data.values.begin() + range.first, data.values.begin() + range.last);
    return numbers;
}

void check_shape(const Graph& graph, const GraphCall& call, const Value& value, const TensorData& data) {
    const std::vector<int64_t> expected = evaluate(value.type.shape, call.symbols);
    if (data.shape != expected)
        throw Error(graph.name, value.name,
                    fmt::format("has shape [{}], expected [{}]", fmt::join(data.shape, ", "),
                                fmt::join(expected, ", ")));
}

FarMemory::FarMemory(const Graph& graph, const GraphCall& call)
    : graph_(graph), call_(call), states_(call.states) {}

TensorData& FarMemory::at(const FarTensor& tensor) {
    const Value& value = graph_[tensor.value];
    if (value.kind != ValueKind::kState) {
        auto [known, is_new] = constants_.try_emplace(tensor);
        if (is_new) known->second = call_.constant(value, tensor.repetition);
        check_shape(graph_, call_, value, known->second);
        return known->second;
    }
    const auto found = states_.find(value.name);
    if (found == states_.end() || tensor.repetition >= std::ssize(found->second))
        throw Error(graph_.name, value.name,
                    fmt::format("is a state without contents of repetition {}", tensor.repetition));
    TensorData& data = found->second[static_cast<size_t>(tensor.repetition)];
    check_shape(graph_, call_, value, data);
    return data;
}

std::vector<double> FarMemory::numbers(const FarTensor& tensor, const Elements& elements) {
    return numbers_of(at(tensor), elements);
}

void FarMemory::store(const FarTensor& tensor, const Elements& elements, const std::vector<double>& numbers) {
    TensorData& data = at(tensor);
    auto next = numbers.begin();
    for (const facts::Range& range : elements.ranges()) {
        std::copy(next, next + range.size(), data.values.begin() + range.first);
        next += range.size();
    }
}

}  // namespace tessera::partition
