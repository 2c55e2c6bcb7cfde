#include "import/checkpoint.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "import/expert_weights.h"
#include "import/gguf/gguf_config.h"
#include "import/gguf/gguf_weights.h"
#include "import/hf/config.h"
#include "import/hf/fp8_weights.h"
#include "import/hf/packed_weights.h"
#include "import/hf/safetensors.h"
#include "import/hf/sharded_safetensors.h"
#include "import/tensor_views.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/stand_in.h"

namespace tessera::import {
namespace {

namespace fs = std::filesystem;

std::string find_tokenizer(const fs::path& folder) {
    if (fs::exists(folder / "tokenizer.json")) return "tokenizer.json";
    if (fs::exists(folder / "tokenizer.model")) return "tokenizer.model";
    if (fs::exists(folder / "vocab.json") && fs::exists(folder / "merges.txt"))
        return "vocab.json, merges.txt";
    return {};
}

void find_weights(const fs::path& folder, Checkpoint& checkpoint) {
    const fs::path single = folder / "model.safetensors";
    if (fs::exists(single)) {
        checkpoint.weights = std::make_shared<const SafetensorsFile>(SafetensorsFile::open(single.string()));
        return;
    }
    const fs::path index = folder / "model.safetensors.index.json";
    if (fs::exists(index)) {
        checkpoint.weights =
            std::make_shared<const ShardedSafetensors>(ShardedSafetensors::open(index.string()));
        return;
    }
    for (const char* other : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
        if (!fs::exists(folder / other)) continue;
        checkpoint.findings.unsupported.push_back(fmt::format(
            "weights in {}: expected model.safetensors, or model.safetensors.index.json with its files",
            other));
        return;
    }
}

/// transformers would load the adapter into the model; whatever it changes, nothing here computes it.
void refuse_adapter(const fs::path& folder, Checkpoint& checkpoint) {
    constexpr const char* kAdapter = "adapter_config.json";
    if (fs::exists(folder / kAdapter))
        checkpoint.findings.unsupported.push_back(
            fmt::format("{}: an adapter, which is to be merged into the weights", kAdapter));
}

/// The parts of packed matrices would be reported as missing weights.
void refuse_unannounced_packing(Checkpoint& checkpoint) {
    for (const std::string& name : checkpoint.weights->names()) {
        if (!name.ends_with(".qweight")) continue;
        checkpoint.findings.unsupported.push_back(fmt::format(
            "{}: a packed matrix, whose form neither quantization_config nor quantize_config.json states",
            name));
        return;
    }
}

void unpack(Checkpoint& checkpoint) {
    if (!checkpoint.config || !checkpoint.weights) return;
    if (!checkpoint.config->packed) return refuse_unannounced_packing(checkpoint);
    const PackedForm form = *checkpoint.config->packed;
    if (form.method != PackedForm::Method::kFp8) {
        checkpoint.weights = std::make_shared<const PackedWeights>(checkpoint.weights, form);
        return;
    }
    checkpoint.weights = std::make_shared<const Fp8Weights>(checkpoint.weights, form);
    checkpoint.findings.warnings.push_back(
        "weights of 8 bits are computed with as BF16 or F32, and activations are not rounded to 8 bits: "
        "results "
        "differ from those of a runtime that rounds them");
}

/// Finds the tensors that the text of the architecture names, and makes those that are parts of others.
void place(Checkpoint& checkpoint) {
    if (!checkpoint.config || checkpoint.config->layers_differ) return;
    checkpoint.parts = parts_of(*checkpoint.config);
    if (!checkpoint.weights) return;
    checkpoint.placed = place_tensors(*checkpoint.config, *checkpoint.parts, checkpoint.weights.get());
    if (!checkpoint.placed->stacks.empty())
        checkpoint.weights =
            std::make_shared<const ExpertWeights>(checkpoint.weights, checkpoint.placed->stacks);
    if (!checkpoint.placed->views.empty())
        checkpoint.weights =
            std::make_shared<const TensorViews>(checkpoint.weights, checkpoint.placed->views);
}

Checkpoint open_folder(const fs::path& folder, const Architectures& known) {
    refuse_without_config(folder);
    const fs::path config = folder / "config.json";
    Checkpoint checkpoint{
        .path = folder.string(), .format = "HuggingFace", .tokenizer = find_tokenizer(folder)};
    checkpoint.config = read_hf_config(config.string(), known, checkpoint.findings);
    find_weights(folder, checkpoint);
    refuse_adapter(folder, checkpoint);
    unpack(checkpoint);
    place(checkpoint);
    return checkpoint;
}

Checkpoint open_gguf(const fs::path& path, const Architectures& known) {
    const GgufParts parts = GgufParts::open(path);
    const GgufFile& first = parts.first();
    Checkpoint checkpoint{.path = path.string(), .format = fmt::format("GGUF v{}", first.version())};
    if (parts.all().size() > 1) checkpoint.format += fmt::format(", {} files", parts.all().size());
    if (first.metadata().contains("tokenizer.ggml.tokens"))
        checkpoint.tokenizer = fs::path(first.path()).filename().string();
    checkpoint.config = read_gguf_config(first, parts, known, checkpoint.findings);
    checkpoint.weights = std::make_shared<const GgufWeights>(parts);
    place(checkpoint);
    return checkpoint;
}

}  // namespace

Checkpoint open_checkpoint(const fs::path& path, const Architectures& known) {
    if (!fs::exists(path)) throw Error(path.string(), "", "does not exist");
    if (fs::is_directory(path)) return open_folder(path, known);
    if (path.extension() == ".json") {
        Checkpoint checkpoint{.path = path.string(), .format = "HuggingFace, settings only"};
        checkpoint.config = read_hf_config(path.string(), known, checkpoint.findings);
        place(checkpoint);
        return checkpoint;
    }
    if (GgufFile::is_gguf(path)) return open_gguf(path, known);
    refuse_text(MappedFile::open(path).text(), path.string());
    throw Error(path.string(), "", "is no model", "expected a folder with config.json, or a GGUF file");
}

void refuse_without_config(const fs::path& folder) {
    if (fs::exists(folder / "config.json")) return;
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".gguf") files.push_back(entry.path().filename().string());
    std::sort(files.begin(), files.end());
    if (!files.empty())
        throw Error(folder.string(), "", fmt::format("is no model, but holds {}", files.front()),
                    "name the file: " + (folder / files.front()).string());
    throw Error(folder.string(), "", "has no config.json",
                "a model is a folder in HuggingFace form, or a GGUF file");
}

}  // namespace tessera::import
