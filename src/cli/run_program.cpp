#include "cli/run_program.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "cli/arrays/input_file.h"
#include "cli/named_values.h"
#include "cli/number_checks.h"
#include "compiler/programs/program_call.h"
#include "import/npy/npy_file.h"
#include "support/error.h"
#include "support/note.h"
#include "support/output_place.h"
#include "support/printable.h"
#include "tessera/bench.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostCalls = 1'000'000;
constexpr double kMicroseconds = 1e6;

fs::path file_of(const fs::path& folder, const std::string& name) {
    // A name of a model may look like a path.
    std::string file = name + ".npy";
    std::ranges::replace(file, '/', '_');
    return folder / file;
}

/// Before the call: a folder that cannot be written costs nothing then.
void check_folder(const fs::path& folder, const runtime::Manifest& manifest) {
    create_folders(folder);
    for (const auto& output : manifest.outputs) check_output(file_of(folder, output.array_name()));
    for (const auto& state : manifest.states) check_output(file_of(folder, state.array_name()));
}

void write_results(const programs::ProgramCall& call, const fs::path& folder) {
    for (const auto& arrays : {call.outputs(), call.states()})
        for (const programs::ResultArray& array : arrays) {
            const fs::path file = file_of(folder, array.name);
            import::write_npy(file, array.element, array.shape, array.elements);
            note("{}: {}[{}]", printable(file.string()), name(array.element), fmt::join(array.shape, ", "));
        }
}

/// LOW..HIGH, or several between commas. @throws Error of kind kUsage for another text
arrays::PixelRanges pixel_ranges(const std::string& name, std::string_view text) {
    arrays::PixelRanges ranges;
    while (true) {
        const std::string_view part = text.substr(0, text.find(','));
        const size_t dots = part.find("..");
        const auto number = [&](std::string_view digits, double& value) {
            const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
            return error == std::errc() && end == digits.data() + digits.size() && std::isfinite(value);
        };
        auto& [low, high] = ranges.emplace_back(0, 0);
        if (dots == std::string_view::npos || !number(part.substr(0, dots), low) ||
            !number(part.substr(dots + 2), high))
            throw Error("", "--pixels",
                        fmt::format("gives `{}` the range `{}`, expected LOW..HIGH", name, part),
                        "such as 0..1, or -1..1,-1..1,-1..1", ErrorKind::kUsage);
        if (part.size() == text.size()) return ranges;
        text.remove_prefix(part.size() + 1);
    }
}

/// The first calls, which warm caches up, have happened: the results come from one.
void print_times(programs::ProgramCall& call, int64_t times) {
    std::vector<double> seconds;
    for (int64_t i = 0; i < times; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        call.run();
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(seconds.begin(), seconds.end());
    fmt::print("median of {} calls: {:.2f} us, the fastest {:.2f} us\n", times,
               kMicroseconds * seconds[seconds.size() / 2], kMicroseconds * seconds.front());
}

/// Medians of every kernel over as many calls, with the share of all.
void print_phases(programs::ProgramCall& call, int64_t times) {
    std::vector<std::vector<programs::KernelSeconds>> calls;
    for (int64_t i = 0; i < times; ++i) calls.push_back(call.run_timed());
    std::vector<double> medians;
    for (size_t k = 0; k < calls.front().size(); ++k) {
        std::vector<double> seconds;
        for (const auto& one : calls) seconds.push_back(one[k].seconds);
        medians.push_back(quartiles(std::move(seconds)).median);
    }
    const double all = std::accumulate(medians.begin(), medians.end(), 0.0);
    fmt::print("{:>12} {:>7}  kernel\n", "us a call", "of all");
    for (size_t k = 0; k < medians.size(); ++k)
        fmt::print("{:>12.2f} {:>5.1f} %  {}\n", kMicroseconds * medians[k], 100 * medians[k] / all,
                   printable(calls.front()[k].kernel));
}

}  // namespace

void add_program_flags(CLI::App& app, ProgramFlags& flags) {
    add_named_files(
        app, "--input", flags.inputs,
        "of a program (artefact of an ONNX model or a .ir file): a NumPy file (.npy, or .npz with an "
        "array of that name), or a PNG image of its size, for an input, or for what a state "
        "holds before the call; may be repeated");
    add_named_texts(
        app, "--pixels", flags.pixels, "NAME=LOW..HIGH",
        "of a program: what black and white of the image for an input become, such as 0..1; several "
        "between commas for red, green and blue; default: 0..255; may be repeated");
    add_named_numbers(app, "--symbol", flags.symbols,
                      "of a program: the value of a symbol that no input's shape gives; may be repeated");
    app.add_option("--out", flags.out, "of a program: write each result into this folder, as NAME.npy")
        ->check(not_empty())
        ->type_name("DIR");
    CLI::Option* const times =
        app.add_option("--times", flags.times,
                       "of a program: call it so often again and print the median time; states go on")
            ->check(whole_number(1, kMostCalls))
            ->type_name("N");
    app.add_flag("--phases", flags.phases,
                 "with --times: also time every kernel, as `tessera bench --phases` does")
        ->needs(times);
}

int run_program(const std::shared_ptr<const runtime::Artefact>& artefact, const ProgramFlags& flags) {
    if (flags.out.empty() && flags.times == 0)
        throw Error(artefact->where(), "", "is a program, and nothing is to be done with its results",
                    "--out DIR writes them, --times N prints how long a call takes", ErrorKind::kUsage);
    programs::CallArguments arguments{.inputs = {}, .symbols = named_numbers("--symbol", flags.symbols)};
    std::vector<arrays::InputFile> files;  // as long as the arrays of the arguments
    std::map<std::string, arrays::PixelRanges> ranges;
    for (const auto& [name, text] : named_texts("--pixels", flags.pixels))
        ranges[name] = pixel_ranges(name, text);
    programs::ProgramCall call(artefact);
    for (const auto& [name, path] : named_files("--input", flags.inputs)) {
        files.push_back(arrays::InputFile::open(path, name, artefact->manifest(), ranges[name]));
        arguments.inputs[name] = files.back().array();
    }
    for (const auto& [name, unused] : ranges)
        if (!arguments.inputs.contains(name))
            throw Error("", "--pixels", fmt::format("names `{}`, for which there is no --input", name), "",
                        ErrorKind::kUsage);
    call.set(arguments);
    if (!flags.out.empty()) check_folder(flags.out, artefact->manifest());
    call.run();
    if (!flags.out.empty()) write_results(call, flags.out);
    if (flags.times > 0) print_times(call, flags.times);
    if (flags.phases) print_phases(call, flags.times);
    if (call.program().lacks_processors())
        note("workers: {} (more than there are processors)", call.program().workers());
    return 0;
}

}  // namespace tessera::cli
