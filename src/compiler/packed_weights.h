#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/part_place.h"
#include "import/weights.h"
#include "ir/graph.h"
#include "plan/plan.h"
#include "runtime/artefact.h"

namespace tessera::compiler {

/// The weights of an artefact in the form that a checkpoint has, so that they can be packed for another
/// machine. One constant at a time is unpacked: a span of `find` lives until `find` is asked for another
/// name. Not to be used by two threads at once.
class PackedWeights : public import::WeightSource {
public:
    /// `graph` and `plan` are those of the artefact.
    /// @throws Error if its section of constants is not the one that they describe.
    PackedWeights(std::shared_ptr<const runtime::Artefact> artefact, const Graph& graph,
                  const plan::Plan& plan);

    const import::StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    void release(std::string_view) const override {}

private:
    /// A source: one repetition of a constant as it lies in the artefact, or a part of one.
    struct Packed {
        ElementType element = ElementType::kF32;
        std::vector<int64_t> shape;              ///< of the source
        std::vector<int64_t> whole_shape;        ///< of the constant
        std::optional<import::PartPlace> place;  ///< empty: they are the same
        Layout layout;
        std::span<const std::byte> bytes;
    };

    std::shared_ptr<const runtime::Artefact> artefact_;
    std::map<std::string, Packed, std::less<>> packed_;  ///< by source
    mutable std::string current_;
    mutable std::vector<std::byte> unpacked_;
    mutable import::StoredTensor tensor_;
};

}  // namespace tessera::compiler
