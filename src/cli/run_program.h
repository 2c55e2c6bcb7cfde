#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "run/runtime/artefact.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// How `tessera run` calls a program, as opposed to a language model.
struct ProgramFlags {
    std::vector<std::string> inputs;   ///< NAME=FILE
    std::vector<std::string> symbols;  ///< NAME=N
    std::vector<std::string> pixels;   ///< NAME=LOW..HIGH
    std::string out;                   ///< folder; empty: results are not written
    int64_t times = 0;                 ///< calls that are timed; 0: none
    bool phases = false;               ///< each kernel is timed, too

    bool are_given() const {
        return !inputs.empty() || !symbols.empty() || !pixels.empty() || !out.empty() || times > 0;
    }
};

/// --input, --symbol, --out and --times. `flags` must outlive the parsing.
void add_program_flags(CLI::App& app, ProgramFlags& flags);

/// Calls the program, writes its results, times it.
/// @throws Error of kind kUsage if nothing is asked for, else what is wrong with program and arrays.
int run_program(const std::shared_ptr<const runtime::Artefact>& artefact, const ProgramFlags& flags);

}  // namespace tessera::cli
