// The system's C++ compiler, which compiles C, too, as a function from text to code, and a cache in front of
// it. A key covers everything that the code depends on: text, NTT's headers, the interface of steps, compiler
// and flags; so an entry never goes stale and nothing ever invalidates one. The compiler works in a folder of
// its own, and only a whole file gets its name in the cache, so two processes that compile the same text cost
// twice the time and no more.

#include "backend/toolchain.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "support/atomic_file.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/kept_files.h"
#include "support/output_place.h"
#include "support/scratch_folder.h"
#include "support/subprocess.h"

namespace tessera::backend {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownLines = 12;

// The code computes exactly as the text says: a * b + c is rounded twice unless it calls fma, on every
// machine. Neither errno nor floating-point traps are used, and the compiler vectorises more without them.
// The order of the text is kept, the processor reorders by itself. Weights are streamed a third faster where
// no scheduler takes a line out of its turn, since that is what hardware prefetchers follow. And without
// GCC's replacement of temporary expressions a product is added where the text adds it, not at the end of an
// unrolled block, until which all products of the block would have to be kept (half the speed of AVX2's
// contractions of bytes).
constexpr std::array kFlags = {"-O2",
                               "-fPIC",
                               "-ffp-contract=off",
                               "-fno-math-errno",
                               "-fno-trapping-math",
                               "-fno-schedule-insns2",
                               "-fno-tree-ter"};

// Flags that Clang refuses. GCC gives registers to a whole function at a time: loop by loop it keeps the
// addresses of a chain of operators in memory, a tenth to a fifth slower.
constexpr std::array kGccFlags = {"-fira-region=one"};

std::optional<std::string> read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Named by the triplet of the target, as Debian names them.
fs::path find_cross_compiler(const ToolchainOptions& options) {
    const bool is_arm = options.isa == machine::Isa::kAArch64;
    const std::string name = is_arm ? "aarch64-linux-gnu-g++" : "x86_64-linux-gnu-g++";
    if (const auto program = find_program(name, options.search_path)) return *program;
    throw Error("", "",
                fmt::format("there is no C++ compiler for {}: {} is not in PATH",
                            tessera::machine::name(options.isa), name),
                fmt::format("install the Debian package {}",
                            is_arm ? "g++-aarch64-linux-gnu" : "g++-x86-64-linux-gnu"));
}

fs::path find_compiler(const ToolchainOptions& options) {
    const std::string& command = options.compiler.command;
    if (!command.empty()) {
        if (const auto program = find_program(command, options.search_path)) return *program;
        throw Error("", command, "the C++ compiler that the machine file names is not there",
                    "change or remove `command` in the machine file");
    }
    if (options.isa != machine::kHostIsa) return find_cross_compiler(options);
    for (const char* name : {"c++", "g++", "clang++"})
        if (const auto program = find_program(name, options.search_path)) return *program;
    throw Error("", "", "there is no C++ compiler: none of c++, g++, clang++ is in PATH",
                "install the Debian package g++; artefacts that exist run without it");
}

/// The first line of --version, such as "g++ (Debian 12.2.0-14) 12.2.0".
std::string version_of(const fs::path& compiler) {
    const ProcessResult result = run_process({.program = compiler, .arguments = {"--version"}});
    if (result.exit_code != 0) throw Error(compiler.string(), "", "is no C++ compiler: --version fails");
    return result.output.substr(0, result.output.find('\n'));
}

std::vector<fs::path> ntt_headers(const fs::path& include_directory) {
    const fs::path folder = include_directory / "tessera" / "ntt";
    std::error_code error;
    std::vector<fs::path> headers;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().extension() == ".h") headers.push_back(entry->path());
    if (error || headers.empty())
        throw Error(folder.string(), "", "holds no headers of NTT",
                    "the installation of Tessera is not complete");
    std::sort(headers.begin(), headers.end());
    return headers;
}

struct Compiler {
    fs::path program;
    std::string version;
};

Compiler compiler_for(const ToolchainOptions& options) {
    const fs::path program = find_compiler(options);
    return {program, version_of(program)};
}

std::vector<std::string> flags_for(const Compiler& compiler, const ToolchainOptions& options,
                                   Language language) {
    std::vector<std::string> flags = {language == Language::kC ? "-std=c99" : "-std=c++20"};
    flags.insert(flags.end(), kFlags.begin(), kFlags.end());
    if (compiler.version.find("clang") == std::string::npos)
        flags.insert(flags.end(), kGccFlags.begin(), kGccFlags.end());
    flags.insert(flags.end(), options.compiler.flags.begin(), options.compiler.flags.end());
    return flags;
}

std::string content_of(const fs::path& header) {
    auto content = read_file(header);
    if (!content) throw Error(header.string(), "", "cannot be read");
    return *std::move(content);
}

std::string digest_of(const Compiler& compiler, const ToolchainOptions& options, Language language) {
    Hasher hasher;
    hasher.field(compiler.program.string()).field(compiler.version);
    for (const std::string& flag : flags_for(compiler, options, language)) hasher.field(flag);
    for (const fs::path& header : ntt_headers(options.include_directory))
        hasher.field(fs::relative(header, options.include_directory).string()).field(content_of(header));
    return hasher.hex();
}

std::string first_lines(std::string_view text) {
    std::string result;
    size_t start = 0;
    for (size_t i = 0; i < kShownLines && start < text.size(); ++i) {
        const size_t end = std::min(text.find('\n', start), text.size());
        result += fmt::format("\n  {}", text.substr(start, end - start));
        start = end + 1;
    }
    return start < text.size() ? result + "\n  ..." : result;
}

/// Recognises the compiler's message for a full disk, `ulimit -f` or a quota.
bool says_no_room(const std::string& errors) {
    return std::ranges::any_of(std::array{ENOSPC, EFBIG, EDQUOT}, [&](int reason) {
        return errors.find(std::strerror(reason)) != std::string::npos;
    });
}

/// The code is kept where the fault may be in it.
[[noreturn]] void report_failure(const ProcessResult& result, const fs::path& compiler, std::string_view code,
                                 const fs::path& kept) {
    if (says_no_room(result.errors))
        throw Error(kept.parent_path().string(), "",
                    fmt::format("{} has no room for what it writes:{}", compiler.string(),
                                first_lines(result.errors)));
    write_file(kept, code);
    throw Error(kept.string(), "",
                fmt::format("{} cannot compile the generated code, exit code {}:{}", compiler.string(),
                            result.exit_code, first_lines(result.errors)));
}

/// The runs that make an object of each unit, in `folder`, and the one behind them that links the objects; of
/// one unit alone a single run that does both.
struct Runs {
    std::vector<Process> of_units;
    std::optional<Process> link;
};

Runs runs_for(const Code& code, const Compiler& compiler, const ToolchainOptions& options,
              const fs::path& folder, const fs::path& source, const fs::path& object) {
    const auto run = [&](std::vector<std::string> arguments) {
        const std::vector<std::string> flags = flags_for(compiler, options, code.language);
        arguments.insert(arguments.begin(), flags.begin(), flags.end());
        return Process{.program = compiler.program, .arguments = std::move(arguments)};
    };
    const std::string include = options.include_directory.string();
    const std::string language = code.language == Language::kC ? "c" : "c++";
    if (code.units == 1)
        return {{run({"-shared", "-I", include, "-o", object.string(), "-x", language, source.string()})},
                {}};
    Runs runs;
    std::vector<std::string> link = {"-shared", "-o", object.string()};
    for (int64_t unit = 0; unit < code.units; ++unit) {
        link.push_back((folder / fmt::format("{}.o", unit)).string());
        runs.of_units.push_back(run({"-c", fmt::format("-DTESSERA_UNIT={}", unit), "-I", include, "-o",
                                     link.back(), "-x", language, source.string()}));
    }
    runs.link = run(std::move(link));
    return runs;
}

}  // namespace

std::string toolchain_digest(const ToolchainOptions& options) {
    return digest_of(compiler_for(options), options, Language::kCpp);
}

SharedObject compile_shared_object(const Code& code, const ToolchainOptions& options) {
    const Compiler compiler = compiler_for(options);
    // How code is called, and numbers of 64 bits, do not count in what was measured, but in what was
    // compiled.
    const std::string key = Hasher()
                                .field(code.text)
                                .field(digest_of(compiler, options, code.language))
                                .field(content_of(options.include_directory / "tessera" / "step.h"))
                                .field(content_of(options.include_directory / "tessera" / "wide.h"))
                                .hex();
    // A path that begins with - or @ would be an option of the compiler.
    const fs::path folder = fs::absolute(options.cache_directory);
    create_folders(folder);
    const fs::path entry = folder / (key + ".so");
    if (auto cached = kept_file(entry)) return {.bytes = std::move(*cached), .was_cached = true};

    const ScratchFolder work(folder, "build");
    // The name is part of the object's symbols, so it is the same whatever the folder is called.
    const std::string suffix = code.language == Language::kC ? ".c" : ".cpp";
    const fs::path source = work.path() / ("tessera" + suffix);
    const fs::path object = work.path() / "tessera.so";
    write_file(source, code.text);
    const Runs runs = runs_for(code, compiler, options, work.path(), source, object);
    double cpu_seconds = 0;
    const auto finish = [&](const std::vector<Process>& processes) {
        for (const ProcessResult& result : run_processes(processes, options.while_waiting)) {
            cpu_seconds += result.cpu_seconds;
            if (result.exit_code != 0)
                report_failure(result, compiler.program, code.text,
                               folder / fmt::format("{}.failed{}", key, suffix));
        }
    };
    finish(runs.of_units);
    if (runs.link) finish({*runs.link});
    auto bytes = read_file(object);
    if (!bytes)
        throw Error(object.string(), "",
                    fmt::format("{} succeeded without writing it", compiler.program.string()));
    keep_file(entry, *bytes);
    return {.bytes = std::move(*bytes), .cpu_seconds = cpu_seconds};
}

}  // namespace tessera::backend
