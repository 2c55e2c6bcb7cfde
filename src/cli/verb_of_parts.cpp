#include "cli/verb_of_parts.h"

#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

namespace tessera::cli {
namespace {

Job declare_parts(CLI::App& app, const Environment& environment, const std::vector<Verb>& parts) {
    app.require_subcommand(1);
    using Part = std::pair<CLI::App*, Job>;
    const auto declared = std::make_shared<std::vector<Part>>();
    for (const Verb& part : parts) {
        CLI::App* subcommand = app.add_subcommand(part.name, part.help);
        std::string footer = "Examples:";
        for (const std::string& example : part.examples) footer += "\n  " + example;
        subcommand->footer(footer);
        declared->emplace_back(subcommand, part.declare(*subcommand, environment));
    }
    return [declared] {
        for (const auto& [subcommand, job] : *declared)
            if (subcommand->parsed()) return job();
        return 2;
    };
}

}  // namespace

Verb verb_of_parts(std::string name, std::string help, std::vector<Verb> parts) {
    Verb verb{.name = std::move(name), .help = std::move(help), .examples = {}, .declare = {}};
    for (const Verb& part : parts)
        verb.examples.insert(verb.examples.end(), part.examples.begin(), part.examples.end());
    verb.declare = [parts = std::move(parts)](CLI::App& app, const Environment& environment) {
        return declare_parts(app, environment, parts);
    };
    return verb;
}

}  // namespace tessera::cli
