#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "cli/environment.h"
#include "cli/first_use.h"
#include "machine/machine.h"
#include "tessera/compile.h"

namespace CLI {
class App;
}

/// Common parts of the verbs with flags for compiling.
namespace tessera::cli {

struct CompileFlags {
    std::string machine;  ///< file; empty: the host
    bool no_measure = false;
    std::string plan;     ///< file; empty: the default planner's
    std::string kernels;  ///< file of stated kernels
    std::string tuning;   ///< file of measured kernels
    std::string dump;     ///< folder; empty: no dump
    int64_t workers = 0;  ///< 0: the machine's cores
    int64_t ranks = 1;
    std::string cluster;  ///< file; empty: the host
    std::optional<int64_t> rank_memory;
    int64_t context = 0;  ///< 0: the importer's choice
    int64_t search_effort = 1;
    std::string cost;  ///< a published model; empty: the planner's own prices
    std::vector<std::string> without;
    int64_t regions = 0;  ///< 0: by the effort
    std::string backend = CompileSettings().backend;
    ModelFlags model;
    bool embeddings = false;
};

/// --machine, --no-measure, --workers, --plan, --search-effort and --dump. `flags` must outlive the parsing.
void add_machine_flags(CLI::App& app, CompileFlags& flags);
/// The flags for comparisons of searches, beside the flags above: the published model that prices kernels,
/// and parts that are left out.
void add_comparison_flags(CLI::App& app, CompileFlags& flags);
/// The back end that prints the code.
void add_backend_flag(CLI::App& app, CompileFlags& flags);
/// Those, --context, --policy, --cache-type and --quantize.
void add_compile_flags(CLI::App& app, CompileFlags& flags);

/// The machine of a file, or the host. @throws Error.
machine::Machine read_machine(const std::string& file, const Environment& environment);
/// Measures the host once, unless another machine is compiled for or --no-measure was given. Says on stderr
/// how to measure it where that could not be kept, or what is kept is older than the kernels, but not if
/// `is_quiet`.
void prepare_host(const CompileFlags& flags, bool is_quiet, const Environment& environment);

/// Compiles with progress on the terminal, and prints the warnings about the checkpoint.
CompileReport compile(const std::filesystem::path& model, const std::filesystem::path& out,
                      const CompileFlags& flags, const Environment& environment);
/// The same of a program, with a NumPy file for each source of its constants.
CompileReport compile_program(const std::filesystem::path& program,
                              const std::map<std::string, std::filesystem::path>& constants,
                              const std::filesystem::path& out, const CompileFlags& flags,
                              const Environment& environment);
/// The same of an ONNX model, with bounds of its symbolic extents and inputs that are known now.
CompileReport compile_onnx(const std::filesystem::path& model, const OnnxSettings& onnx,
                           const std::filesystem::path& out, const CompileFlags& flags,
                           const Environment& environment);
/// The same from an artefact.
CompileReport retarget(const std::filesystem::path& artefact, const std::filesystem::path& out,
                       const CompileFlags& flags, const Environment& environment);

/// Times and sizes, on stderr.
void print_report(const std::string& out, const CompileReport& report);

}  // namespace tessera::cli
