#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/error.h"

/// From a model to an artefact.
namespace tessera {

/// Of CompileSettings::search_effort: beyond it budgets would not fit their numbers.
inline constexpr int64_t kMostSearchEffort = 1'000'000;

/// What to compile for, and what compiling needs of the system. Nothing is read from the environment.
struct CompileSettings {
    std::filesystem::path
        include_directory;  ///< holds tessera/ntt/: `tessera_INCLUDE_DIR` of the CMake package
    std::filesystem::path cache_directory;  ///< for compiled code, by its content; created if missing
    std::string search_path = "/usr/local/bin:/usr/bin:/bin";  ///< where the C++ compiler is looked for

    std::filesystem::path machine;  ///< description (machines/*.toml); empty: this machine
    /// Folder in which `tessera machine --measure` keeps this machine's rates; empty, or none kept: without.
    std::filesystem::path measured_machines;
    std::filesystem::path plan;  ///< compile this plan; empty: the default planner's
    std::filesystem::path dump;  ///< folder for the printed form after every pass; empty: none
    /// What activations may be rounded to: "default", the type of F16 or BF16 weights, 16 bits in blocks of
    /// 32 with quantised ones; "fast", 8 bits there; "exact", nothing below F32.
    std::string policy = "default";
    /// Of keys and values: "f32", "f16", "bf16"; "auto": that of the weights, F32 under the policy "exact".
    std::string cache_type = "auto";
    /// Quantises the matrices of a float checkpoint: "q8_0", "q4_0", "q4_k_m"; empty: they stay as they are.
    std::string quantize;
    /// Work of the searches, a multiple of what they do by default; 0: none, the default planner alone.
    int64_t search_effort = 1;
    std::optional<int64_t> workers;  ///< threads that compute a step together; default: the machine's cores
    std::optional<int64_t> context;  ///< positions of one sequence; default: the model's, at most 8192

    std::function<void(const std::string&)> on_pass;  ///< told each pass as it starts; may be empty
    /// Called about ten times a second while the C++ compiler runs; may be empty.
    std::function<void()> while_waiting;
};

/// What a compilation did.
struct CompileReport {
    struct Pass {
        std::string name;
        double seconds;
        std::string note;  ///< what a search found, in a few words; empty for other passes
    };
    std::vector<Pass> passes;
    /// What the checkpoint holds and the artefact does not compute, or computes otherwise than its settings
    /// say: whoever uses it must know. The artefact keeps them (ModelFile::warnings).
    std::vector<std::string> warnings;
    double cpp_cpu_seconds = 0;  ///< 0 if the code was in the cache
    bool code_was_cached = false;
    int64_t code_bytes = 0;  ///< of the emitted C++
    int64_t constant_bytes = 0;
    int64_t artefact_bytes = 0;
};

/// Compiles a HuggingFace folder or GGUF file into an artefact; `out` appears whole or not at all.
/// @throws Error naming what is unsupported, illegal or missing.
CompileReport compile(const std::filesystem::path& model, const std::filesystem::path& out,
                      const CompileSettings& settings);

/// Makes an artefact fit another machine, without the model that it came from. `settings.context` is empty:
/// the artefact has its own.
/// @throws Error as compile does.
CompileReport retarget(const std::filesystem::path& artefact, const std::filesystem::path& out,
                       const CompileSettings& settings);

}  // namespace tessera
