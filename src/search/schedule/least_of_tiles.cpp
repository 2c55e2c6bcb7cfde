#include "search/schedule/least_of_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using lowering::TiledKernel;

/// Numbers of a table, at most: what an operator costs is a table over all loops around it if that has no
/// more, else a product of tables.
constexpr size_t kMostNumbers = 4096;

/// Seconds of a part that no leaf computes: longer than any kernel, and products of it stay finite.
constexpr double kForbidden = 1e9;

constexpr int kNone = -1;

class LeastOfTiles {
public:
    LeastOfTiles(const BlockContext& block, NumberedNest nest, const std::vector<bool>& is_tile,
                 std::span<const double> least)
        : block_(block), nest_(std::move(nest)), is_tile_(is_tile), least_(least) {}

    std::optional<tiles::Problem> run() {
        if (has_given_tiles(nest_)) return std::nullopt;
        variables_ = whole_tiles(block_, nest_, is_tile_);
        whole_ = lowering::tiled_kernel(block_.links, nest_, is_tile_);
        if (!whole_.is_legal() || variables_.empty()) return std::nullopt;
        find_structure();
        tiles::Problem problem{
            .name = "least", .variables = {}, .constraints = {}, .multiples = {}, .objective = {}};
        for (size_t v = 0; v < variables_.size(); ++v) {
            problem.variables.push_back({fmt::format("tile{}", v), variables_[v].sizes});
            if (outer_[v] == kNone) continue;
            tiles::Term quotient;
            quotient.powers = {{v, 1}, {static_cast<size_t>(outer_[v]), -1}};
            problem.constraints.push_back({{fmt::format("inside{}", v), {quotient}}, 1});
        }
        tiles::Sum seconds{"seconds", {}}, apart{"apart", {}};
        for (size_t i = 0; i < whole_.operators.size(); ++i) {
            add_operator(i, seconds.terms);
            if (const double alone = least_[op_at(i)]; alone > 0) {
                tiles::Term& term = apart.terms.emplace_back();
                term.coefficient = alone;
            }
        }
        problem.objective = {std::move(seconds), std::move(apart)};
        return problem;
    }

private:
    static bool has_given_tiles(const NumberedNest& nest) {
        return std::ranges::any_of(
                   nest.loops, [](const NumberedNest::Loop& loop) { return loop.tile != plan::kOpenTile; }) ||
               std::ranges::any_of(nest.items, [](const NumberedNest::Item& item) {
                   const auto* inner = std::get_if<NumberedNest>(&item);
                   return inner && has_given_tiles(*inner);
               });
    }

    size_t op_at(size_t i) const { return static_cast<size_t>(whole_.operators[i].op); }
    size_t points() const { return block_.evaluator.points().size(); }

    /// An operator under the loops around it.
    struct Around {
        std::vector<int> loops = {};  ///< variables
        std::vector<int> cuts = {};   ///< by iterator: the innermost variable that cuts it; kNone
    };

    /// Which loops stand around which operators, and which iterators they cut: each loop by itself.
    void find_structure() {
        around_.resize(whole_.operators.size());
        for (size_t i = 0; i < around_.size(); ++i)
            around_[i].cuts.assign(whole_.operators[i].ranges.size(), kNone);
        for (size_t v = 0; v < variables_.size(); ++v) {
            const OpenTile& variable = variables_[v];
            variable.loop->tile = variable.sizes.front();
            const TiledKernel alone = lowering::tiled_kernel(block_.links, nest_, is_tile_);
            variable.loop->tile = variable.sizes.back();
            const lowering::TiledLoop& loop = alone.loops.front();
            const auto root = static_cast<size_t>(
                std::ranges::find(whole_.operators, loop.op, &lowering::TiledOperator::op) -
                whole_.operators.begin());
            roots_.push_back(root);
            iterators_.push_back(static_cast<size_t>(loop.iterator));
            outer_.push_back(around_[root].cuts[iterators_.back()]);
            for (size_t i = 0; i < around_.size(); ++i) {
                if (alone.operators[i].loops.empty()) continue;
                around_[i].loops.push_back(static_cast<int>(v));
                for (size_t x = 0; x < around_[i].cuts.size(); ++x)
                    if (alone.operators[i].ranges[x].loop >= 0) around_[i].cuts[x] = static_cast<int>(v);
            }
        }
        const std::vector<cost::Evaluator::Part> parts = block_.evaluator.parts(whole_);
        for (size_t i = 0; i < around_.size(); ++i)
            for (size_t p = 0; p < points(); ++p)
                extents_.emplace_back(
                    block_.evaluator.extents(static_cast<int>(op_at(i)), parts[i].extents[p]));
    }

    const std::vector<int64_t>& extents(size_t i, size_t point) const {
        return extents_[i * points() + point];
    }

    /// Values of one trip of a loop.
    int64_t size(size_t v, int64_t tile, size_t point) const {
        return std::min(tile, extents(roots_[v], point)[iterators_[v]]);
    }

    /// The terms of an operator.
    void add_operator(size_t i, std::vector<tiles::Term>& terms) {
        // Trips are sizes around by sizes: the exponent of each variable's size in their product.
        std::vector<int> exponents(variables_.size());
        std::vector<size_t> outermost;
        for (const int v : around_[i].loops) {
            --exponents[static_cast<size_t>(v)];
            if (const int outer = outer_[static_cast<size_t>(v)]; outer != kNone)
                ++exponents[static_cast<size_t>(outer)];
            else
                outermost.push_back(static_cast<size_t>(v));
        }
        std::set<size_t> own, all;
        for (const int v : around_[i].cuts)
            if (v != kNone) own.insert(static_cast<size_t>(v));
        all = own;
        for (size_t v = 0; v < exponents.size(); ++v)
            if (exponents[v] != 0) all.insert(v);
        const bool is_whole = numbers_of(all) <= kMostNumbers;
        if (!is_whole && numbers_of(own) > kMostNumbers) return;
        const std::vector<size_t> tabulated =
            is_whole ? std::vector(all.begin(), all.end()) : std::vector(own.begin(), own.end());
        std::vector<tiles::Table> by_point;
        for (size_t p = 0; p < points(); ++p) {
            double trips = 1;
            for (const size_t v : outermost)
                trips *= static_cast<double>(extents(roots_[v], p)[iterators_[v]]);
            by_point.push_back(table(i, p, trips, tabulated, exponents));
            if (is_whole) continue;
            tiles::Term& term = terms.emplace_back();
            term.tables.push_back(std::move(by_point.back()));
            for (const size_t v : all)
                if (!own.contains(v)) term.tables.push_back(sizes_to_the(v, p, exponents[v]));
        }
        if (!is_whole) return;
        tiles::Table sum{tabulated, std::vector<double>(numbers_of(all))};
        for (size_t at = 0; at < sum.numbers.size(); ++at) {
            for (const tiles::Table& each : by_point) sum.numbers[at] += each.numbers[at];
            sum.numbers[at] = std::max(sum.numbers[at], least_[op_at(i)]);
        }
        terms.emplace_back().tables.push_back(std::move(sum));
    }

    size_t numbers_of(const std::set<size_t>& variables) const {
        size_t numbers = 1;
        for (const size_t v : variables)
            numbers = std::min(numbers * variables_[v].sizes.size(), kMostNumbers + 1);
        return numbers;
    }

    tiles::Table sizes_to_the(size_t v, size_t point, int exponent) const {
        tiles::Table table{{v}, {}};
        for (const int64_t tile : variables_[v].sizes)
            table.numbers.push_back(std::pow(static_cast<double>(size(v, tile, point)), exponent));
        return table;
    }

    /// Seconds at a point, by its weight, but for trips of loops that have no place in the table.
    tiles::Table table(size_t i, size_t point, double trips, const std::vector<size_t>& tabulated,
                       const std::vector<int>& exponents) {
        tiles::Table made{tabulated, {}};
        std::vector<int64_t> tiles(variables_.size());
        std::vector<size_t> at(tabulated.size());
        for (;;) {
            double executions = trips;
            for (size_t t = 0; t < tabulated.size(); ++t) {
                const size_t v = tabulated[t];
                tiles[v] = variables_[v].sizes[at[t]];
                executions *= std::pow(static_cast<double>(size(v, tiles[v], point)), exponents[v]);
            }
            std::vector<int64_t> of_call = extents(i, point);
            for (size_t x = 0; x < of_call.size(); ++x)
                if (const int v = around_[i].cuts[x]; v != kNone)
                    of_call[x] = std::min(of_call[x],
                                          size(static_cast<size_t>(v), tiles[static_cast<size_t>(v)], point));
            made.numbers.push_back(std::min(kForbidden, executions * seconds_of_call(i, point, of_call)));
            size_t t = tabulated.size();
            while (t > 0 && ++at[t - 1] == variables_[tabulated[t - 1]].sizes.size()) at[--t] = 0;
            if (t == 0) return made;
        }
    }

    /// The least of one call, which is one of all workers' or the share of one worker of all iterations.
    double seconds_of_call(size_t i, size_t point, const std::vector<int64_t>& of_call) {
        const int64_t workers = block_.evaluator.workers();
        double best = least_of_leaves(i, point, of_call) / static_cast<double>(workers);
        for (size_t x = 0; x < of_call.size() && workers > 1; ++x) {
            const int64_t extent = extents(i, point)[x], share = (extent + workers - 1) / workers;
            if (extent < 2 || of_call[x] <= share) continue;
            std::vector<int64_t> cut = of_call;
            cut[x] = share;
            const double trips = static_cast<double>(extent) / static_cast<double>(of_call[x]);
            best = std::min(best, least_of_leaves(i, point, cut) / trips);
        }
        const auto& ends = block_.links.operators[op_at(i)].ends;
        const bool is_stopped = std::ranges::any_of(ends, [](const auto& end) { return end.has_value(); });
        // A predicate leaves out half of a reduction, at most (OfKernel::executed_share).
        return is_stopped ? best / 2 : best;
    }

    double least_of_leaves(size_t i, size_t point, const std::vector<int64_t>& of_call) {
        const auto op = op_at(i);
        return block_.evaluator.least_of_call(static_cast<int>(op), point, of_call, block_.leaves[op]);
    }

    const BlockContext& block_;
    NumberedNest nest_;
    const std::vector<bool>& is_tile_;
    const std::span<const double> least_;
    std::vector<OpenTile> variables_;
    TiledKernel whole_;
    std::vector<Around> around_;             ///< by operator of the kernel
    std::vector<size_t> roots_, iterators_;  ///< by variable: what its loop runs over
    std::vector<int> outer_;  ///< by variable: the loop around it over the same iterator; kNone
    std::vector<std::vector<int64_t>> extents_;  ///< by operator and point
};

}  // namespace

std::optional<tiles::Problem> least_of_tiles(const BlockContext& block, NumberedNest nest,
                                             const std::vector<bool>& is_tile,
                                             std::span<const double> least) {
    return LeastOfTiles(block, std::move(nest), is_tile, least).run();
}

}  // namespace tessera::schedule
