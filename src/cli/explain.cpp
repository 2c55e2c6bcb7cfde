#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/layout_account.h"
#include "cli/number_checks.h"
#include "cli/search_again.h"
#include "cli/verb.h"
#include "tessera/compile.h"

namespace tessera::cli {
namespace {

struct ExplainArguments {
    std::string artefact;
    std::string tensor;
    std::string machine;
    int64_t search_effort = 1;
    bool as_json = false;
};

Job declare_explain(CLI::App& app, const Environment& environment) {
    const auto options = std::make_shared<ExplainArguments>();
    app.add_option("OUT.tsr", options->artefact, "artefact of `tessera compile`")
        ->required()
        ->check(not_empty());
    app.add_option("--tensor", options->tensor,
                   "a constant, or a result of an operator, by its name in `tessera inspect OUT.tsr --graph`")
        ->required()
        ->check(not_empty())
        ->type_name("NAME");
    app.add_option("--machine", options->machine,
                   "the machine that the layouts are for; without it the one that the artefact was "
                   "compiled for, if that is this one")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--search-effort", options->search_effort, "as it was for `tessera compile`")
        ->type_name("N")
        ->capture_default_str()
        ->check(whole_number(0, kMostSearchEffort));
    app.add_flag("--json", options->as_json, "the same as JSON");
    return [options, &environment] {
        const runtime::Artefact artefact = runtime::Artefact::open(options->artefact);
        const compiler::LayoutSearch again =
            search_layouts_again(artefact, options->machine, "--tensor", options->search_effort, environment);
        const TensorAccounts accounts = account_for(artefact, again, options->tensor);
        if (options->as_json)
            fmt::print("{}\n", as_json(accounts, again).dump(1));
        else
            fmt::print("{}", in_words(accounts, again));
        return 0;
    };
}

}  // namespace

Verb explain_verb() {
    return {
        .name = "explain",
        .help = "say why a tensor lies as it does: who reads it, what that costs, what the runner-up would",
        .examples = {"tessera explain tiny.tsr --tensor embedding_weight",
                     "tessera explain tiny.tsr --tensor layer_gate --machine host.toml",
                     "tessera explain tiny.tsr --tensor layer_gate --json"},
        .declare = declare_explain};
}

}  // namespace tessera::cli
