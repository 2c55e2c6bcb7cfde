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

int64_t least_preload(const ScheduleProblem& problem, size_t position) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const Row& row : problem.at(position).rows)
        if (problem.is_usable(row)) least = std::min(least, row.preload_bytes);
    return least;
}

/// Positions of a stretch with a preload above the average of the stretch, at most `most`, in their order.
std::vector<size_t> heavy_positions(const std::vector<int64_t>& bytes, size_t first, size_t length,
                                    size_t most) {
    double sum = 0;
    for (size_t i = first; i < first + length; ++i) sum += static_cast<double>(bytes[i]);
    std::vector<size_t> heavy;
    for (size_t i = first; i < first + length; ++i)
        if (static_cast<double>(bytes[i]) * static_cast<double>(length) > sum) heavy.push_back(i);
    std::stable_sort(heavy.begin(), heavy.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
    if (heavy.size() > most) heavy.resize(most);
    std::sort(heavy.begin(), heavy.end());
    return heavy;
}

}  // namespace

std::vector<std::vector<size_t>> preload_orders(const ScheduleProblem& problem, const OrderOptions& options) {
    std::vector<int64_t> bytes;
    for (size_t i = 0; i < problem.size(); ++i) bytes.push_back(least_preload(problem, i));
    std::vector<size_t> in_order(problem.size());
    std::iota(in_order.begin(), in_order.end(), size_t{0});
    Repeat layer{0, problem.size(), 1};
    for (const Repeat& repeat : problem.repeats)
        if (repeat.length * repeat.count > layer.length * layer.count || layer.count == 1) layer = repeat;

    const std::vector<size_t> heavy =
        heavy_positions(bytes, layer.first, layer.length, options.most_operators);
    std::vector<int64_t> heavy_bytes;
    for (const size_t i : heavy) heavy_bytes.push_back(bytes[i]);
    std::vector<std::vector<size_t>> orders = {in_order};
    for (const auto& permuted : OrderTree(heavy_bytes, problem.sram_bytes, options.most_orders).run()) {
        std::vector<size_t> order = in_order;
        for (size_t c = 0; c < layer.count; ++c)
            for (size_t h = 0; h < heavy.size(); ++h)
                order[heavy[h] + c * layer.length] = heavy[permuted[h]] + c * layer.length;
        if (order != in_order) orders.push_back(std::move(order));
    }
    return orders;
}

}  // namespace tessera::chip
