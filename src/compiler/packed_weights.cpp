#include "compiler/packed_weights.h"

#include <utility>

#include "lowering/plan/constants.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

// clang-format takes a line that begins with the namespace for the import of a module.
using import::TensorContents;

}  // namespace

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
        const auto copy = std::make_shared<const LayoutCopy>(
            evaluate(value.type.shape, {}), plan::stored_layout(plan, value.name), bits(value.type.element));
        for (int64_t r = 0; r < value.repetitions(); ++r) {
            const auto offset = static_cast<size_t>(stored.offset + r * stored.stride);
            Packed packed{.tensor = {.type = std::string(tessera::name(value.type.element)),
                                     .element = value.type.element,
                                     .shape = {},
                                     .bytes = {}},
                          .copy = copy,
                          .bytes = bytes.subspan(offset, static_cast<size_t>(stored.bytes))};
            for (size_t part = 0; part < value.parts(); ++part) {
                packed.tensor.shape = value.part_shape(part);
                if (value.concatenation && value.concatenation->axis > 0)
                    packed.turns = import::place_of(value, part);
                packed_[value.source(r, part)] = packed;
                if (value.concatenation && value.concatenation->axis == 0)
                    packed.first_row += packed.tensor.shape.front();
            }
        }
    }
}

/// Unpacks the groups that hold the rows.
class PackedWeights::Rows final : public import::TensorRows {
public:
    explicit Rows(const Packed& packed) : packed_(packed) {}

    TensorContents rows(int64_t first, int64_t last) const override {
        const LayoutCopy& copy = *packed_.copy;
        const Groups wanted{packed_.first_row + first, packed_.first_row + last};
        const Groups groups = copy.are_rows() ? copy.groups_with(wanted) : copy.all();
        const auto unpacked = std::make_shared<std::vector<std::byte>>(copy.source_bytes(groups));
        copy.unpack(groups,
                    packed_.bytes.subspan(copy.packed_bytes({0, groups.first}), copy.packed_bytes(groups)),
                    *unpacked);
        const Groups rows = copy.are_rows() ? copy.rows_of(groups) : copy.all_rows();
        TensorContents some =
            import::rows_of({.bytes = *unpacked, .owner = unpacked}, {rows.last - rows.first})
                ->rows(wanted.first - rows.first, wanted.last - rows.first);
        if (!packed_.turns) return some;
        const auto taken =
            std::make_shared<const std::vector<std::byte>>(import::take_part(some.bytes, *packed_.turns));
        return {.bytes = *taken, .owner = taken};
    }

private:
    const Packed& packed_;
};

const import::StoredTensor* PackedWeights::find(std::string_view name) const {
    const auto found = packed_.find(name);
    return found == packed_.end() ? nullptr : &found->second.tensor;
}

TensorContents PackedWeights::contents(std::string_view name) const {
    const Packed& packed = packed_.find(name)->second;
    const std::vector<int64_t>& shape = packed.tensor.shape;
    return Rows(packed).rows(0, shape.empty() ? 1 : shape.front());
}

std::unique_ptr<import::TensorRows> PackedWeights::open_rows(std::string_view name) const {
    const Packed& packed = packed_.find(name)->second;
    if (!packed.copy->are_rows()) return WeightSource::open_rows(name);
    return std::make_unique<Rows>(packed);
}

std::vector<std::string> PackedWeights::names() const {
    std::vector<std::string> names;
    for (const auto& [name, packed] : packed_) names.push_back(name);
    return names;
}

}  // namespace tessera::compiler
