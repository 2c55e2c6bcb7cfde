#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "ir/definition.h"
#include "ir/facts/facts.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

struct OpArguments {
    std::string file;
    bool json = false;
    bool no_values = false;
};

int run(const OpArguments& options) {
    const DefinitionFile file =
        parse_definition_file(std::string(MappedFile::open(options.file).text()), options.file);
    check_bound(file, bound_extents(file, options.file), options.file);
    const std::string text =
        options.json
            ? facts::facts_text(facts::derive_facts(file, {.values = !options.no_values}, options.file))
            : print(file.definition, file.test);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace

Verb op_verb() {
    return {.name = "op",
            .help = "check an operator definition, and derive what follows from it",
            .examples = {"tessera op matmul.op", "tessera op matmul.op --json",
                         "tessera op matmul.op --json --no-values"},
            .declare = [](CLI::App& app, const Environment&) -> Job {
                const auto options = std::make_shared<OpArguments>();
                app.add_option("FILE", options->file, "a definition with its test part (.op)")
                    ->required()
                    ->check(not_empty());
                app.add_flag("--json", options->json,
                             "print work, elements touched, dependence, tiles, signatures, packs, units and "
                             "values; without it, the definition in its normal form");
                app.add_flag("--no-values", options->no_values,
                             "leave out the values, which need the interpreter");
                return [options] { return run(*options); };
            }};
}

}  // namespace tessera::cli
