#include <algorithm>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "chip/partition/chip_session.h"
#include "chip/read_chip_toml.h"
#include "cli/chip.h"
#include "cli/chip_run_graph.h"
#include "cli/first_use.h"
#include "cli/named_values.h"
#include "cli/number_checks.h"
#include "import/import_model.h"
#include "run/llm/load_tokenizer.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

/// Sums are added in another order, each number rounded once: what is beyond this is a fault.
constexpr double kLargestDistance = 1e-4;
constexpr int64_t kMostTokensByDefault = 16;

struct ChipRunArguments {
    std::string model;
    std::string chip;
    std::string prompt;
    std::optional<int64_t> tokens;
    int64_t work = 20'000;
    uint64_t seed = 0;
    std::vector<std::string> symbols;
    std::string program, out;
    std::string architecture;
    bool fuses = false;
    bool as_json = false;
};

/// A step with the token that it gave.
struct WrittenStep {
    partition::ChipStep step;
    size_t tokens = 0;  ///< that it read
    TokenId next = 0;
};

bool ends(const import::ImportedModel& model, const llm::Tokenizer& tokenizer, TokenId id) {
    return std::find(model.facts.end_ids.begin(), model.facts.end_ids.end(), id) !=
               model.facts.end_ids.end() ||
           std::find(tokenizer.eos().begin(), tokenizer.eos().end(), id) != tokenizer.eos().end();
}

void print_step(const WrittenStep& written, size_t number, const llm::Tokenizer& tokenizer) {
    if (number == 1)
        fmt::print("{:>4}  {:>6}  {:>9}  {:>9}  {:>9}  {:>8}  token\n", "step", "tokens", "planned",
                   "simulated", "SRAM", "distance");
    fmt::print("{:>4}  {:>6}  {:>9.0f}  {:>9.0f}  {:>9}  {:>8.2g}  {}\n", number, written.tokens,
               written.step.planned, written.step.simulated, written.step.sram_peak, written.step.distance,
               tokenizer.has_text(written.next)
                   ? fmt::format("\"{}\"", printable(tokenizer.token_bytes(written.next)))
                   : std::to_string(written.next));
    std::fflush(stdout);
}

nlohmann::ordered_json steps_json(const std::vector<WrittenStep>& steps) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const WrittenStep& each : steps)
        json.push_back({{"tokens", each.tokens},
                        {"operators", each.step.operators},
                        {"planned", each.step.planned},
                        {"simulated", each.step.simulated},
                        {"sram_peak", each.step.sram_peak},
                        {"distance", each.step.distance},
                        {"next", each.next}});
    return json;
}

[[noreturn]] void refuse_flag(const char* flag, const char* problem) {
    throw Error("", flag, problem, {}, ErrorKind::kUsage);
}

int run_graph(const ChipRunArguments& arguments) {
    constexpr const char* kForCheckpoints = "is for checkpoints: a graph (.ir) has no tokens";
    if (!arguments.prompt.empty()) refuse_flag("--prompt", kForCheckpoints);
    if (arguments.tokens) refuse_flag("--tokens", kForCheckpoints);
    return run_graph_on_chip({.graph = arguments.model,
                              .chip = arguments.chip,
                              .symbols = arguments.symbols,
                              .program = arguments.program,
                              .out = arguments.out,
                              .work = arguments.work,
                              .seed = arguments.seed,
                              .fuses = arguments.fuses,
                              .as_json = arguments.as_json});
}

int run_checkpoint(const ChipRunArguments& arguments) {
    constexpr const char* kForGraphs = "is for graphs (.ir): every step of a checkpoint is planned";
    if (!arguments.symbols.empty()) refuse_flag("--set", kForGraphs);
    if (!arguments.program.empty()) refuse_flag("--program", kForGraphs);
    if (!arguments.out.empty()) refuse_flag("--out", kForGraphs);
    if (arguments.fuses) refuse_flag("--fuse", kForGraphs);
    if (arguments.prompt.empty()) refuse_flag("--prompt", "is required for a checkpoint");
    const int64_t most_tokens = arguments.tokens.value_or(kMostTokensByDefault);
    const chip::ChipDescription chip = chip::read_chip_description(arguments.chip);
    const llm::Tokenizer tokenizer = llm::load_tokenizer(arguments.model);
    std::vector<TokenId> ids = tokenizer.encode_prompt(arguments.prompt, /*parse_special=*/false);
    if (ids.empty())
        throw Error("", "--prompt", "has no tokens, expected at least one", {}, ErrorKind::kUsage);
    const int64_t capacity = std::ssize(ids) + most_tokens;
    const import::ImportedModel model =
        import::import_model(arguments.model, {.context = capacity,
                                               .max_tokens = std::ssize(ids),
                                               .max_sequences = 1,
                                               .architectures = architectures_of(arguments.architecture)});
    partition::ChipSession session(model, chip, arguments.chip, capacity,
                                   {.work = arguments.work, .seed = arguments.seed}, /*compares=*/true);
    if (!arguments.as_json)
        fmt::print("model       {}\nchip        {}\n\n", printable(model.graph.name),
                   printable(chip.chip.name));

    std::vector<WrittenStep> steps;
    std::vector<int64_t> tokens(ids.begin(), ids.end());
    while (std::ssize(steps) < most_tokens) {
        WrittenStep written{.step = session.step(tokens), .tokens = tokens.size()};
        const std::vector<double>& logits = written.step.logits;
        written.next = static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
        steps.push_back(std::move(written));
        const WrittenStep& last = steps.back();
        if (!arguments.as_json) print_step(last, steps.size(), tokenizer);
        if (!(last.step.distance <= kLargestDistance))
            throw Error(arguments.model, fmt::format("step {}", steps.size()),
                        fmt::format("has logits that are {:.3g} of their range away from the interpreter's",
                                    last.step.distance));
        if (ends(model, tokenizer, last.next)) break;
        ids.push_back(last.next);
        tokens = {last.next};
    }
    const std::string text = tokenizer.decode(ids, {.skip_special = true});
    if (arguments.as_json)
        fmt::print(
            "{}\n",
            nlohmann::ordered_json{{"text", valid_utf8(text)}, {"ids", ids}, {"steps", steps_json(steps)}}
                .dump(1));
    else
        fmt::print("\ntext        {}\n", printable(text));
    return 0;
}

Job declare_chip_run(CLI::App& app, const Environment&) {
    const auto arguments = std::make_shared<ChipRunArguments>();
    app.add_option(
           "MODEL", arguments->model,
           "a small checkpoint, a HuggingFace folder with a tokenizer or a GGUF file; or a graph (.ir)")
        ->required()
        ->check(not_empty());
    app.add_option("--chip", arguments->chip, "the chip as TOML (machines/chips), without a pod")
        ->required()
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("-p,--prompt", arguments->prompt, "of a checkpoint: the text that is continued")
        ->check(not_empty())
        ->type_name("TEXT");
    app.add_option("--tokens", arguments->tokens, "that are written, at most; each is a step; 16")
        ->check(positive_count())
        ->type_name("N");
    app.add_option("--work", arguments->work, "executes that the search of a step runs, at most")
        ->check(count_or_zero())
        ->type_name("N");
    app.add_option("--seed", arguments->seed, "of the search, and of the contents of a graph")
        ->check(count_or_zero())
        ->type_name("N");
    add_named_numbers(app, "--set", arguments->symbols, "the value of a symbol of a graph");
    app.add_flag("--fuse", arguments->fuses, "of a graph: fuses its operators, as `chip plan` does");
    app.add_option("--program", arguments->program,
                   "executes this device program of a graph, which may be edited, and plans none")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--out", arguments->out,
                   "writes the device program of a graph, with the plan of each operator")
        ->check(not_empty())
        ->type_name("FILE");
    add_architecture_flag(app, arguments->architecture);
    app.add_flag("--json", arguments->as_json, "text, ids and steps, or distances, as JSON");
    return [arguments] {
        return arguments->model.ends_with(".ir") ? run_graph(*arguments) : run_checkpoint(*arguments);
    };
}

}  // namespace

Verb chip_run_part() {
    return {
        .name = "run",
        .help = "execute a checkpoint or a graph on a simulated chip, with real numbers on every core",
        .examples =
            {"tessera chip run models/tessera-tiny --chip machines/chips/small-16.toml -p \"61 + 93 =\"",
             "tessera chip run models/tessera-tiny --chip small-16.toml -p \"80 - 11 =\" --tokens 2 --json",
             "tessera chip run block.ir --chip small-16.toml --set T=4 --out program.json",
             "tessera chip run block.ir --chip small-16.toml --set T=4 --program program.json"},
        .declare = declare_chip_run};
}

}  // namespace tessera::cli
