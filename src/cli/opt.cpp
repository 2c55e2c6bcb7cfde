#include <memory>

#include <CLI/CLI.hpp>

#include "cli/compiling.h"
#include "cli/number_checks.h"
#include "cli/standard_streams.h"
#include "cli/verb.h"
#include "compiler/named_pass.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

struct OptArguments {
    std::string pass;
    std::string file;
    std::string machine;
};

Job declare_opt(CLI::App& app, const Environment& environment) {
    const auto options = std::make_shared<OptArguments>();
    std::string names;
    for (const compiler::NamedPass& pass : compiler::named_passes())
        names += fmt::format("\n  {:<10} {}", pass.name, pass.summary);
    app.add_option("--pass", options->pass, "the pass to run, one of:" + names)
        ->required()
        ->check(not_empty())
        ->type_name("NAME");
    app.add_option("FILE", options->file,
                   "graph in its printed form (.ir), as --dump writes it; - reads standard input")
        ->required()
        ->check(not_empty());
    app.add_option("--machine", options->machine, "machine description (TOML); default: this machine")
        ->check(not_empty())
        ->type_name("FILE");
    return [options, &environment] {
        const compiler::NamedPass* pass = compiler::find_named_pass(options->pass);
        if (!pass)
            throw Error("", options->pass, "is no pass", "see `tessera opt --help`", ErrorKind::kUsage);
        std::string text;
        std::string where = options->file;
        if (options->file == "-") {
            where = "standard input";
            text = read_standard_input();
        } else {
            text = MappedFile::open(options->file).text();
        }
        const std::string result =
            pass->run(parse_graph(text, where), read_machine(options->machine, environment));
        std::fwrite(result.data(), 1, result.size(), stdout);
        return 0;
    };
}

}  // namespace

Verb opt_verb() {
    return {.name = "opt",
            .help = "run one pass on a printed graph",
            .examples = {"tessera opt --pass decompose passes/02-import.ir",
                         "tessera opt --pass plan passes/03-decompose.ir > plan.toml",
                         "tessera opt --pass layouts passes/03-decompose.ir --machine accelerator.toml"},
            .declare = declare_opt};
}

}  // namespace tessera::cli
