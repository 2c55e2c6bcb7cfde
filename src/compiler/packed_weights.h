#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/layout_copy.h"
#include "import/part_place.h"
#include "import/weights.h"
#include "ir/graph.h"
#include "lowering/plan/plan.h"
#include "run/runtime/artefact.h"

namespace tessera::compiler {

/// The weights of an artefact in the form that a checkpoint has, so that they can be packed for another
/// machine.
class PackedWeights : public import::WeightSource {
public:
    /// `graph` and `plan` are those of the artefact.
    /// @throws Error if its section of constants is not the one that they describe.
    PackedWeights(std::shared_ptr<const runtime::Artefact> artefact, const Graph& graph,
                  const plan::Plan& plan);

    const import::StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    import::TensorContents contents(std::string_view name) const override;
    std::unique_ptr<import::TensorRows> open_rows(std::string_view name) const override;
    void release(std::string_view) const override {}

private:
    /// A source: one repetition of a constant as it lies in the artefact, or a part of one.
    struct Packed {
        import::StoredTensor tensor;
        std::shared_ptr<const LayoutCopy> copy;  ///< of the constant
        std::span<const std::byte> bytes;        ///< of the constant, packed
        int64_t first_row = 0;                   ///< of the part in the constant
        std::optional<import::PartPlace> turns;  ///< with other parts in every row; empty: it has whole rows
    };
    class Rows;

    std::shared_ptr<const runtime::Artefact> artefact_;
    std::map<std::string, Packed, std::less<>> packed_;  ///< by source
};

}  // namespace tessera::compiler
