#include <limits>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "search/schedule/search.h"

namespace tessera::schedule {

void Totals::add(const Schedule& schedule) {
    structures += schedule.states;
    kernels += schedule.kernels_solved;
    work += schedule.work;
    left_apart += schedule.left_apart;
    is_exhausted = is_exhausted && schedule.is_exhausted;
}

std::string summary(const Totals& totals) {
    return fmt::format("{} structures{}, {} kernels, {} choices of tiles", totals.structures,
                       totals.is_exhausted ? ", all within their parts" : ", out of budget", totals.kernels,
                       totals.work);
}

std::string cut_short(const Totals& totals) {
    std::string text;
    if (!totals.is_exhausted) text = fmt::format("stopped after {} structures", totals.structures);
    if (totals.left_apart > 0)
        text += fmt::format("{}left {} pairs of kernels apart that together have too many operators",
                            text.empty() ? "" : ", ", totals.left_apart);
    return text;
}

std::string print(const Schedule& schedule) {
    std::string text = fmt::format(
        "{:.5g} us, unfused {:.5g} us; {} parts, {} visits, {} structures{}, {} kernels, {} choices of "
        "tiles\n",
        schedule.seconds * 1e6, schedule.unfused_seconds * 1e6, schedule.parts.size(), schedule.visits,
        schedule.states, schedule.is_exhausted ? ", all of each part" : ", out of budget",
        schedule.kernels_solved, schedule.work);
    for (const PartReport& part : schedule.parts) {
        if (part.actions.empty()) continue;
        text += fmt::format("  part of {:.5g} us, {} visits, {} structures{}\n", part.before * 1e6,
                            part.visits, part.states, part.is_exhausted ? ", all" : "");
        for (const std::string& kernel : part.kernels) text += "    " + kernel + "\n";
        text += fmt::format("    {:.5g} us by {}\n", part.seconds * 1e6, fmt::join(part.actions, ", "));
        if (part.runner_up_seconds < std::numeric_limits<double>::infinity())
            text += fmt::format("    runner-up {:.5g} us{}{}\n", part.runner_up_seconds * 1e6,
                                part.runner_up.empty() ? "" : " by ", fmt::join(part.runner_up, ", "));
    }
    return text;
}

}  // namespace tessera::schedule
