#include "cli/flag_variables.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

#include <CLI/CLI.hpp>

namespace tessera::cli {
namespace {

std::string variable_of(const std::string& flag) {
    std::string name = "TESSERA_" + flag;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
    return name;
}

}  // namespace

void name_variables(CLI::App& verb) {
    for (CLI::Option* option : verb.get_options())
        if (option != verb.get_help_ptr() && !option->get_lnames().empty())
            option->envname(variable_of(option->get_lnames().front()));
    for (CLI::App* part : verb.get_subcommands({})) name_variables(*part);
}

std::string rejected_variable(CLI::App& verb) {
    for (CLI::Option* option : verb.get_options()) {
        std::string name = option->get_envname();
        const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
        // CLI11 does not remember where a value came from; one from a variable stands alone and unchanged.
        if (value == nullptr || option->results() != std::vector<std::string>{value}) continue;
        try {
            option->run_callback();
        } catch (const CLI::ParseError&) {
            return name;
        }
    }
    for (CLI::App* part : verb.get_subcommands())
        if (std::string name = rejected_variable(*part); !name.empty()) return name;
    return {};
}

}  // namespace tessera::cli
