#include "compiler/part_weights.h"

#include <cstring>

#include "import/constant_contents.h"
#include "ir/element_bits.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

using facts::Range;

/// Copies `count` bits; whole bytes where both ends allow it.
void copy_bits(std::span<const std::byte> from, size_t from_bit, std::span<std::byte> to, size_t to_bit,
               size_t count) {
    if (from_bit % 8 == 0 && to_bit % 8 == 0 && count % 8 == 0) {
        std::memcpy(to.data() + to_bit / 8, from.data() + from_bit / 8, count / 8);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        const bool is_set =
            (std::to_integer<unsigned>(from[(from_bit + i) / 8]) >> ((from_bit + i) % 8) & 1U) != 0;
        if (is_set) to[(to_bit + i) / 8] |= static_cast<std::byte>(1U << ((to_bit + i) % 8));
    }
}

}  // namespace

std::vector<std::byte> cut_out(std::span<const std::byte> whole, std::span<const int64_t> shape,
                               std::span<const Range> ranges, int element_bits) {
    size_t elements = 1;
    for (const Range& range : ranges) elements *= static_cast<size_t>(range.size());
    const auto bits = static_cast<size_t>(element_bits);
    TESSERA_CHECK(elements * bits % 8 == 0, "a part of {} elements of {} bits", elements, bits);
    std::vector<std::byte> part(elements * bits / 8);
    if (elements == 0) return part;
    // Rows of the last axis, one behind the other.
    std::vector<int64_t> at;
    for (const Range& range : ranges) at.push_back(range.first);
    const auto row = shape.empty() ? size_t{1} : static_cast<size_t>(ranges.back().size());
    for (size_t done = 0; done < elements; done += row) {
        size_t from = 0;
        for (size_t a = 0; a < at.size(); ++a)
            from = from * static_cast<size_t>(shape[a]) + static_cast<size_t>(at[a]);
        copy_bits(whole, from * bits, part, done * bits, row * bits);
        for (size_t a = at.size(); a > 1; --a) {
            if (++at[a - 2] < ranges[a - 2].last) break;
            at[a - 2] = ranges[a - 2].first;
        }
    }
    return part;
}

PartWeights::PartWeights(const import::WeightSource& whole, const Graph& graph, const spmd::LocalGraph& local,
                         std::string where)
    : whole_(whole), graph_(graph), where_(std::move(where)) {
    for (const Value& value : local.graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        const spmd::ConstantPart& part = local.constants.at(value.name);
        for (int64_t r = 0; r < value.repetitions(); ++r)
            parts_[value.source(r, 0)] = {{.type = std::string(name(value.type.element)),
                                           .element = value.type.element,
                                           .shape = evaluate(value.type.shape, {}),
                                           .bytes = {}},
                                          part,
                                          r};
    }
}

const import::StoredTensor* PartWeights::find(std::string_view name) const {
    const auto found = parts_.find(name);
    return found == parts_.end() ? nullptr : &found->second.tensor;
}

std::vector<std::string> PartWeights::names() const {
    std::vector<std::string> names;
    for (const auto& [name, part] : parts_) names.push_back(name);
    return names;
}

import::TensorContents PartWeights::contents(std::string_view name) const {
    const Part& each = parts_.find(name)->second;
const Value& value = graph_[each.part.whole];
import::TensorContents whole = import::constant_contents(whole_, value, each.repetition, where_);
const std::vector<int64_t> shape = evaluate(value.type.shape, {});
if (shape == each.tensor.shape) return whole;
const auto part = std::make_shared<std::vector<std::byte>>(
    cut_out(whole.bytes, shape, each.part.ranges, bits(value.type.element)));
return {.bytes = *part, .owner = part};
}  // namespace tessera::compiler

void PartWeights::release(std::string_view name) const {
    const Part& each = parts_.find(name)->second;
    const Value& value = graph_[each.part.whole];
    for (size_t part = 0; part < value.parts(); ++part) whole_.release(value.source(each.repetition, part));
}

}  // namespace tessera::compiler
