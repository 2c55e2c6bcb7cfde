#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/compiling.h"
#include "cli/number_checks.h"
#include "cli/verb.h"

namespace tessera::cli {
namespace {

struct RetargetArguments {
    std::string artefact;
    std::string out;
    CompileFlags flags;
    bool is_quiet = false;
};

Job declare_retarget(CLI::App& app, const Environment& environment) {
    const auto options = std::make_shared<RetargetArguments>();
    app.add_option("OUT.tsr", options->artefact, "artefact of `tessera compile`, for any machine")
        ->required()
        ->check(not_empty());
    app.add_option("-o,--out", options->out, "the artefact to write")
        ->required()
        ->check(not_empty())
        ->type_name("NEW.tsr");
    app.add_flag("-q,--quiet", options->is_quiet, "no report");
    add_machine_flags(app, options->flags);
    add_comparison_flags(app, options->flags);
    return [options, &environment] {
        if (std::filesystem::is_regular_file(options->artefact))
            prepare_host(options->flags, options->is_quiet, environment);
        const CompileReport report = retarget(options->artefact, options->out, options->flags, environment);
        if (!options->is_quiet) print_report(options->out, report);
        return 0;
    };
}

}  // namespace

Verb retarget_verb() {
    return {.name = "retarget",
            .help = "make an artefact fit another machine, without the checkpoint that it came from",
            .examples = {"tessera retarget tiny.tsr -o here.tsr",
                         "tessera retarget tiny.tsr -o arm.tsr --machine machines/neon.toml"},
            .declare = declare_retarget};
}

}  // namespace tessera::cli
