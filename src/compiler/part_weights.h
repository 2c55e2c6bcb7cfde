#pragma once

#include <map>
#include <string>

#include "distribution/spmd/shard.h"
#include "import/weights.h"

namespace tessera::compiler {

/// The parts of constants that a rank holds, cut out of the whole ones when they are asked for.
class PartWeights : public import::WeightSource {
public:
    /// @pre all outlive this @param local of the rank, of the graph
    PartWeights(const import::WeightSource& whole, const Graph& graph, const spmd::LocalGraph& local,
                std::string where);

    const import::StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    import::TensorContents contents(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    struct Part {
        import::StoredTensor tensor;
        spmd::ConstantPart part;
        int64_t repetition;
    };

    const import::WeightSource& whole_;
    const Graph& graph_;
    std::string where_;
    std::map<std::string, Part, std::less<>> parts_;  ///< by source
};

/// The elements of a row-major tensor in these ranges, for elements of any number of bits; whole bytes in
/// all.
std::vector<std::byte> cut_out(std::span<const std::byte> whole, std::span<const int64_t> shape,
                               std::span<const facts::Range> ranges, int element_bits);

}  // namespace tessera::compiler
