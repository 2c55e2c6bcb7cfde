#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "cli/verb_of_parts.h"
#include "import/architecture/architectures.h"
#include "import/architecture/parse_architecture.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

int list_architectures() {
    for (const auto& each : import::Architectures().all()) {
        const std::string classes = fmt::to_string(fmt::join(each->classes, ", "));
        fmt::print("{:<20} {:<32} {}\n", each->name, classes, each->gguf_name);
    }
    return 0;
}

int print_architecture(const std::string& name) {
    const auto found = import::shipped_architecture(name);
    if (!found)
        throw Error("architecture", name, "is none that Tessera has",
                    "`tessera architecture list` names them", ErrorKind::kUsage);
    const std::string text = print(*found);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

int check_file(const std::string& file) {
    const auto found = import::read_architecture_file(file);
    fmt::print("{}: {} settings, {} tensors and {} values of a layer\n", found->name, found->settings.size(),
               found->layer.tensors.size(), found->layer.assignments.size());
    return 0;
}

/// A verb of one argument.
Verb part(const char* name, const char* help, const char* example, const char* argument, const char* meaning,
          int (*run)(const std::string&)) {
    return {.name = name,
            .help = help,
            .examples = {example},
            .declare = [=](CLI::App& app, const Environment&) -> Job {
                const auto value = std::make_shared<std::string>();
                app.add_option(argument, *value, meaning)->required()->check(not_empty());
                return [value, run] { return run(*value); };
            }};
}

}  // namespace

Verb architecture_verb() {
    return verb_of_parts(
        "architecture", "list, show and check the texts by which models are read",
        {{.name = "list",
          .help = "name the architectures that Tessera has, with their classes and their names in GGUF files",
          .examples = {"tessera architecture list"},
          .declare = [](CLI::App&, const Environment&) -> Job { return list_architectures; }},
         part("show", "print the whole text of one, with what it has of others",
              "tessera architecture show olmo2", "NAME", "its `model_type`", print_architecture),
         part("check", "check the text of one in a file", "tessera architecture check mine.arch", "FILE",
              "a text (docs/architectures.md)", check_file)});
}

}  // namespace tessera::cli
