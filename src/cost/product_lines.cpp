// Lines of the caches that the calls of a product read more often than its table of times tells.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/evaluated_kernel.h"
#include "cost/row_blocks.h"
#include "cost/shared_sets.h"
#include "ir/iterator_use.h"

namespace tessera::cost {

using lowering::TiledOperator;

double Evaluator::OfKernel::panel_seconds(const TiledOperator& tiled, const NumberedLeaf& leaf,
                                          Extents extents, const std::vector<bool>& is_tile) const {
    // The share of the latency of the second cache that each line takes, its loads being in flight together:
    // 1.2 of 4 ns on a Zen 5, for the product of 2,048 columns of F32 with blocks of 4, 8 and 12 rows.
    constexpr double kShareOfLatency = 0.3;
    if (leaf.n < 0 || leaf.leaf.kernel->unit == machine::UnitKind::kMatrix) return 0;
    const lowering::BlockLinks::Operator& links = evaluator_.links_.operators[static_cast<size_t>(tiled.op)];
    const size_t near = evaluator_.model_.near_level();
    const int64_t line = evaluator_.model_.machine().cache_line_bytes;
    const double of_line = std::max(kShareOfLatency * evaluator_.model_.latency_seconds(near),
                                    static_cast<double>(line) * rate(near));
    double seconds = 0;
    for (const int t : leaf.streamed) {
        const Tensor& tensor = facts(tiled).tensors[static_cast<size_t>(t)];
        if (tensor.axes.size() < 2 || tensor.axes.back() != leaf.n) continue;
        const Extents whole = is_in_tiles(tiled, tensor, is_tile)
                                  ? within(tiled, common_loops(tiled, tensor))
                                  : Extents(facts(tiled).points[point_].extents);
        const int64_t all = extents[static_cast<size_t>(leaf.n)], columns = std::min(leaf.columns, all);
        const auto bytes = [&](int64_t elements) {
            return static_cast<int64_t>(static_cast<double>(elements) * tensor.bytes_each);
        };
        int64_t pieces = 1, panels = (all + columns - 1) / columns;
        for (const int x : tensor.axes)
            if (x != leaf.n) (links.is_reduction(x) ? pieces : panels) *= extents[static_cast<size_t>(x)];
        if (!exceed_shared_sets(pieces, bytes(whole[static_cast<size_t>(leaf.n)]), bytes(columns),
                                static_cast<int64_t>(evaluator_.capacity_[0]), line))
            continue;
        double blocks = 0;
        const int64_t rows = leaf.m < 0 ? 1 : extents[static_cast<size_t>(leaf.m)];
        for (const auto& [size, count] : RowBlocks{.rows = leaf.rows}.cut(rows))
            blocks += static_cast<double>(count);
        const int64_t lines = panels * pieces * ((bytes(columns) + line - 1) / line);
        seconds += blocks * static_cast<double>(lines) * of_line;
    }
    return seconds;
}

double Evaluator::OfKernel::row_seconds(const TiledOperator& tiled, const NumberedLeaf& leaf, Extents extents,
                                        const std::vector<bool>& is_tile) const {
    if (leaf.m < 0 || leaf.n < 0 || leaf.leaf.kernel->unit == machine::UnitKind::kMatrix) return 0;
    const int64_t line = evaluator_.model_.machine().cache_line_bytes;
    const auto m = static_cast<size_t>(leaf.m), n = static_cast<size_t>(leaf.n);
    double calls = executions(tiled, tiled.loops.size());
    std::vector<int64_t> of_call(extents.begin(), extents.end());
    for (size_t x = 0; x < extents.size(); ++x)
        if (x != m && !contains(leaf.sums, static_cast<int>(x))) {
            if (x != n) calls *= static_cast<double>(extents[x]);
            of_call[x] = 1;
        }
    // A block of rows takes the values of the innermost sum after one of the sums around it.
    std::vector<int64_t> of_block = of_call, of_step = of_call;
    of_block[m] = of_step[m] = std::min(leaf.rows, extents[m]);
    double steps = 1;
    for (const int x : leaf.sums)
        if (x != leaf.k) steps *= static_cast<double>(std::exchange(of_step[static_cast<size_t>(x)], 1));
    const double blocks = static_cast<double>(extents[m]) / static_cast<double>(of_block[m]);
    const double panels = std::ceil(static_cast<double>(extents[n]) / static_cast<double>(leaf.columns));
    double seconds = 0;
    for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
        const std::optional<TouchedLines>& touched = facts(tiled).points[point_].lines[t];
        const Tensor& tensor = facts(tiled).tensors[t];
        if (!touched || leaf.streamed.contains(static_cast<int>(t)) || !contains(tensor.iterators, leaf.m) ||
            is_in_tiles(tiled, tensor, is_tile) || touched->bytes(of_call, line) <= evaluator_.capacity_[0])
            continue;
        const double step = touched->bytes(of_step, line);
        const double block =
            2 * step <= evaluator_.capacity_[0] ? touched->bytes(of_block, line) : steps * step;
        const double more = std::max(0.0, blocks * block - bytes(tiled, t, of_call));
        seconds += calls * panels * more * rate(evaluator_.model_.near_level());
    }
    return seconds;
}

}  // namespace tessera::cost
