#include "cli/chip.h"

#include <memory>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace tessera::cli {
namespace {

std::vector<Verb> chip_parts() {
    return {chip_check_part(),   chip_plan_part(),     chip_explain_part(),
            chip_explore_part(), chip_schedule_part(), chip_simulate_part()};
}

Job declare_chip(CLI::App& app, const Environment& environment) {
    app.require_subcommand(1);
    using Part = std::pair<CLI::App*, Job>;
    const auto parts = std::make_shared<std::vector<Part>>();
    for (const Verb& part : chip_parts()) {
        CLI::App* subcommand = app.add_subcommand(part.name, part.help);
        std::string footer = "Examples:";
        for (const std::string& example : part.examples) footer += "\n  " + example;
        subcommand->footer(footer);
        parts->emplace_back(subcommand, part.declare(*subcommand, environment));
    }
    return [parts] {
        for (const auto& [subcommand, job] : *parts)
            if (subcommand->parsed()) return job();
        return 2;
    };
}

}  // namespace

Verb chip_verb() {
    Verb verb{.name = "chip",
              .help = "plan and simulate inter-core connected AI chips",
              .examples = {},
              .declare = declare_chip};
    for (const Verb& part : chip_parts())
        verb.examples.insert(verb.examples.end(), part.examples.begin(), part.examples.end());
    return verb;
}

}  // namespace tessera::cli
