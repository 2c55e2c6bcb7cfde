#include "machine/description_text.h"
#include "machine/machine_text.h"

namespace tessera::machine {

Machine parse_machine(std::string_view text, const std::string& where) {
    return cpu_machine(parse_description(text, where), where);
}

Machine read_machine(const std::filesystem::path& path) {
    return parse_machine(read_toml_text(path, "machine"), path.string());
}

}  // namespace tessera::machine
