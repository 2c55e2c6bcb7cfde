#include "cli/other_tools.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace tessera::cli {
namespace {

using Advice = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kNoDownloads =
    "models are files: download one, and name it: tessera run MODEL.gguf";
constexpr std::string_view kNoDaemon =
    "nothing runs in the background: `run`, `chat` and `serve` end by themselves";
constexpr std::string_view kNoGpu = "nothing runs on a GPU yet: leave it out";
constexpr std::string_view kPlanned = "the plan of the compiled model has it: leave it out";
constexpr std::string_view kChat = "`tessera chat MODEL` has conversations";
constexpr std::string_view kOneType = "keys and values have one type: --cache-type q8_0";
constexpr std::string_view kMapped = "weights are mapped from the artefact: leave it out";
constexpr std::string_view kInFile = "the model's file says it: leave it out";

constexpr std::array kFirstWords{
    Advice{"help", "`tessera --help`, or `tessera VERB --help`"},
    Advice{"version", "`tessera --version`"},
    Advice{"pull", kNoDownloads},
    Advice{"push", "nothing is uploaded"},
    Advice{"list", "`tessera cache list` has the models that were compiled"},
    Advice{"ls", "`tessera cache list` has the models that were compiled"},
    Advice{"rm", "`tessera cache rm` removes compiled models"},
    Advice{"show", "`tessera inspect` shows an artefact, `tessera check` a checkpoint"},
    Advice{"ps", kNoDaemon},
    Advice{"stop", kNoDaemon},
    Advice{"create", "`tessera compile MODEL -o OUT.tsr` makes one file that runs by itself"},
    Advice{"quantize", "`tessera compile MODEL -o OUT.tsr --quantize q4_k_m`"},
    Advice{"generate", "`tessera run MODEL -p TEXT` generates"},
};

constexpr std::array kForeignFlags{
    Advice{"-ngl", kNoGpu},
    Advice{"--n-gpu-layers", kNoGpu},
    Advice{"--gpu-layers", kNoGpu},
    Advice{"-dev", kNoGpu},
    Advice{"--device", kNoGpu},
    Advice{"-fa", "attention is always fused: leave it out"},
    Advice{"--flash-attn", "attention is always fused: leave it out"},
    Advice{"-b", kPlanned},
    Advice{"--batch-size", kPlanned},
    Advice{"-ub", kPlanned},
    Advice{"--ubatch-size", kPlanned},
    Advice{"-tb", "prompts take the threads of -t: leave it out"},
    Advice{"--threads-batch", "prompts take the threads of -t: leave it out"},
    Advice{"-ctk", kOneType},
    Advice{"-ctv", kOneType},
    Advice{"--cache-type-k", kOneType},
    Advice{"--cache-type-v", kOneType},
    Advice{"-cnv", kChat},
    Advice{"--conversation", kChat},
    Advice{"-i", kChat},
    Advice{"--interactive", kChat},
    Advice{"-no-cnv", "--raw continues the text as it is"},
    Advice{"--no-conversation", "--raw continues the text as it is"},
    Advice{"-st", "`tessera run` asks once"},
    Advice{"--single-turn", "`tessera run` asks once"},
    Advice{"-sys", "--system TEXT"},
    Advice{"--system-prompt", "--system TEXT"},
    Advice{"--jinja", "the model's template is always used: leave it out"},
    Advice{"--chat-template-file", "--chat-template FILE"},
    Advice{"-r", "--stop TEXT"},
    Advice{"--reverse-prompt", "--stop TEXT"},
    Advice{"--no-display-prompt", "prompts are not repeated: leave it out"},
    Advice{"--verbose", "times are always said, on the standard error: leave it out"},
    Advice{"--format", "--json-schema FILE has JSON of a schema"},
    Advice{"-e", "prompts are taken as they are: leave it out"},
    Advice{"--escape", "prompts are taken as they are: leave it out"},
    Advice{"--mlock", kMapped},
    Advice{"--no-mmap", kMapped},
    Advice{"--rope-scaling", kInFile},
    Advice{"--rope-scale", kInFile},
    Advice{"--rope-freq-base", kInFile},
    Advice{"--rope-freq-scale", kInFile},
    Advice{"--lora", "merge adapters into the model first"},
    Advice{"-hf", kNoDownloads},
    Advice{"-hfr", kNoDownloads},
    Advice{"--hf-repo", kNoDownloads},
    Advice{"-mu", kNoDownloads},
    Advice{"--model-url", kNoDownloads},
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
            return fmt::format("{}: is a flag of other tools ({})", found->first, found->second);
    }
    return "";
}

std::string misread_flag(std::span<char* const> words) {
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word.size() > 2 && word[0] == '-' && word[1] != '-')
            if (std::string foreign = foreign_flag(words.subspan(i, 1)); !foreign.empty()) return foreign;
    }
    return "";
}

}  // namespace tessera::cli
