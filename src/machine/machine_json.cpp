#include <sstream>

#include <toml++/toml.h>

#include "machine/machine_text.h"

namespace tessera::machine {

std::string machine_json(const Machine& machine) {
    const toml::table table = toml::parse(print_machine(machine));
    std::ostringstream text;
    text << toml::json_formatter(table) << '\n';
    return text.str();
}

}  // namespace tessera::machine
