#include "cli/other_tools.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace tessera::cli {
namespace {

using Advice = std::pair<std::string_view, std::string_view>;

constexpr std::array kFirstWords{
    Advice{"pull", "models are files: download one, and name it: tessera run MODEL.gguf"},
    Advice{"list", "`tessera cache list` has the models that were compiled"},
    Advice{"ls", "`tessera cache list` has the models that were compiled"},
    Advice{"rm", "`tessera cache rm` removes compiled models"},
    Advice{"show", "`tessera inspect` shows an artefact, `tessera check` a checkpoint"},
    Advice{"generate", "`tessera run MODEL -p TEXT` generates"},
};

constexpr std::array kForeignFlags{
    Advice{"-ngl", "nothing runs on a GPU yet: leave it out"},
    Advice{"--n-gpu-layers", "nothing runs on a GPU yet: leave it out"},
    Advice{"--gpu-layers", "nothing runs on a GPU yet: leave it out"},
    Advice{"-fa", "attention is always fused: leave it out"},
    Advice{"--flash-attn", "attention is always fused: leave it out"},
    Advice{"-b", "the plan of the compiled model has it: leave it out"},
    Advice{"--batch-size", "the plan of the compiled model has it: leave it out"},
    Advice{"-ub", "the plan of the compiled model has it: leave it out"},
    Advice{"--ubatch-size", "the plan of the compiled model has it: leave it out"},
    Advice{"-ctk", "keys and values have one type: --cache-type q8_0"},
    Advice{"-ctv", "keys and values have one type: --cache-type q8_0"},
    Advice{"--cache-type-k", "keys and values have one type: --cache-type q8_0"},
    Advice{"--cache-type-v", "keys and values have one type: --cache-type q8_0"},
    Advice{"-cnv", "`tessera chat MODEL` has conversations"},
    Advice{"--conversation", "`tessera chat MODEL` has conversations"},
    Advice{"-i", "`tessera chat MODEL` has conversations"},
    Advice{"--interactive", "`tessera chat MODEL` has conversations"},
    Advice{"-no-cnv", "--raw continues the text as it is"},
    Advice{"--mlock", "weights are mapped from the artefact: leave it out"},
    Advice{"--no-mmap", "weights are mapped from the artefact: leave it out"},
    Advice{"-hf", "models are files: download one, and name it"},
    Advice{"--hf-repo", "models are files: download one, and name it"},
};

}  // namespace

std::string advice_on_first_word(std::string_view word) {
    if (word.starts_with('-')) return "a verb comes first: tessera run -m MODEL -p TEXT";
    const auto* found = std::ranges::find(kFirstWords, word, &Advice::first);
    return found == kFirstWords.end() ? "" : std::string(found->second);
}

std::string foreign_flag(std::span<char* const> words) {
    for (const std::string_view word : words) {
        const auto* found = std::ranges::find(kForeignFlags, word, &Advice::first);
        if (found != kForeignFlags.end())
            return fmt::format("{}: is a flag of llama.cpp ({})", found->first, found->second);
    }
    return "";
}

std::string advice_on_missing_flag(std::string_view problem) {
    return problem.find("requires --temperature") == std::string_view::npos
               ? ""
               : "the most probable token is always taken without it; try --temperature 0.8";
}

}  // namespace tessera::cli
