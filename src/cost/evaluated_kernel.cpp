#include "cost/evaluated_kernel.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "cost/stopped_loops.h"
#include "ir/iterator_use.h"
#include "lowering/kernels/register_blocks.h"
#include "support/error.h"

namespace tessera::cost {

using lowering::TiledKernel;
using lowering::TiledOperator;

double Evaluator::OfKernel::executed_share(int at) const {
    const lowering::TiledLoop& loop = kernel_.loops[static_cast<size_t>(at)];
    const int64_t x = std::max<int64_t>(1, extent_of(loop.op, loop.iterator)), workers = evaluator_.workers_;
    const int64_t tile = sizes_.back(), trips = (x + tile - 1) / tile;
    const double part = loop.is_divided
                            ? static_cast<double>(std::min(x, (trips + workers - 1) / workers * tile)) /
                                  static_cast<double>(x)
                            : 1;
    if (!loop.is_stopped) return part;
    for (int outer = loop.outer; outer >= 0; outer = kernel_.loops[static_cast<size_t>(outer)].outer)
        if (kernel_.loops[static_cast<size_t>(outer)].is_stopped) return part;
    const int y = evaluator_.links_.operators[static_cast<size_t>(loop.op)]
                      .ends[static_cast<size_t>(loop.iterator)]
                      ->grows_with;
    const auto root = std::ranges::find(kernel_.operators, loop.op, &TiledOperator::op);
    if (y < 0 || root == kernel_.operators.end()) return part;
    const auto depth = static_cast<size_t>(std::ranges::find(root->loops, at) - root->loops.begin());
    const StoppedLoop stopped{x, extent_of(loop.op, y), extents(*root, depth)[static_cast<size_t>(y)]};
    return loop.is_divided ? executed_share_of_first(stopped, tile, workers) : cost::executed_share(stopped);
}

int64_t Evaluator::OfKernel::extent(const TiledOperator& tiled, size_t x, size_t depth) const {
    int loop = tiled.ranges[x].loop;
    while (loop >= 0 && depth < tiled.loops.size() && loop >= tiled.loops[depth])
        loop = kernel_.loops[static_cast<size_t>(loop)].outer;
    return loop >= 0 ? sizes_[static_cast<size_t>(loop)]
                     : std::max<int64_t>(1, extent_of(tiled.op, static_cast<int>(x)));
}

std::vector<int64_t> Evaluator::OfKernel::extents(const TiledOperator& tiled, size_t depth) const {
    std::vector<int64_t> found;
    for (size_t x = 0; x < tiled.ranges.size(); ++x) found.push_back(extent(tiled, x, depth));
    return found;
}

void Evaluator::OfKernel::tabulate() {
    size_t extents = 0, tensors = 0;
    places_.reserve(kernel_.operators.size());
    for (const TiledOperator& tiled : kernel_.operators) {
        places_.push_back({extents, 0});
        extents += (tiled.loops.size() + 1) * tiled.ranges.size();
        tensors += facts(tiled).tensors.size();
    }
    extents_.reserve(extents);
    touches_.reserve(tensors);
    for (const TiledOperator& tiled : kernel_.operators) {
        for (size_t depth = 0; depth <= tiled.loops.size(); ++depth)
            for (size_t x = 0; x < tiled.ranges.size(); ++x) extents_.push_back(extent(tiled, x, depth));
        for (const Tensor& tensor : facts(tiled).tensors)
            touches_.push_back({tensor.storage, number_of(tiled)});
    }
    std::ranges::sort(touches_);
    touches_.erase(std::unique(touches_.begin(), touches_.end()), touches_.end());
}

void Evaluator::OfKernel::tabulate_bytes() {
    size_t count = 0;
    for (const TiledOperator& tiled : kernel_.operators) {
        places_[number_of(tiled)].bytes = count;
        count += (tiled.loops.size() + 1) * facts(tiled).tensors.size();
    }
    bytes_.reserve(count);
    for (const TiledOperator& tiled : kernel_.operators)
        for (size_t depth = 0; depth <= tiled.loops.size(); ++depth)
            for (size_t t = 0; t < facts(tiled).tensors.size(); ++t)
                bytes_.push_back(bytes(tiled, t, within(tiled, depth)));
}

double Evaluator::OfKernel::executions(const TiledOperator& tiled, size_t depth) const {
    double count = 1;
    for (size_t j = 0; j < depth; ++j) count *= trips_[static_cast<size_t>(tiled.loops[j])];
    return count;
}

Evaluation Evaluator::OfKernel::evaluate(std::span<const int> leaves, const std::vector<bool>& is_tile) {
    tabulate();
    tabulate_bytes();
    measure_footprints();
    Evaluation sum, here;
    sum.levels.resize(evaluator_.capacity_.size());
    std::vector<int64_t> of_call;
    size_t farthest = 0;
    for (size_t i = 0; i < kernel_.operators.size(); ++i) {
        const TiledOperator& tiled = kernel_.operators[i];
        const plan::Leaf& leaf = evaluator_.leaf(leaves[i]);
        const Extents innermost = within(tiled, tiled.loops.size());
        of_call.assign(innermost.begin(), innermost.end());
        if (leaf.kernel->combines_parts) only_parts(tiled.op, of_call);
        const LeafCost& price = evaluator_.price(leaves[i], evaluator_.number_of_extents(tiled.op, of_call));
        if (!price.why_infinite.empty() && sum.why_infinite.empty())
            sum.why_infinite =
                fmt::format("{}: {}", evaluator_.links_.operators[static_cast<size_t>(tiled.op)].node->name,
                            price.why_infinite);
        const Definition& definition =
            *evaluator_.links_.operators[static_cast<size_t>(tiled.op)].node->definition();
        const NumberedLeaf& numbered = evaluator_.leaves_[static_cast<size_t>(leaves[i])];
        const std::set<int>& streamed = numbered.streamed;
        here.stalls = 0;
        here.levels.assign(sum.levels.size(), 0);
        farthest = std::max(farthest, transfer(tiled, numbered, definition, price, is_tile, here));
        // A product's time holds with its data in the near level, that of other operators with it in L1.
        double waiting = 0;
        for (size_t level = 0; level < sum.levels.size(); ++level) {
            if (level <= (streamed.empty() ? 0 : evaluator_.model_.near_level())) continue;
            const double seconds = here.levels[level] * rate(level);
            sum.levels[level] += seconds;
            waiting += seconds;
        }
        const double calls = executions(tiled, tiled.loops.size());
        const double near =
            std::max(seconds_of(price), panel_seconds(tiled, numbered, innermost, is_tile)) * calls +
            row_seconds(tiled, numbered, innermost, is_tile);
        sum.compute += near;
        sum.calls += calls;
        sum.stalls += here.stalls;
        sum.seconds += std::max(near + here.stalls, waiting);
    }
    // The first loads of a kernel wait for each other no longer than the farthest of them takes; those that
    // follow are fetched ahead, and no store is waited for.
    const double first = evaluator_.model_.latency_seconds(farthest);
    sum.stalls += first;
    sum.seconds += first;
    if (evaluator_.published_) price_as_published(is_tile, sum);
    if (!sum.why_infinite.empty()) sum.seconds = std::numeric_limits<double>::infinity();
    return sum;
}

void Evaluator::OfKernel::only_parts(int op, std::vector<int64_t>& extents) const {
    for (size_t x = 0; x < extents.size(); ++x)
        if (evaluator_.links_.operators[static_cast<size_t>(op)].is_reduction(static_cast<int>(x)))
            extents[x] = evaluator_.workers_;
}

void Evaluator::OfKernel::for_each_touched(
    const std::vector<bool>& is_tile,
    const std::function<void(int storage, double bytes, bool is_result)>& visit) const {
    for (const TiledOperator& tiled : kernel_.operators) {
        for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
            const Tensor& tensor = facts(tiled).tensors[t];
            if (!is_in_tiles(tiled, tensor, is_tile))
                visit(tensor.storage, bytes(tiled, t, extents(tiled, 0)), tensor.is_result);
        }
    }
}

double Evaluator::OfKernel::buffer_bytes(const std::vector<bool>& is_tile) {
    if (std::ranges::none_of(kernel_.operators, [&](const TiledOperator& tiled) {
            return is_tile[static_cast<size_t>(tiled.op)];
        }))
        return 0;
    tabulate();
    double sum = 0;
    for (const TiledOperator& tiled : kernel_.operators) {
        if (!is_tile[static_cast<size_t>(tiled.op)]) continue;
        for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
            const Tensor& tensor = facts(tiled).tensors[t];
            if (tensor.is_result) sum += bytes(tiled, t, within(tiled, common_loops(tiled, tensor)));
        }
    }
    return sum;
}

double Evaluator::OfKernel::tile_bytes() const {
    std::vector<double> most(evaluator_.storages_.size());
    for (const TiledOperator& tiled : kernel_.operators) {
        const std::vector<int64_t> innermost = extents(tiled, tiled.loops.size());
        for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
            double& of_storage = most[static_cast<size_t>(facts(tiled).tensors[t].storage)];
            of_storage = std::max(of_storage, bytes(tiled, t, innermost));
        }
    }
    return std::accumulate(most.begin(), most.end(), 0.0);
}

void Evaluator::OfKernel::for_each_buffer(
    const std::vector<bool>& is_tile,
    const std::function<void(const Tensor& tensor, double bytes, double footprint)>& visit) {
    tabulate();
    tabulate_bytes();
    measure_footprints();
    for (const TiledOperator& tiled : kernel_.operators) {
        if (!is_tile[static_cast<size_t>(tiled.op)]) continue;
        for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
            const Tensor& tensor = facts(tiled).tensors[t];
            if (!tensor.is_result) continue;
            const size_t depth = common_loops(tiled, tensor);
            visit(tensor, bytes_within(tiled, t, depth), footprint(tiled, depth));
        }
    }
}

double Evaluator::OfKernel::bytes(const TiledOperator& tiled, size_t tensor, Extents extents) const {
    const AtPoint& here = facts(tiled).points[point_];
    return std::min(facts(tiled).tensors[tensor].bytes(extents) * here.padding[tensor], here.whole[tensor]);
}

void Evaluator::OfKernel::measure_footprints() {
    footprints_.assign(kernel_.loops.size() + 1, 0);
    std::pmr::vector<double> touched(evaluator_.storages_.size(), &memory_);  // 0: not yet
    std::pmr::vector<int> order(&memory_);
    order.reserve(touches_.size());
    for (size_t loop = 0; loop <= kernel_.loops.size(); ++loop) {
        const bool is_whole = loop == kernel_.loops.size();
        for (const TiledOperator& tiled : kernel_.operators) {
            const auto at = std::ranges::find(tiled.loops, static_cast<int>(loop));
            if (!is_whole && at == tiled.loops.end()) continue;
            const size_t depth = is_whole ? 0 : static_cast<size_t>(at - tiled.loops.begin()) + 1;
            for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
                const int storage = facts(tiled).tensors[t].storage;
                const double size = bytes_within(tiled, t, depth);
                double& most = touched[static_cast<size_t>(storage)];
                if (most == 0) order.push_back(storage);
                most = std::max(most, size);
            }
        }
        for (const int storage : order)
            footprints_[loop] += std::exchange(touched[static_cast<size_t>(storage)], 0);
        order.clear();
    }
}

bool Evaluator::OfKernel::runs_with(const TiledOperator& tiled, const Tensor& tensor, int loop) const {
    return std::ranges::any_of(tensor.iterators,
                               [&](int x) { return lowering::changes(kernel_, loop, tiled, x); });
}

bool Evaluator::OfKernel::folds(const TiledOperator& tiled, int loop) const {
    const lowering::BlockLinks::Operator& op = evaluator_.links_.operators[static_cast<size_t>(tiled.op)];
    for (int x = 0; x < static_cast<int>(tiled.ranges.size()); ++x)
        if (op.is_reduction(x) && lowering::changes(kernel_, loop, tiled, x)) return true;
    return false;
}

template <typename Move>
void Evaluator::OfKernel::transfer_inside(const TiledOperator& tiled, const NumberedLeaf& leaf, size_t t,
                                          Extents extents, const Move& move) const {
    if (leaf.n < 0 || contains(facts(tiled).tensors[t].iterators, leaf.n)) return;
    const int64_t all = extents[static_cast<size_t>(leaf.n)], columns = leaf.columns;
    if (all <= columns) return;
    std::vector<int64_t> group(extents.begin(), extents.end());
    group[static_cast<size_t>(leaf.n)] = columns;
    double footprint = 0;
    for (size_t other = 0; other < facts(tiled).tensors.size(); ++other)
        footprint += bytes(tiled, other, group);
    const double again =
        (static_cast<double>(all) / static_cast<double>(columns) - 1) * executions(tiled, tiled.loops.size());
    move(evaluator_.level_of(footprint), again * bytes(tiled, t, extents));
}

double Evaluator::OfKernel::waits_for_runs(const TiledOperator& tiled, const NumberedLeaf& leaf,
                                           const Tensor& tensor) const {
    // The lines of a run that are not fetched ahead. Rotated queries of 512 tokens, 16 of 64 elements at a
    // time, took 348 us on a Zen 5, and 119 by whole rows.
    constexpr double kFirstLines = 1.5;
    const auto line = static_cast<double>(evaluator_.model_.machine().cache_line_bytes);
    const Extents innermost = within(tiled, tiled.loops.size()), whole = facts(tiled).points[point_].extents;
    std::vector<int64_t> extents(innermost.begin(), innermost.end());
    if (!tensor.is_result)  // operands of a product are read by register blocks
        for (const auto& [x, most] : {std::pair{leaf.m, leaf.rows}, {leaf.n, leaf.columns}})
            if (x >= 0) extents[static_cast<size_t>(x)] = std::min(extents[static_cast<size_t>(x)], most);
    return kFirstLines / std::max(1.0, tensor.run_bytes(extents, whole, line) / line);
}

double Evaluator::OfKernel::waits_for_pieces(const TiledOperator& tiled, size_t t, size_t level) const {
    // Prefetchers begin anew in each piece. Of 512 MB a Zen 4 read 10 GB/s in pieces of up to 8 KiB that lie
    // 32 KiB apart, 14 in pieces of 16 KiB, 21 in those of 64 KiB, and 26 in the order of addresses.
    constexpr double kMost = 1.6, kLatencies = 3.5;
    if (!facts(tiled).points[point_].lines[t]) return 0;  // pages, say, that are found by their numbers
    const auto line = static_cast<double>(evaluator_.model_.machine().cache_line_bytes);
    const double run = facts(tiled).tensors[t].run_bytes(within(tiled, tiled.loops.size()),
                                                         facts(tiled).points[point_].extents, line);
    const double seconds = run * rate(level);
    return seconds > 0 ? std::min(kMost, kLatencies * evaluator_.model_.latency_seconds(level) / seconds) : 0;
}

double Evaluator::OfKernel::share_ahead(const LeafCost& price, size_t level) const {
    const double latency = evaluator_.model_.latency_seconds(level);
    return latency > 0 ? std::min(1.0, price.ahead_seconds / latency) : 1;
}

size_t Evaluator::OfKernel::transfer(const TiledOperator& tiled, const NumberedLeaf& numbered,
                                     const Definition& definition, const LeafCost& price,
                                     const std::vector<bool>& is_tile, Evaluation& sum) const {
    const plan::Leaf& leaf = numbered.leaf;
    size_t farthest = 0;
    const size_t depth = tiled.loops.size();
    const Extents innermost = within(tiled, depth);
    // Few rows read B as fast as it was measured, but for what loops cut into pieces.
    const bool has_few_rows =
        numbered.m < 0 ||
        facts(tiled).points[point_].extents[static_cast<size_t>(numbered.m)] <= kernels::kFewRows;
    const bool waits_for_b = price.first_seconds > 0 && !has_few_rows;
    double waited = 0, fetched_ahead = 0;  // seconds for B
    for (size_t t = 0; t < facts(tiled).tensors.size(); ++t) {
        const Tensor& tensor = facts(tiled).tensors[t];
        if (definition.tensors[t].role == Role::kIndex) continue;
        if (leaf.kernel->combines_parts) {
            const double parts =
                static_cast<double>(evaluator_.workers_) * facts(tiled).points[point_].whole[t];
            if (tensor.is_result)
                sum.levels[evaluator_.level_of(parts)] += executions(tiled, depth) *
                                                          static_cast<double>(evaluator_.workers_) *
                                                          bytes_within(tiled, t, depth);
            continue;
        }
        const bool is_streamed = numbered.streamed.contains(static_cast<int>(t));
        const auto move = [&](size_t level, double bytes) {
            // A line that is written beyond the core's own caches is read first, and the store waits for it.
            const bool is_read_first = tensor.is_result && level > evaluator_.model_.near_level();
            sum.levels[level] += (is_read_first ? 2 : 1) * bytes;
            if (!tensor.is_result && bytes > 0) farthest = std::max(farthest, level);
            if (is_streamed) {
                sum.stalls += bytes * evaluator_.model_.stall_per_byte(price.stall_per_byte, level,
                                                                       evaluator_.workers_);
                if (waits_for_b && level > evaluator_.model_.near_level()) {
                    const double runs = waits_for_runs(tiled, numbered, tensor);
                    // Behind a short run the lines ahead are others.
                    const double ahead = std::max(0.0, 1 - runs) * share_ahead(price, level);
                    waited += (1 - ahead + runs) * bytes * rate(level);
                    fetched_ahead += ahead * bytes * rate(level);
                }
                if (has_few_rows && level > evaluator_.model_.near_level())
                    sum.stalls += waits_for_pieces(tiled, t, level) * bytes * rate(level);
            }
            if (is_read_first) sum.stalls += 2 * bytes * rate(level);
        };
        size_t first = 0;  // the outermost loop that the tile of a value is inside of
        if (is_in_tiles(tiled, tensor, is_tile)) {
            first = common_loops(tiled, tensor);
            move(evaluator_.level_of(footprint(tiled, first)),
                 executions(tiled, first) * bytes_within(tiled, t, first));
        } else {
            const double whole = facts(tiled).points[point_].whole[t];
            double share = 1;
            for (const int loop : tiled.loops)
                if (runs_with(tiled, tensor, loop)) share *= shares_[static_cast<size_t>(loop)];
            const size_t level = found_in             ? found_in(tensor)
                                 : tensor.is_constant ? evaluator_.constants_
                                                      : evaluator_.level_of(whole);
            const double bytes = share * tensor.lines_read(innermost) * bytes_within(tiled, t, 0);
            move(level, bytes);
            if (!is_streamed && level > evaluator_.model_.near_level())
                sum.stalls += waits_for_runs(tiled, numbered, tensor) * bytes * rate(level);
        }
        for (size_t j = first; j < tiled.loops.size(); ++j) {
            const int loop = tiled.loops[j];
            if (runs_with(tiled, tensor, loop)) continue;
            const double again = (trips_[static_cast<size_t>(loop)] - 1) * executions(tiled, j) *
                                 bytes_within(tiled, t, j + 1);
            const size_t level = evaluator_.level_of(footprints_[static_cast<size_t>(loop)]);
            move(level, again);
            // A product that is folded in parts is loaded before each and stored behind it. The table has
            // times of long reductions; those of a streaming softmax are of short ones.
            if (tensor.is_result && leaf.kernel->product.n && folds(tiled, loop))
                sum.stalls += 2 * again * rate(level);
        }
        transfer_inside(tiled, numbered, t, innermost, move);
    }
    // Only the first block of rows that meets a panel of B computes while it is read.
    if (waits_for_b)
        sum.stalls += waited + std::max(0.0, fetched_ahead - price.first_seconds * executions(tiled, depth));
    return farthest;
}

size_t Evaluator::OfKernel::common_loops(const TiledOperator& tiled, const Tensor& tensor) const {
    size_t common = tiled.loops.size();
    for (auto touch = std::ranges::lower_bound(touches_, Touch{tensor.storage, 0});
         touch != touches_.end() && touch->storage == tensor.storage; ++touch) {
        const std::vector<int>& loops = kernel_.operators[touch->op].loops;
        size_t shared = 0;
        while (shared < common && shared < loops.size() && loops[shared] == tiled.loops[shared]) ++shared;
        common = shared;
    }
    return common;
}

}  // namespace tessera::cost
