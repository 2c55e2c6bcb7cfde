#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/schedule/solve_tiles.h"
#include "search/schedule/structure.h"

namespace tessera::schedule {

/// The kernels of a search, each solved once; equal ones are solved together (same_kernels.h).
class SolvedKernels {
public:
    /// Solves the kernels of the initial structure, without proofs.
    /// @param proof TileOptions::nodes of `proved`
    SolvedKernels(BlockContext& block, const TileOptions& options, int64_t proof);

    /// Nothing if the kernel is illegal.
    const std::optional<SolvedKernel>& operator()(const lowering::NumberedNest& kernel);
    /// The same with a proof of its tiles, and from now on in place of it. @pre the kernel is legal
    const SolvedKernel& proved(const lowering::NumberedNest& kernel);
    double unfused_seconds() const { return unfused_seconds_; }
    /// The time that every kernel adds to its own: a share of the barrier in front of it.
    double seconds_of_kernel() const;

    /// A kernel is never faster than computing its operators and reading the values that no kernel makes.
    double least_seconds(const std::vector<int>& operators) const;
    /// True if a kernel that saves so much is worth a search.
    bool is_noticeable(double saved) const;

    // The counts of this search as if no kernel had been known before it, so that no budget depends on
    // earlier searches.
    int64_t work() const { return work_; }      ///< choices of tile sizes
    int64_t priced() const { return priced_; }  ///< operators in these choices
    int64_t count() const { return count_; }    ///< kernels, those that are alike once

private:
    double seconds(const lowering::NumberedNest& kernel);
    std::optional<SolvedKernel> solved_once(const lowering::NumberedNest& kernel, const TileOptions& options);
    std::optional<SolvedKernel> solved(const lowering::NumberedNest& kernel, const TileOptions& options);
    void count(const lowering::NumberedNest& kernel, int64_t work);
    SolvedKernel plain(int op);

    BlockContext& block_;
    TileOptions options_, proof_;
    int64_t work_ = 0, priced_ = 0, count_ = 0;
    double unfused_seconds_ = 0;
    std::vector<cost::Evaluator::Least> least_;  ///< by operator
    std::vector<double> least_of_operators_;     ///< seconds of these
    std::map<std::string, std::optional<SolvedKernel>> kernels_;
    std::set<std::string> proved_;  ///< of these
    std::set<std::string> kinds_;   ///< of these
};

}  // namespace tessera::schedule
