#include "compiler/measure/call_memory.h"

#include <algorithm>

#include "ir/element_bits.h"
#include "support/error.h"

namespace tessera::measure {
namespace {

// 1.0 as F32 or near it, as BF16 and as F16.
constexpr uint32_t kNumber = 0x3f803f80;
// As bytes: rounded activations are never -128.
constexpr uint32_t kBytes = 0x3f3f3f3f;

uint32_t word_of(ElementType type) {
    return type == ElementType::kI32 ? 0 : type == ElementType::kI8 ? kBytes : kNumber;
}

int64_t most_repetitions(const Graph& graph) {
    int64_t most = 1;
    for (const Block& block : graph.blocks) most = std::max(most, block.repeat);
    return most;
}

}  // namespace

CallMemory::Tensor CallMemory::tensor_of(const Value& value, int64_t repetitions, const cost::SizePoint& at) {
    int64_t elements = repetitions;
    for (const int64_t extent : evaluate(value.type.shape, at.symbols)) elements *= extent;
    const int64_t bytes = elements * bits(value.type.element) / 8;
    Tensor tensor(static_cast<size_t>(bytes / static_cast<int64_t>(sizeof(Line)) + 1));
    for (Line& line : tensor)
        std::fill(std::begin(line.words), std::end(line.words), word_of(value.type.element));
    const auto given = at.contents.find(value.name);
    if (given != at.contents.end()) {
        TESSERA_CHECK(std::ssize(given->second) <= elements, "{} has {} elements", value.name, elements);
        auto* to = reinterpret_cast<int32_t*>(tensor.data());
        for (const double index : given->second) *to++ = static_cast<int32_t>(index);
    }
    return tensor;
}

CallMemory::CallMemory(const Graph& graph, int64_t arena_bytes, const cost::SizePoint& at)
    : arena_(static_cast<size_t>(arena_bytes / static_cast<int64_t>(sizeof(Line)) + 1)) {
    for (const DimSymbol& symbol : graph.symbols) symbols_.push_back(at.symbols.at(symbol.name));
    for (const Value& value : graph.values) {
        if (value.kind == ValueKind::kInput) inputs_.push_back(tensor_of(value, 1, at));
        if (value.kind == ValueKind::kState) states_.push_back(tensor_of(value, most_repetitions(graph), at));
    }
    for (const ValueId output : graph.outputs) outputs_.push_back(tensor_of(graph[output], 1, at));
    for (const Tensor& tensor : inputs_) input_addresses_.push_back(tensor.data());
    for (Tensor& tensor : outputs_) output_addresses_.push_back(tensor.data());
    for (Tensor& tensor : states_)
        state_addresses_.push_back(reinterpret_cast<unsigned char*>(tensor.data()));
}

TesseraStep CallMemory::step(const char* constants) {
    return {.symbols = symbols_.data(),
            .inputs = input_addresses_.data(),
            .outputs = output_addresses_.data(),
            .constants = reinterpret_cast<const unsigned char*>(constants),
            .states = state_addresses_.data(),
            .arena = reinterpret_cast<unsigned char*>(arena_.data()),
            .worker = 0,
            .meet = nullptr,
            .team = nullptr};
}

}  // namespace tessera::measure
