// Random programs through the passes, against the interpreter of graphs:
//
//     program_fuzzer --seed A --count N --mode interpret|lower|compile [--machine FILE]... [--workers N]...
//
// Several machines and numbers of workers take turns, batch by batch. Everything follows from the seeds. A
// fault is shrunk and kept in the folder of --keep; its .ir says which commands repeat it. The exit code is 1
// where there are faults, or where the run had gaps (statistics.h).
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "fuzz/programs/draw_program.h"
#include "fuzz/programs/keep.h"
#include "fuzz/programs/reference.h"
#include "fuzz/programs/shrink.h"
#include "fuzz/programs/statistics.h"
#include "machine/machine_text.h"
#include "support/error.h"
#include "support/scratch_folder.h"

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

/// Letters in which messages of one fault agree.
constexpr size_t kSameWords = 30;

struct Arguments {
    uint64_t seed = 1;
    uint64_t count = 100;
    size_t batch = 25;
    Mode mode = Mode::kLower;
    std::vector<std::string> machines;
    std::vector<int64_t> workers = {1};
    std::string keep;
    int tries = 300;
    int64_t most_faults = 10;
    double most_refused = 1;
    bool requires_coverage = false;
    bool prints = false;
};

std::vector<Treatment> treatments_of(const Arguments& arguments, const fs::path& scratch) {
    if (arguments.mode == Mode::kInterpret)
        return {{.mode = arguments.mode, .machine = {}, .scratch = scratch}};
    std::vector<Treatment> all;
    for (const std::string& file : arguments.machines)
        for (const int64_t workers : arguments.workers)
            all.push_back({arguments.mode, machine::read_machine(file), workers, scratch});
    return all;
}

void on_fault(const Arguments& arguments, uint64_t seed, const Treatment& treatment, const Verdict& verdict) {
    fmt::print("seed {}, {}, {} workers: {}: {}\n", seed, treatment.machine.name, treatment.workers,
               name(verdict.outcome), verdict.what);
    std::fflush(stdout);
    if (arguments.keep.empty()) return;
    Choices choices(seed);
    draw_program(choices);
    Verdict last = verdict;
    const auto fails = [&](const Program& program) {
        const Verdict now = treat_apart({program}, treatment).front();
        if (now.outcome != verdict.outcome) return false;
        // A death or a message of another kind is another fault.
        if (verdict.outcome != Outcome::kWrong && verdict.outcome != Outcome::kRenamed &&
            now.what.substr(0, kSameWords) != verdict.what.substr(0, kSameWords))
            return false;
        last = now;
        return true;
    };
    const Program simple = shrink(choices.taken(), fails, arguments.tries);
    keep_program(arguments.keep, fmt::format("seed_{}", seed), simple, treatment, last);
    fmt::print("shrunk: {}\n{}", last.what, print(simple.graph));
    std::fflush(stdout);
}

int run(const Arguments& arguments) {
    if (arguments.mode == Mode::kInterpret && !has_reference()) {
        fmt::print(
            "not checked: the interpreter of graphs; ../shared/programs/reference.py or NumPy is missing\n");
        return 0;
    }
    const ScratchFolder scratch(fs::temp_directory_path(), "tessera-programs");
    const std::vector<Treatment> treatments = treatments_of(arguments, scratch.path());
    if (treatments.empty()) throw Error("", "--machine", "is missing", "machines/generic-x86-64.toml");
    Statistics statistics;
    size_t batches = 0;
    for (uint64_t first = 0; first < arguments.count; first += arguments.batch) {
        const Treatment& treatment = treatments[batches++ % treatments.size()];
        std::vector<Program> programs;
        for (uint64_t i = first; i < std::min<uint64_t>(arguments.count, first + arguments.batch); ++i) {
            Choices choices(arguments.seed + i);
            try {
                programs.push_back(draw_program(choices));
            } catch (const Error& error) {
                throw Error("program_fuzzer", fmt::format("seed {}", arguments.seed + i), error.what());
            }
            if (arguments.prints)
                fmt::print("# seed {}\n{}", arguments.seed + i, print(programs.back().graph));
        }
        const std::vector<Verdict> verdicts = treat_apart(programs, treatment);
        for (size_t p = 0; p < programs.size(); ++p) {
            statistics.add(programs[p], verdicts[p]);
            if (arguments.prints) fmt::print("# {}: {}\n", name(verdicts[p].outcome), verdicts[p].what);
            if (is_fault(verdicts[p].outcome))
                on_fault(arguments, arguments.seed + first + p, treatment, verdicts[p]);
        }
        if (statistics.faults() >= arguments.most_faults) break;
    }
    fmt::print("{}", statistics.text());
    bool is_good = statistics.faults() == 0;
    if (arguments.requires_coverage) {
        for (const std::string& gap : statistics.gaps(arguments.most_refused)) {
            fmt::print("gap: {}\n", gap);
            is_good = false;
        }
    }
    return is_good ? 0 : 1;
}

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Random programs against the interpreter of graphs");
    const std::map<std::string, Mode> modes = {
        {"interpret", Mode::kInterpret}, {"lower", Mode::kLower}, {"compile", Mode::kCompile}};
    app.add_option("--seed", arguments.seed, "of the first program");
    app.add_option("--count", arguments.count, "programs");
    app.add_option("--batch", arguments.batch, "programs of one process, and of one C++ compilation")
        ->check(CLI::PositiveNumber);
    app.add_option("--mode", arguments.mode)->transform(CLI::CheckedTransformer(modes));
    app.add_option("--machine", arguments.machines, "a file of machines/; several take turns");
    app.add_option("--workers", arguments.workers, "several take turns");
    app.add_option("--keep", arguments.keep, "folder for faults, which are shrunk");
    app.add_option("--tries", arguments.tries, "of a shrinking");
    app.add_option("--most-faults", arguments.most_faults, "then the run ends");
    app.add_option("--most-refused", arguments.most_refused, "share of programs");
    app.add_flag("--coverage", arguments.requires_coverage, "gaps are faults");
    app.add_flag("--print", arguments.prints, "all programs");
    CLI11_PARSE(app, argc, argv);
    try {
        return run(arguments);
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}

}  // namespace
}  // namespace tessera::fuzz

int main(int argc, char** argv) {
    return tessera::fuzz::main(argc, argv);
}
