#pragma once

#include <string>

namespace CLI {
class App;
}

/// Every flag of a verb can also be given by the environment: `--tolerance` by TESSERA_TOLERANCE. The command
/// line wins, and an empty variable is none. The names follow from the flags, so there is no list of them.
namespace tessera::cli {

/// Gives every flag of the verb its variable; --help then shows it.
void name_variables(CLI::App& verb);

/// The variable whose value the verb does not take; empty where the command line is at fault.
/// @pre parsing has failed
std::string rejected_variable(CLI::App& verb);

}  // namespace tessera::cli
