#include "chip/preload_orders.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tessera::chip {
namespace {

/// The orders of a few operators, as a suffix tree: the last preload is picked first.
class OrderTree {
public:
    /// `bytes`: of each operator at least, in the order of execution.
    OrderTree(std::vector<int64_t> bytes, int64_t sram_bytes, size_t most)
        : bytes_(std::move(bytes)), sram_bytes_(sram_bytes), most_(most), is_picked_(bytes_.size(), false) {}

    std::vector<std::vector<size_t>> run() {
        pick();
        return std::move(orders_);
    }

private:
    void pick() {
        if (orders_.size() >= most_) return;
        if (suffix_.size() == bytes_.size()) {
            orders_.emplace_back(suffix_.rbegin(), suffix_.rend());
            return;
        }
        // Those that are executed after the picked one and not yet picked are preloaded before it, so they
        // are held together with it.
        int64_t held = 0;
        for (size_t x = bytes_.size(); x-- > 0;) {
            if (is_picked_[x]) continue;
            held += bytes_[x];
            if (held > sram_bytes_) return;
            is_picked_[x] = true;
            suffix_.push_back(x);
            pick();
            suffix_.pop_back();
            is_picked_[x] = false;
        }
    }

    std::vector<int64_t> bytes_;
    int64_t sram_bytes_;
    size_t most_;
    std::vector<bool> is_picked_;
    std::vector<size_t> suffix_;
    std::vector<std::vector<size_t>> orders_;
};

/// Positions with a preload above the average, at most `most`, in their order.
std::vector<size_t> heavy_positions(const std::vector<int64_t>& bytes, size_t most) {
    double sum = 0;
    for (const int64_t each : bytes) sum += static_cast<double>(each);
    std::vector<size_t> heavy;
    for (size_t i = 0; i < bytes.size(); ++i)
        if (static_cast<double>(bytes[i]) * static_cast<double>(bytes.size()) > sum) heavy.push_back(i);
    std::stable_sort(heavy.begin(), heavy.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
    if (heavy.size() > most) heavy.resize(most);
    std::sort(heavy.begin(), heavy.end());
    return heavy;
}

/// The layers: the copies of the repeat with the most positions, or the whole sequence.
std::optional<size_t> layers_of(const ScheduleProblem& problem) {
    std::optional<size_t> best;
    const auto length = [&](size_t r) { return problem.repeats[r].length * problem.repeats[r].count; };
    for (size_t r = 0; r < problem.repeats.size(); ++r)
        if (!best || length(r) > length(*best)) best = r;
    return best;
}

Repeat layers(const ScheduleProblem& problem, std::optional<size_t> repeat) {
    return repeat ? problem.repeats[*repeat] : Repeat{0, problem.size(), 1};
}

}  // namespace

int64_t least_preload(const ScheduleProblem& problem, size_t position) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const Row& row : problem.at(position).rows)
        if (problem.is_usable(row)) least = std::min(least, row.preload_bytes);
    return least;
}

PreloadOrders preload_orders(const ScheduleProblem& problem, const OrderOptions& options) {
    PreloadOrders result{.repeat = layers_of(problem), .heavy = {}, .orders = {}};
    const Repeat layer = layers(problem, result.repeat);
    std::vector<int64_t> bytes;
    for (size_t i = 0; i < layer.length; ++i) bytes.push_back(least_preload(problem, layer.first + i));
    result.heavy = heavy_positions(bytes, options.most_operators);
    std::vector<int64_t> heavy_bytes;
    for (const size_t i : result.heavy) heavy_bytes.push_back(bytes[i]);
    std::vector<size_t> in_order(result.heavy.size());
    std::iota(in_order.begin(), in_order.end(), size_t{0});
    result.orders = OrderTree(heavy_bytes, problem.sram_bytes, options.most_orders).run();
    // In its own order an operator fits wherever it fits alone, so this one is among them.
    const auto own = std::find(result.orders.begin(), result.orders.end(), in_order);
    std::rotate(result.orders.begin(), own, own == result.orders.end() ? own : own + 1);
    return result;
}

std::vector<size_t> positions_by_order(const ScheduleProblem& problem, const PreloadOrders& orders,
                                       const std::vector<size_t>& order) {
    std::vector<size_t> positions(problem.size());
    std::iota(positions.begin(), positions.end(), size_t{0});
    const Repeat layer = layers(problem, orders.repeat);
    for (size_t c = 0; c < layer.count; ++c)
        for (size_t h = 0; h < order.size(); ++h)
            positions[layer.first + c * layer.length + orders.heavy[h]] =
                layer.first + c * layer.length + orders.heavy[order[h]];
    return positions;
}

size_t edit_distance(const std::vector<size_t>& order) {
    size_t swaps = 0;
    for (size_t a = 0; a < order.size(); ++a)
        for (size_t b = a + 1; b < order.size(); ++b) swaps += order[a] > order[b] ? 1 : 0;
    return swaps;
}

}  // namespace tessera::chip
