#include "search/schedule/solved_kernels.h"

#include <algorithm>

#include <fmt/core.h>

#include "search/schedule/known_kernels.h"
#include "support/error.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;

/// The share of kernels before which workers meet.
constexpr double kShareOfBarriers = 0.25;

/// A kernel must be able to save more than this share of the unfused time of the block.
constexpr double kNoticeable = 0.0005;

}  // namespace

SolvedKernels::SolvedKernels(BlockContext& block, const TileOptions& options, int64_t proof)
    : block_(block), options_(options), proof_(options) {
    proof_.nodes = proof;
    std::vector<bool> is_free;
    for (const bool is_whole : block.is_whole) is_free.push_back(!is_whole);
    least_ = block.evaluator.least(block.leaves, is_free);
    for (const cost::Evaluator::Least& least : least_) least_of_operators_.push_back(least.seconds);
    proof_.least = least_of_operators_;
    for (const NumberedNest& kernel : unfused(block)) unfused_seconds_ += seconds(kernel);
}

const std::optional<SolvedKernel>& SolvedKernels::operator()(const NumberedNest& kernel) {
    const std::string key = text(block_, kernel);
    const auto known = kernels_.find(key);
    if (known != kernels_.end()) return known->second;
    return kernels_.emplace(key, solved_once(kernel, options_)).first->second;
}

const SolvedKernel& SolvedKernels::proved(const NumberedNest& kernel) {
    const std::string key = text(block_, kernel);
    std::optional<SolvedKernel>& known = kernels_.at(key);
    if (proof_.nodes == 0 || known->bound > 0 || !proved_.insert(key).second) return *known;
    const std::optional<SolvedKernel> proved = solved_once(kernel, proof_);
    if (!proved) return *known;
    if (proved->seconds < known->seconds) known = proved;
    known->bound = proved->bound;
    return *known;
}

double SolvedKernels::seconds(const NumberedNest& kernel) {
    const std::optional<SolvedKernel>& solved = (*this)(kernel);
    TESSERA_CHECK(solved, "{} does not lower", text(block_, kernel));
    return solved->cost.seconds;
}

double SolvedKernels::seconds_of_kernel() const {
    return kShareOfBarriers * block_.evaluator.barrier_seconds();
}

double SolvedKernels::least_seconds(const std::vector<int>& operators) const {
    std::vector<const cost::Evaluator::Least*> least;
    for (const int op : operators) least.push_back(&least_[static_cast<size_t>(op)]);
    return block_.evaluator.least_seconds(least);
}

bool SolvedKernels::is_noticeable(double saved) const {
    return saved > kNoticeable * unfused_seconds_;
}

/// As one that is alike was solved before, but for one that has turned out not to lower.
std::optional<SolvedKernel> SolvedKernels::solved_once(const NumberedNest& kernel,
                                                       const TileOptions& options) {
    if (block_.kinds.empty()) return solved(kernel, options);
    const std::string kind = fmt::format("{}{}", kind_of(block_, kernel), options.nodes > 0 ? "proved" : "");
    const bool is_new = kinds_.insert(kind).second;
    const auto known = block_.known->kernels.find(kind);
    if (known == block_.known->kernels.end()) {
        const int64_t before = work_;
        std::optional<SolvedKernel> best = solved(kernel, options);
        block_.known->kernels.emplace(
            kind, KnownKernels::Known{best ? std::optional(by_places(block_, *best)) : std::nullopt,
                                      work_ - before});
        return best;
    }
    if (is_new) count(kernel, known->second.work);
    if (!known->second.kernel) return std::nullopt;
    SolvedKernel alike = solved_alike(block_, *known->second.kernel, kernel);
    if (block_.illegal.contains(text(block_, alike.nest))) return solved(kernel, options);
    return alike;
}

std::optional<SolvedKernel> SolvedKernels::solved(const NumberedNest& kernel, const TileOptions& options) {
    int64_t work = 0;
    std::optional<SolvedKernel> best = solve_tiles(block_, kernel, options, work);
    const bool is_stated = std::ranges::any_of(
        block_.stated, [&](const NumberedNest& stated) { return stated.root() == kernel.root(); });
    if (!best && kernel.items.size() == 1 && !is_stated) best = plain(kernel.root());
    count(kernel, work);
    return best;
}

void SolvedKernels::count(const NumberedNest& kernel, int64_t work) {
    ++count_;
    work_ += work;
    priced_ += work * static_cast<int64_t>(kernel.operators().size());
}

/// An operator alone, without loops and with the leaf that always lowers then.
SolvedKernel SolvedKernels::plain(int op) {
    SolvedKernel kernel{.nest = {{}, {op}}, .leaves = {block_.plain_leaves[static_cast<size_t>(op)]}};
    const std::vector<bool> is_tile(block_.links.operators.size());
    kernel.cost =
        block_.evaluator(lowering::tiled_kernel(block_.links, kernel.nest, is_tile), kernel.leaves, is_tile);
    kernel.seconds = kernel.bound = kernel.cost.seconds;
    return kernel;
}

}  // namespace tessera::schedule
