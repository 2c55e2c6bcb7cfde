#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/error.h"

/// From a model to an artefact.
namespace tessera {

/// The largest CompileSettings::search_effort: limits of the searches are multiples of it and fit 64 bits.
inline constexpr int64_t kMostSearchEffort = 1'000'000;

/// The target of compiling, and its needs from the system. Nothing is read from the environment. The first
/// two must be given; everything else has a default.
struct CompileSettings {
    /// Folder that holds tessera/ntt/: `tessera_INCLUDE_DIR` of the CMake package.
    std::filesystem::path include_directory;
    /// Folder for compiled code, which is found again by its content; created if missing.
    std::filesystem::path cache_directory;
    /// Folders between colons, in which the C++ compiler is looked for.
    std::string search_path = "/usr/local/bin:/usr/bin:/bin";

    std::filesystem::path machine;  ///< description (machines/*.toml); empty: this machine
    /// Without `machine`: the folder, `$XDG_CACHE_HOME/tessera`, below which `tessera machine --measure` has
    /// kept the rates of this machine. Empty, or nothing kept: plans rest on preferences and roofs.
    std::filesystem::path measured_machines;
    /// File of a plan to compile, which has its own number of workers; empty: the default planner's.
    std::filesystem::path plan;
    /// File of kernels to keep, around which the others are searched (docs/schedule.md); empty: none.
    std::filesystem::path kernels;
    /// File of measured kernels that `tessera tune` has written: those of this machine and model are kept,
    /// and the others are searched around them (docs/schedule.md); empty: none.
    std::filesystem::path tuning;
    std::filesystem::path dump;  ///< folder for the printed form after every pass; empty: none
    /// The permitted rounding of activations that only products with weights read (docs/types.md):
    ///
    ///     "exact"    nothing: F32
    ///     "default"  the type of F16 or BF16 weights; with quantised weights 15 bits in blocks of up to 256,
    ///                13 bits where all weights have blocks of 256 (Q4_K, Q5_K, Q6_K)
    ///     "fast"     as "default", but 8 bits in blocks of 32 with quantised weights
    ///
    /// With a cache of BF16, queries and weights of the softmax are BF16 too, except under "exact".
    std::string policy = "default";
    /// Type of keys and values: "f32", "f16", "bf16", "q8_0" (bytes in blocks of 32), or "auto". Under the
    /// policy "exact" "auto" is F32. Else it is the type of the weights that make keys and values, BF16 if
    /// one of them is quantised, and F32 if their float types differ.
    std::string cache_type = "auto";
    /// Quantises the matrices of a float checkpoint: "q8_0", "q4_0", "q4_k_m"; empty: they stay as they are.
    std::string quantize;
    /// File with the text of an architecture, which the model may be of (docs/architectures.md); empty: those
    /// that are known.
    std::filesystem::path architecture;
    /// The artefact can embed texts, too (tessera/embedding.h): its step gives the hidden states behind the
    /// last norm beside the logits.
    bool embeddings = false;
    /// Work of the searches for graphs, layouts and kernels, a multiple of the default, at most
    /// kMostSearchEffort; 0: no search for graphs and layouts, and a short one for kernels.
    int64_t search_effort = 1;
    /// For comparisons: the published model that prices kernels in the search of structures and tiles,
    /// "nncase", "mcfuser" or "roofline" (docs/schedule.md); empty: the planner's own price. Not with `plan`.
    std::string cost;
    /// For comparisons: parts of the searches that are left out, such as "layouts", "growth" or a family of
    /// rules (docs/schedule.md has all names). Not with `plan`.
    std::vector<std::string> without;
    /// For comparisons: operators of the regions that are all looked at, 1 to 8; default: 4, more with a
    /// larger `search_effort`. Not with `plan`.
    std::optional<int64_t> regions;
    /// The printer of code: "cpp", C++ with all micro-kernels, or "scalar-c", plain C that computes a number
    /// at a time, for comparisons (docs/design.md).
    std::string backend = "cpp";
    /// Threads that compute a step together, 1 to 1024; default: the machine's cores, divided among
    /// the ranks. `plan` overrides it.
    std::optional<int64_t> workers;
    /// Parts of the model that compute a step together, 2 to 128, each with `workers` threads
    /// (docs/ranks.md); default: one.
    std::optional<int64_t> ranks;
    std::filesystem::path
        cluster;  ///< description of the ranks and what lies between them; empty: this machine
    std::optional<int64_t> rank_memory;  ///< bytes of one rank, at most
    /// Tokens of one sequence, 1 to the model's positions; default: those, but at most 8192.
    std::optional<int64_t> context;

    /// Told each pass as it starts; may be empty. An exception from it ends the compilation, and reaches the
    /// caller.
    std::function<void(const std::string&)> on_pass;
    /// Called about ten times a second while the C++ compiler runs, likewise; may be empty.
    std::function<void()> while_waiting;
};

/// The report of a compilation.
struct CompileReport {
    struct Pass {
        std::string name;
        double seconds;    ///< wall-clock time
        std::string note;  ///< the result of a search, in a few words; empty for other passes
    };
    std::vector<Pass> passes;  ///< in the order in which they ran
    /// Parts of the checkpoint that the artefact does not compute, or computes otherwise than its settings
    /// say: its users must know them. The artefact keeps them (ModelFile::warnings). Then the searches that a
    /// budget has cut short, with the option that raises it.
    std::vector<std::string> warnings;
    double cpp_cpu_seconds = 0;    ///< CPU time of the C++ compiler; 0 if the code was in the cache
    bool code_was_cached = false;  ///< `cache_directory` had the code
    int64_t code_bytes = 0;        ///< length of the emitted C++
    int64_t constant_bytes = 0;    ///< weights in the artefact, padding included
    int64_t artefact_bytes = 0;    ///< size of the file
};

/// Compiles a HuggingFace folder or GGUF file into an artefact; `out` appears whole or not at all. A pipe
/// or a device stays what it is and is written at the end.
/// @throws Error naming the setting that is outside its range, or the thing that is unsupported, illegal or
/// missing.
CompileReport compile(const std::filesystem::path& model, const std::filesystem::path& out,
                      const CompileSettings& settings);

/// Compiles a program, the text of a graph in a file (.ir, docs/programs.md), into an artefact that `tessera
/// run` calls with arrays. `constants`: a NumPy file for each tensor that the graph names as the source of a
/// constant. `policy`, `cache_type`, `quantize`, `architecture`, `embeddings` and `context` of the settings
/// must be left as they are.
/// @throws Error as compile does, and of kind kUsage if one of these is given.
CompileReport compile_program(const std::filesystem::path& program,
                              const std::map<std::string, std::filesystem::path>& constants,
                              const std::filesystem::path& out, const CompileSettings& settings);

/// Bounds of a symbolic extent, inclusive; both are multiples of `step`, and so is every value.
struct ExtentBounds {
    int64_t low = 1;
    int64_t high = 1;
    int64_t step = 1;
};

/// Values of all symbols of a model at which costs are compared, and how much they count.
struct CostPoint {
    std::string name;
    double weight = 1;
    std::map<std::string, int64_t> values;
};

/// Choices that an ONNX model leaves open (docs/onnx.md).
struct OnnxSettings {
    std::map<std::string, ExtentBounds>
        dims;  ///< of each symbolic extent, by the model's name or the graph's
    /// Inputs that are known now, such as one that chooses a branch: each a number for all elements, a
    /// list "1,2" of them, or the path of a NumPy file.
    std::map<std::string, std::string> constants;
    /// Outputs by inputs that they continue with rows appended, such as {"present.0.key", "past.0.key"}: a
    /// state of the program, which a call changes in place.
    std::map<std::string, std::string> aliases = {};
    std::vector<CostPoint> points;  ///< where the plan should be fast; without one at the upper bounds
};

/// Compiles an ONNX model (.onnx, docs/onnx.md) into an artefact that `tessera run` and Program (tessera/
/// program.h) call with arrays. Settings as for a program.
/// @throws Error as compile_program does, naming everything that is not supported, by node and operator.
CompileReport compile_onnx(const std::filesystem::path& model, const OnnxSettings& onnx,
                           const std::filesystem::path& out, const CompileSettings& settings);

/// Makes an artefact fit another machine, without the model that it came from. The artefact keeps its policy,
/// the types of its weights and cache, its embeddings and its context: `policy`, `cache_type`, `quantize` and
/// `embeddings` of the settings have no effect, and `context` must be empty.
/// @throws Error as compile does, and of kind kUsage if `context` is given.
CompileReport retarget(const std::filesystem::path& artefact, const std::filesystem::path& out,
                       const CompileSettings& settings);

}  // namespace tessera
