#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/checkpoint.h"
#include "import/model_spec.h"
#include "import/quantised/mixture.h"
#include "import/weights.h"
#include "ir/graph.h"

namespace tessera::import {

struct ImportOptions {
    int64_t context = 0;       ///< positions of one sequence; 0: what the model says, at most kDefaultContext
    int64_t max_tokens = 512;  ///< new tokens of one step
    int64_t max_sequences = 16;  ///< sequences of one step
    Policy policy = Policy::kDefault;
    std::optional<ops::WeightFormat> cache;  ///< of keys and values; empty: cache_type of the policy
    std::optional<Mixture> quantisation;     ///< of a float checkpoint
    bool gives_hidden = false;               ///< ModelSpec::gives_hidden
    Architectures architectures;             ///< texts of the user's own, before those that are shipped
};

/// By default, the rotary tables and page tables stay small, however many positions a model allows.
inline constexpr int64_t kDefaultContext = 8192;
/// A step of an encoder holds a whole text.
inline constexpr int64_t kDefaultEncoderContext = 2048;

/// Properties of a model that the rest of Tessera needs besides its graph.
struct ModelFacts {
    std::string architecture;
    std::string format;
    int64_t vocabulary = 0;
    int64_t context = 0;        ///< positions of one sequence
    int64_t max_positions = 0;  ///< that the model was made for
    std::vector<int64_t> end_ids;
    bool has_source = false;  ///< a text is made of another, the source, which a step takes as a whole
    std::optional<SourceFeatures> features;  ///< rows of numbers in the place of the source's tokens
    bool is_encoder = false;  ///< the graph reads whole texts, and gives vectors of their tokens alone
    Policy policy = Policy::kDefault;
    ops::WeightFormat cache = ops::WeightFormat::kF32;
};

struct ImportedModel {
    Graph graph;                                  ///< with composites
    std::shared_ptr<const WeightSource> weights;  ///< of all constants of the graph
    ModelFacts facts;
    std::vector<std::string> warnings;  ///< see Findings
};

/// Reads a model: a folder in HuggingFace form, or a GGUF file. It needs no tokenizer.
/// @throws Error naming everything that is not supported or wrong with the tensors, at once.
ImportedModel import_model(const std::filesystem::path& path, const ImportOptions& options = {});

/// The report of `tessera check`: the checkpoint with all findings, also those of its tensors.
struct ModelReport {
    Checkpoint checkpoint;
    std::optional<ModelSpec> spec;  ///< empty without a configuration or without weights
};

/// Imports the model and says what became of it: what import_model would refuse is among the findings.
/// @throws Error if the path holds no model, or a file is damaged.
ModelReport inspect_model(const std::filesystem::path& path, const Architectures& known = {});

}  // namespace tessera::import
