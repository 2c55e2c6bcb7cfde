#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/programs/program.h"
#include "machine/machine.h"

/// Treatments of a program, and their outcomes.
namespace tessera::fuzz {

enum class Mode : uint8_t {
    kInterpret,  ///< the graph, by ../shared/programs/reference.py
    kLower,      ///< passes and planner, then the interpreter of lowered programs
    kCompile,    ///< C++ too, called in this process
};

struct Treatment {
    Mode mode = Mode::kInterpret;
    machine::Machine machine;       ///< not for kInterpret
    int64_t workers = 1;            ///< likewise
    std::filesystem::path scratch;  ///< a folder for files
};

enum class Outcome : uint8_t {
    kAgrees,   ///< with the interpreter of graphs
    kRefused,  ///< with an error that names a part of the program
    kUnclear,  ///< refused without a word about which part, or as a bug of ours
    kWrong,    ///< other numbers, or faults of the run
    kRenamed,  ///< outputs of other names, or another number of them
    kDied,     ///< by a signal, or a limit
};
std::string_view name(Outcome outcome);
/// Neither agrees nor refused.
bool is_fault(Outcome outcome);

struct Verdict {
    Outcome outcome = Outcome::kAgrees;
    std::string what;  ///< the error, the first difference
};

/// One verdict for each program. Programs of one call share a C++ compilation.
std::vector<Verdict> treat(const std::vector<Program>& programs, const Treatment& treatment);

/// Likewise in a process of its own; where that dies, programs get one each, to see which did it.
std::vector<Verdict> treat_apart(const std::vector<Program>& programs, const Treatment& treatment);

}  // namespace tessera::fuzz
