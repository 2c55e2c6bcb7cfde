#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "compiler/search_parts.h"
#include "import/policy.h"
#include "import/quantised/mixture.h"
#include "ir/graph.h"
#include "lowering/movement/program.h"
#include "lowering/plan/plan.h"
#include "machine/machine.h"
#include "machine/published_models.h"
#include "tessera/compile.h"

/// From a model to an artefact: the one place that knows the order of the passes (docs/design.md).
namespace tessera::compiler {

struct CompileOptions {
    machine::Machine machine;                      ///< the described machine; code and plan are for it alone
    std::filesystem::path ntt_include;             ///< folder that holds tessera/ntt/ntt.h
    std::string search_path;                       ///< PATH, where the C++ compiler is looked for
    std::filesystem::path cache;                   ///< compiled code by content; created if missing
    std::optional<std::filesystem::path> plan;     ///< use this plan in place of the default planner's
    std::optional<std::filesystem::path> kernels;  ///< stated ones, around which the others are searched
    std::optional<std::filesystem::path> tuning;   ///< measured kernels (search/planner/tuning_log.h)
    std::optional<std::filesystem::path> dump;  ///< write the printed form after every pass into this folder
    std::optional<int64_t> workers;             ///< threads of a step; default: the machine's cores
    std::optional<int64_t> ranks;               ///< processes that share the model; empty: one
    std::optional<std::filesystem::path>
        cluster;                         ///< of the ranks (machines/clusters); default: on this host
    std::optional<int64_t> rank_memory;  ///< bytes of a rank, at most
    std::optional<int64_t> context;      ///< positions of one sequence; default: the importer's
    import::Policy policy = import::Policy::kDefault;  ///< the permitted rounding of activations
    std::optional<ops::WeightFormat> cache_type;       ///< of keys and values; default: the policy's
    std::optional<import::Mixture> quantisation;       ///< of a float checkpoint
    std::optional<std::filesystem::path>
        architecture;         ///< a text that the model may be of, beside those within
    bool embeddings = false;  ///< hidden states are an output of the step, too
    /// Prices kernels in the schedule search in place of the planner's own costs (cost/published.h).
    std::optional<machine::PublishedModel> cost;
    /// Work of the searches, a multiple of the default; 0: none for graphs and layouts, little for kernels.
    int64_t search_effort = 1;
    SearchParts parts = {};                                         ///< of the searches
    const backend::Backend* backend = &backend::default_backend();  ///< that emits the code
    /// The graph is the result of these passes already: it was distributed behind them.
    bool is_rewritten = false;
    /// The graph has a node for each step of arithmetic (search/rules/compose_maps.h).
    bool composes_maps = false;
    std::function<void(const std::string&)> on_pass;  ///< told each pass as it starts; may be empty
    std::function<void()>
        while_waiting;  ///< called about ten times a second while the C++ compiler runs; may be empty
};

/// Compiles a HuggingFace folder or GGUF file into an artefact; `out` appears whole or not at all.
/// @throws Error naming what is unsupported, illegal or missing.
CompileReport compile_model(const std::filesystem::path& model, const std::filesystem::path& out,
                            const CompileOptions& options);

/// Compiles the text of a graph (docs/programs.md) into an artefact. `constants`: a NumPy file for each
/// source of its constants.
/// @pre options.context, cache_type, quantisation and embeddings are empty: they are of models.
/// @throws Error naming what is unsupported, illegal or missing.
CompileReport compile_program(const std::filesystem::path& file,
                              const std::map<std::string, std::filesystem::path>& constants,
                              const std::filesystem::path& out, const CompileOptions& options);

/// Compiles an ONNX model into an artefact.
/// @pre as compile_program
/// @throws Error naming everything that is not supported, by node and operator.
CompileReport compile_onnx(const std::filesystem::path& file, const OnnxSettings& settings,
                           const std::filesystem::path& out, const CompileOptions& options);

/// Makes an artefact for another machine from an artefact: its graph is planned anew (or by the given plan),
/// and its weights, whose packing is invertible, are packed for that plan. The result is byte for byte what
/// compile_model gives for the model and context that the artefact was made from, as long as the search finds
/// the same graph for both machines: an artefact holds the one that was chosen.
/// @pre options.context is empty: it is part of the graph.
/// @throws Error for a file that is no artefact, and where compile_model does.
CompileReport retarget_artefact(const std::filesystem::path& artefact, const std::filesystem::path& out,
                                const CompileOptions& options);

/// The place that errors in the planner's own plan name.
inline constexpr const char* kDefaultPlan = "default plan";

/// The passes between import and emission, for `tessera opt` and tests.
struct Compiled {
    Graph graph;      ///< decomposed
    plan::Plan plan;  ///< placed and verified
    std::vector<movement::Program> programs;
    backend::Code code;
    /// Searches that a budget has cut short, by their passes, and what raises it.
    std::vector<std::string> cut_short = {};
};
Compiled compile_graph(const Graph& graph, const CompileOptions& options, CompileReport& report);
/// The first of them: the graph decomposed, and the cheapest one that the algebra proves equal.
Graph rewrite_graph(const Graph& graph, const CompileOptions& options, CompileReport& report);

}  // namespace tessera::compiler
