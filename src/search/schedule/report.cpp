#include <limits>

#include <fmt/core.h>

#include "search/schedule/search.h"

namespace tessera::schedule {
namespace {

/// A note if a kernel's bytes take longer than its operations: phi < P/W (paper 002, section II).
std::string bound(const FusedKernel& kernel) {
    if (kernel.moving <= kernel.computing) return "";
    return fmt::format("  memory-bound, moves {:.3g} us, computes {:.3g} us", kernel.moving * 1e6,
                       kernel.computing * 1e6);
}

}  // namespace

void Totals::add(const Schedule& schedule) {
    nests += schedule.nests;
    kernels += schedule.kernels_solved;
    work += schedule.work;
    left_apart += schedule.left_apart;
    is_exhausted = is_exhausted && schedule.is_exhausted;
}

std::string summary(const Totals& totals) {
    return fmt::format("{} nests{}, {} kernels, {} choices of tiles", totals.nests,
                       totals.is_exhausted ? "" : ", out of budget", totals.kernels, totals.work);
}

std::string cut_short(const Totals& totals) {
    std::string text;
    if (!totals.is_exhausted) text = fmt::format("stopped after {} nests", totals.nests);
    if (totals.left_apart > 0)
        text += fmt::format("{}left {} pairs of kernels apart that together have too many operators",
                            text.empty() ? "" : ", ", totals.left_apart);
    return text;
}

std::string print(const Schedule& schedule) {
    std::string text = fmt::format(
        "{:.5g} us, unfused {:.5g} us; {} regions, {} cannot save, {} grown, {} nests{}, {} kernels, {} "
        "choices of tiles; {}; tiles of {} of {} kernels proved, gap {:.2g} %\n",
        schedule.seconds * 1e6, schedule.unfused_seconds * 1e6, schedule.regions, schedule.cannot_save,
        schedule.grown, schedule.nests, schedule.is_exhausted ? "" : ", out of budget",
        schedule.kernels_solved, schedule.work,
        schedule.gap > 0 ? fmt::format("gap {:.2g} %", schedule.gap * 100) : "optimal over these",
        schedule.proved, schedule.kernels.size(), schedule.tile_gap * 100);
    for (const FusedKernel& kernel : schedule.fused) {
        text += "  " + kernel.nest + bound(kernel) + "\n";
        text += fmt::format("    {:.5g} us, apart {:.5g} us", kernel.seconds * 1e6, kernel.apart * 1e6);
        if (kernel.next < std::numeric_limits<double>::infinity())
            text += fmt::format(", next of {} nests {:.5g} us", kernel.nests, kernel.next * 1e6);
        text += "\n";
    }
    return text;
}

}  // namespace tessera::schedule
