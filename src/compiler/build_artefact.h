#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "import/weights.h"
#include "run/runtime/artefact.h"

namespace tessera::compiler {

/// The input of building an artefact, read from a checkpoint or from another artefact.
struct ModelParts {
    const Graph& graph;
    const import::WeightSource& weights;  ///< of all constants of the graph
    std::optional<runtime::Manifest::Text> text;
    std::vector<runtime::NamedFile> tokenizer;
    std::string where;                  ///< the file or folder, for errors
    std::vector<std::string> warnings;  ///< for users that compile or run it
    /// The name that a call has for the array of an input, output or state, and whether it has no axes.
    struct Array {
        std::string value, name;
        bool is_scalar = false;
    };
    std::vector<Array> arrays = {};
    /// Arrays of a call without elements, which the graph does not have.
    std::vector<runtime::Manifest::Tensor> empty_inputs = {}, empty_outputs = {};
    std::vector<std::string> hidden_outputs = {};  ///< of the graph, that a call does not show
};

/// Checks that the artefact and the dumps can be written, before the work for them starts.
/// @throws Error where they cannot
void check_outputs(const std::filesystem::path& out, const CompileOptions& options);

/// The part of it behind the plan: code and packed weights.
void write_model(const ModelParts& parts, const Compiled& compiled, const std::filesystem::path& out,
                 const CompileOptions& options, CompileReport& report);

/// All passes after the import: plan, code, packed weights. Adds to the report.
void build_artefact(const ModelParts& parts, const std::filesystem::path& out, const CompileOptions& options,
                    CompileReport& report);

}  // namespace tessera::compiler
