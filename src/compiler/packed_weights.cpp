#include "compiler/packed_weights.h"

#include <utility>

#include "compiler/unpack.h"
#include "plan/constants.h"
#include "support/error.h"

namespace tessera::compiler {

PackedWeights::PackedWeights(std::shared_ptr<const runtime::Artefact> artefact, const Graph& graph,
                             const plan::Plan& plan)
    : artefact_(std::move(artefact)) {
    for (const auto& [name, layout] : plan.stored) {
        const std::optional<ValueId> value = graph.find(name);
        const std::string problem =
            value ? why_illegal(layout, graph[*value].type.shape.size()) : "is not of the graph";
        if (!problem.empty()) throw Error(artefact_->where(), name, problem, "compile the model again");
    }
    const plan::ConstantSection section = plan::constant_section(graph, plan);
    const std::span<const std::byte> bytes = artefact_->constants();
    if (static_cast<uint64_t>(section.bytes) != bytes.size())
        throw Error(artefact_->where(), "constants",
                    fmt::format("has {} bytes, graph and plan describe {}", bytes.size(), section.bytes),
                    "compile the model again");
    for (const Value& value : graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        const plan::StoredConstant& stored = section.constants.at(value.name);
        for (int64_t r = 0; r < value.repetitions(); ++r) {
            const auto offset = static_cast<size_t>(stored.offset + r * stored.stride);
            for (size_t part = 0; part < value.parts(); ++part)
                packed_[value.source(r, part)] = {
                    .element = value.type.element,
                    .shape = value.part_shape(part),
                    .whole_shape = evaluate(value.type.shape, {}),
                    .place =
                        value.concatenation ? std::optional(import::place_of(value, part)) : std::nullopt,
                    .layout = plan::stored_layout(plan, value.name),
                    .bytes = bytes.subspan(offset, static_cast<size_t>(stored.bytes))};
        }
    }
}

const import::StoredTensor* PackedWeights::find(std::string_view name) const {
    const auto found = packed_.find(name);
    if (found == packed_.end()) return nullptr;
    if (current_ != name) {
        const Packed& packed = found->second;
        unpacked_ = {};  // before the next one is made
        unpacked_ = unpack(packed.bytes, packed.whole_shape, packed.layout, bits(packed.element));
        if (packed.place) unpacked_ = import::take_part(unpacked_, *packed.place);
        tensor_ = {std::string(tessera::name(packed.element)), packed.element, packed.shape, unpacked_};
        current_ = name;
    }
    return &tensor_;
}

std::vector<std::string> PackedWeights::names() const {
    std::vector<std::string> names;
    for (const auto& [name, packed] : packed_) names.push_back(name);
    return names;
}

}  // namespace tessera::compiler
