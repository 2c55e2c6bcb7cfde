#include "cli/kernel_account.h"

#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace tessera::cli {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(const schedule::FusedKernel& kernel) {
    return {{"nest", kernel.nest},
            {"seconds", kernel.seconds},
            {"apart_seconds", kernel.apart},
            {"computing_seconds", kernel.computing},
            {"moving_seconds", kernel.moving},
            {"nests", kernel.nests},
            {"next_seconds", std::isfinite(kernel.next) ? ordered_json(kernel.next) : ordered_json(nullptr)}};
}

ordered_json as_json(const compiler::BlockSearchAccount& block) {
    const schedule::Schedule& schedule = block.schedule;
    ordered_json kernels = ordered_json::array();
    for (const schedule::FusedKernel& kernel : schedule.fused) kernels.push_back(as_json(kernel));
    return {{"specialisation", block.specialisation},
            {"block", block.block},
            {"seconds", schedule.seconds},
            {"unfused_seconds", schedule.unfused_seconds},
            {"gap", schedule.gap},
            {"out_of_budget", !schedule.is_exhausted},
            {"regions", schedule.regions},
            {"cannot_save", schedule.cannot_save},
            {"grown", schedule.grown},
            {"nests", schedule.nests},
            {"kernels_solved", schedule.kernels_solved},
            {"choices_of_tiles", schedule.work},
            {"lowered", schedule.lowered},
            {"left_apart", schedule.left_apart},
            {"kernels", schedule.kernels.size()},
            {"proved", schedule.proved},
            {"tile_gap", schedule.tile_gap},
            {"kernels_of_several_operators", std::move(kernels)}};
}

}  // namespace

std::string in_words(const compiler::KernelSearch& search) {
    std::string text =
        search.found_plan
            ? "the search ends with the plan of the artefact\n"
            : "the search ends with another plan than that of the artefact, which had other options\n";
    if (const std::string left_out = compiler::left_out(search.parts); !left_out.empty())
        text += left_out.substr(2) + "\n";
    if (!search.is_measured) text += "times are of roofs: no micro-kernels were measured\n";
    for (const compiler::BlockSearchAccount& block : search.blocks)
        text += fmt::format("\n{}, {}: {}", block.specialisation, block.block, print(block.schedule));
    return text;
}

ordered_json as_json(const compiler::KernelSearch& search) {
    ordered_json blocks = ordered_json::array();
    for (const compiler::BlockSearchAccount& block : search.blocks) blocks.push_back(as_json(block));
    ordered_json json = {{"finds_plan_of_artefact", search.found_plan}, {"is_measured", search.is_measured}};
    if (!search.parts.without.empty()) json["without"] = search.parts.without;
    if (search.parts.regions) json["regions"] = *search.parts.regions;
    json["blocks"] = std::move(blocks);
    return json;
}

}  // namespace tessera::cli
