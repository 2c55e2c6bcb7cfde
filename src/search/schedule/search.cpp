#include "search/schedule/search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "search/schedule/partition.h"
#include "search/schedule/region_nests.h"
#include "search/schedule/solved_kernels.h"
#include "support/error.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Candidates for each nest of the budget, at most: a value that many operators read is in very many regions.
constexpr size_t kRegionsOfNest = 4;

/// A kernel of several operators counts as this much slower: what it saves must be worth its size.
constexpr double kLarger = 1.001;

/// The best nests of a region with which larger ones are made.
constexpr size_t kKept = 4;

constexpr KernelLimits kNoLimits = {std::numeric_limits<size_t>::max(), std::numeric_limits<int>::max()};

/// Conflicts of an extraction: for each operator of the block, and at least.
constexpr int64_t kConflicts = 100, kLeastConflicts = 5000;

Region without(const Region& region, const Region& part) {
    Region rest;
    std::ranges::set_difference(region, part, std::back_inserter(rest));
    return rest;
}

class BlockSearch {
public:
    BlockSearch(BlockContext& block, const SearchOptions& options)
        : block_(block),
          options_(options),
          order_(block),
          nests_(block, order_),
          solved_(block, options.tiles, options.proof),
          seconds_of_kernel_(solved_.seconds_of_kernel()) {}

    Schedule run() {
        out_.unfused_seconds = solved_.unfused_seconds();
        out_.is_exhausted = true;
        std::vector<Region> alone;
        for (const NumberedNest& kernel : unfused(block_)) {
            const Region region = region_of(kernel);
            known_[region].nests = {{kernel, solved_(kernel)->seconds + seconds_of_kernel_}};
            offer(region);
            alone.push_back(region);
            seconds_of_choice_ += seconds_of(region);
        }
        // These are a choice, should the extraction find no other in its budget.
        const std::optional<std::vector<size_t>> sorted = order_.sorted(alone);
        TESSERA_CHECK(sorted, "stated kernels that wait for each other are refused");
        chosen_ = *sorted;
        solve_regions();
        choose();
        do
            while (options_.grows && grow()) choose();
        while (prove());
        report();
        return std::move(out_);
    }

private:
    struct PricedNest {
        NumberedNest nest;
        double seconds;  ///< with its share of barriers
    };
    /// The knowledge of the kernels of these operators.
    struct Known {
        std::vector<PricedNest> nests;  ///< the best ones, the fastest first
        int64_t solved = 0;
        double apart = kNever;  ///< the least time of its operators in smaller kernels
    };

    bool is_in_budget() {
        const bool is = out_.nests < options_.nests && solved_.priced() < options_.priced;
        out_.is_exhausted = out_.is_exhausted && is;
        return is;
    }

    /// The region with its best nest as a candidate; perhaps it is one already, with a slower nest.
    void offer(const Region& region) {
        const double seconds = known_.at(region).nests.front().seconds;
        const auto [place, is_new] = places_.emplace(region, candidates_.size());
        if (is_new) candidates_.push_back({region, kNever});
        Candidate& candidate = candidates_[place->second];
        has_gained_ = has_gained_ || seconds < candidate.seconds;
        candidate.seconds = std::min(seconds, candidate.seconds);
    }

    /// All regions up to a size, the smaller ones first, and of these the ones that may save most.
    void solve_regions() {
        if (options_.nests == 0) return;
        const size_t most = static_cast<size_t>(options_.nests) * kRegionsOfNest;
        const std::vector<Region> all = regions(block_, order_, options_.region, most);
        out_.is_exhausted = all.size() < most;
        out_.regions = static_cast<int64_t>(all.size());
        for (size_t size = 2, at = 0; size <= options_.region; ++size) {
            struct Promising {
                const Region* region;
                double apart, saved;  ///< at most
            };
            std::vector<Promising> of_size;
            for (; at < all.size() && all[at].size() == size; ++at) {
                const double seconds = apart(all[at]), saved = most_saved(all[at], seconds);
                if (solved_.is_noticeable(saved)) {
                    of_size.push_back({&all[at], seconds, saved});
                } else {
                    ++out_.cannot_save;
                }
            }
            std::ranges::stable_sort(of_size, std::ranges::greater{}, &Promising::saved);
            for (const Promising& each : of_size) {
                if (!is_in_budget()) return;
                solve(*each.region, nests_(*each.region), each.apart);
            }
        }
    }

    /// A region is a candidate if it takes less than its operators in smaller kernels.
    void solve(const Region& region, const std::vector<NumberedNest>& nests, double apart) {
        Known& known = known_[region];
        known.apart = std::min(known.apart, apart);
        for (const NumberedNest& nest : nests) {
            ++out_.nests;
            ++known.solved;
            if (const std::optional<SolvedKernel>& kernel = solved_(nest))
                known.nests.push_back({nest, kLarger * kernel->seconds + seconds_of_kernel_});
        }
        std::ranges::stable_sort(known.nests, {}, &PricedNest::seconds);
        if (known.nests.size() > kKept) known.nests.erase(known.nests.begin() + kKept, known.nests.end());
        if (!known.nests.empty() && known.nests.front().seconds < known.apart) offer(region);
    }

    /// The most that a kernel of these operators can save beside others that take so long.
    double most_saved(const Region& region, double seconds) {
        return seconds - solved_.least_seconds(region) - seconds_of_kernel_;
    }

    /// The least time of these operators in smaller candidates, of which the last one runs behind the others.
    double apart(const Region& region) const {
        std::map<Region, double> least = {{{}, 0}};
        return apart(region, least, false);
    }

    double apart(const Region& region, std::map<Region, double>& least, bool may_be_whole = true) const {
        if (const auto known = least.find(region); known != least.end()) return known->second;
        double best = kNever;
        for (unsigned mask = 0; mask < 1U << (region.size() - 1); ++mask) {
            Region last = {region.back()};
            for (size_t i = 0; i + 1 < region.size(); ++i)
                if (mask >> i & 1U) last.push_back(region[i]);
            std::ranges::sort(last);
            if (last.size() == region.size() && !may_be_whole) continue;
            const auto place = places_.find(last);
            if (place == places_.end()) continue;
            const Region rest = without(region, last);
            if (order_.reaches(last, rest)) continue;
            best = std::min(best, candidates_[place->second].seconds + apart(rest, least));
        }
        return least[region] = best;
    }

    void choose() {
        const auto operators = static_cast<int64_t>(order_.size());
        Partition found =
            least_partition(order_, candidates_, std::max(kLeastConflicts, kConflicts * operators));
        const bool is_optimal = found.status == SolverStatus::kOptimal;
        if (is_optimal || (!found.chosen.empty() && found.seconds < seconds_of_choice_)) {
            chosen_ = std::move(found.chosen);
            seconds_of_choice_ = found.seconds;
        }
        out_.gap = is_optimal ? 0 : (seconds_of_choice_ - found.bound) / seconds_of_choice_;
    }

    /// Joins kernels of the choice that are too large for the regions above, and a kernel with an operator of
    /// another one. @return true if a candidate gains
    bool grow() {
        has_gained_ = false;
        std::vector<Region> kernels;
        for (const size_t at : chosen_) kernels.push_back(candidates_[at].operators);
        for (const Region& from : kernels)
            for (const Region& into : kernels) {
                if (from == into) continue;
                grow(from, into);
                for (const int op : into)
                    if (into.size() > 1 && from.size() > 1) grow(from, {op});
                for (const int op : from)
                    if (into.size() > 1 && from.size() > 1) grow({op}, into);
            }
        return has_gained_;
    }

    void grow(const Region& from, const Region& into) {
        if (!may_join(from, into)) return;
        Region both = joined(from, into);
        const double seconds = seconds_of(from) + seconds_of(into);
        if (both.size() <= options_.region || !solved_.is_noticeable(most_saved(both, seconds)) ||
            !tried_.emplace(from, into).second || !is_in_budget())
            return;
        const std::vector<NumberedNest> nests = nests_of_kept(from, into, block_.limits);
        if (nests.empty()) {
            if (!nests_of_kept(from, into, kNoLimits).empty()) too_large_.emplace(from, into);
            return;
        }
        ++out_.grown;
        solve(both, nests, seconds);
    }

    /// Proves the tiles of the chosen kernels. @return true if another choice was made, as one became faster
    bool prove() {
        has_gained_ = false;
        for (const size_t at : chosen_) {
            const Region& region = candidates_[at].operators;
            PricedNest& best = known_.at(region).nests.front();
            const double larger = region.size() > 1 ? kLarger : 1;
            best.seconds = larger * solved_.proved(best.nest).seconds + seconds_of_kernel_;
            offer(region);
        }
        if (has_gained_) choose();
        return has_gained_;
    }

    double seconds_of(const Region& candidate) const { return candidates_[places_.at(candidate)].seconds; }

    bool may_join(const Region& from, const Region& into) const {
        const auto reads = [&](int reader) {
            return std::ranges::any_of(order_.beside(reader), [&](int op) { return contains(from, op); });
        };
        const auto is_alone = [&](int op) { return block_.is_alone[static_cast<size_t>(op)]; };
        return std::ranges::any_of(into, reads) && !order_.reaches(into, from) &&
               std::ranges::none_of(from, is_alone) && std::ranges::none_of(into, is_alone) &&
               !order_.has_pair_apart(joined(from, into)) && order_.is_convex(joined(from, into));
    }

    std::vector<NumberedNest> nests_of_kept(const Region& from, const Region& into,
                                            const KernelLimits& limits) const {
        MergedNests nests(block_, limits);
        for (const PricedNest& producer : known_.at(from).nests)
            for (const PricedNest& reader : known_.at(into).nests) nests.add(producer.nest, reader.nest);
        return nests.take();
    }

    void report() {
        for (const size_t at : chosen_) {
            const Region& region = candidates_[at].operators;
            const Known& known = known_.at(region);
            const SolvedKernel& kernel = *solved_(known.nests.front().nest);
            out_.kernels.push_back(kernel);
            out_.seconds += kernel.cost.seconds;
            out_.proved += is_proved(kernel) ? 1 : 0;
            out_.tile_gap += std::max(0.0, kernel.seconds - kernel.bound);
            if (region.size() == 1 || known.solved == 0) continue;
            double next = kNever;
            if (known.nests.size() > 1) next = known.nests[1].seconds;
            out_.fused.push_back(
                {.nest = text(block_, known.nests.front().nest),
                 .seconds = known.nests.front().seconds,
                 .apart = known.apart,
                 .nests = known.solved,
                 .next = next,
                 .computing = kernel.cost.compute,
                 .moving = std::accumulate(kernel.cost.levels.begin(), kernel.cost.levels.end(), 0.0)});
        }
        out_.tile_gap /= std::max(out_.seconds, std::numeric_limits<double>::min());
        out_.left_apart = std::ranges::count_if(too_large_, [&](const auto& pair) {
            const auto is_chosen = [&](const Region& region) {
                return std::ranges::find(chosen_, places_.at(region)) != chosen_.end();
            };
            return is_chosen(pair.first) && is_chosen(pair.second);
        });
        out_.cheapest = cheapest();
        out_.kernels_solved = solved_.count();
        out_.work = solved_.work();
        out_.priced = solved_.priced();
    }

    /// The choice, and those that differ from it in one candidate or in the nest of one: what is left of
    /// kernels that share operators with the candidate stays alone.
    std::vector<Structure> cheapest() {
        if (options_.kept == 0) return {};
        std::vector<std::pair<double, Structure>> all;
        const auto add = [&](std::vector<Region> kernels, const Region& changed, size_t nest) {
            const std::optional<std::vector<size_t>> sorted = order_.sorted(kernels);
            if (!sorted) return;
            auto& [seconds, structure] = all.emplace_back();
            for (const size_t at : *sorted) {
                const PricedNest& each = known_.at(kernels[at]).nests[kernels[at] == changed ? nest : 0];
                seconds += each.seconds;
                structure.push_back(each.nest);
            }
        };
        std::vector<Region> kernels;
        for (const size_t at : chosen_) kernels.push_back(candidates_[at].operators);
        add(kernels, {}, 0);
        for (const Candidate& candidate : candidates_) {
            const Region& region = candidate.operators;
            std::vector<Region> others = {region};
            for (const Region& kernel : kernels) {
                const Region rest = without(kernel, region);
                if (rest.size() == kernel.size()) {
                    others.push_back(kernel);
                } else {
                    for (const int op : rest) others.push_back({op});
                }
            }
            const bool is_chosen = std::ranges::find(kernels, region) != kernels.end();
            for (size_t nest = is_chosen ? 1 : 0; nest < known_.at(region).nests.size(); ++nest)
                add(others, region, nest);
        }
        std::ranges::stable_sort(all, {}, &std::pair<double, Structure>::first);
        std::vector<Structure> cheapest;
        for (size_t i = 0; i < std::min(options_.kept, all.size()); ++i)
            cheapest.push_back(std::move(all[i].second));
        return cheapest;
    }

    BlockContext& block_;
    const SearchOptions& options_;
    const OperatorOrder order_;
    RegionNests nests_;
    SolvedKernels solved_;
    const double seconds_of_kernel_;
    std::map<Region, Known> known_;
    std::vector<Candidate> candidates_;
    std::map<Region, size_t> places_;  ///< among the candidates
    std::vector<size_t> chosen_;       ///< candidates, in the order of execution
    double seconds_of_choice_ = 0;
    bool has_gained_ = false;                        ///< a candidate, since the last choice
    std::set<std::pair<Region, Region>> tried_;      ///< as parts of larger ones
    std::set<std::pair<Region, Region>> too_large_;  ///< of these that the limits keep apart
    Schedule out_;
};

}  // namespace

Schedule search(BlockContext& block, const SearchOptions& options) {
    return BlockSearch(block, options).run();
}

}  // namespace tessera::schedule
