#include <sstream>

#include <toml++/toml.h>

#include "machine/description_text.h"
#include "machine/machine_text.h"

namespace tessera::machine {

std::string description_json(const Description& description) {
    const toml::table table = toml::parse(print_description(description));
    std::ostringstream text;
    text << toml::json_formatter(table) << '\n';
    return text.str();
}

std::string machine_json(const Machine& machine) {
    return description_json(describe(machine));
}

}  // namespace tessera::machine
