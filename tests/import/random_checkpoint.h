#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "import/gguf_builder.h"

/// Small random checkpoints of every architecture, with their logits computed by plain loops in float64 that
/// share no code with the product.
namespace tessera::testing {

struct NamedTensor {
    std::vector<int64_t> shape;
    std::vector<float> values;
    std::string type = "F32";  ///< in the file
    std::string stored;        ///< its bytes there; empty: `values` as F32
};

struct RandomDecoder {
    std::string architecture = "llama";
    int64_t layers = 2, hidden = 20, feed_forward = 13, heads = 6, cache_heads = 2, width = 6,
            vocabulary = 23;
    double epsilon = 1e-5;
    double theta = 10000;
    bool tied = false, qkv_bias = false, output_bias = false, feed_forward_bias = false, head_norms = false;
    nlohmann::json rope_scaling;                 ///< as in config.json; null without
    double rope_amplitude = 1;                   ///< of the cosines and sines; llama.cpp's attn_factor
    std::map<std::string, NamedTensor> tensors;  ///< by the names of HuggingFace

    /// Fills `tensors` with values that depend on the seed only.
    void fill(uint64_t seed);
    const std::vector<float>& at(const std::string& name) const { return tensors.at(name).values; }
    const std::vector<float>& layer(int64_t layer, const std::string& name) const {
        return at("model.layers." + std::to_string(layer) + "." + name);
    }
};

/// Differences of a GGUF file from the converter's output.
struct GgufChanges {
    std::set<std::string> without;                ///< keys behind "ARCH." that are left out
    std::function<void(test::GgufBuilder&)> add;  ///< further metadata; may be empty
};

nlohmann::json config_of(const RandomDecoder& model);
/// config.json and model.safetensors.
void write_hugging_face(const RandomDecoder& model, const std::filesystem::path& folder);
/// The same in two files with an index; names alternate between them.
void write_sharded(const RandomDecoder& model, const std::filesystem::path& folder);
/// As llama.cpp's converter writes it: rows of Q and K of "llama" permuted, factors of "llama3" scaling as a
/// tensor.
void write_gguf(const RandomDecoder& model, const std::filesystem::path& file,
                const GgufChanges& changes = {});
/// The same in two files NAME-00001-of-00002.gguf and NAME-00002-of-00002.gguf; tensors alternate between
/// them.
void write_split_gguf(const RandomDecoder& model, const std::filesystem::path& folder,
                      const std::string& name);

/// A safetensors file of these F32 tensors.
std::string safetensors_of(const std::map<std::string, NamedTensor>& tensors);
void write_file(const std::filesystem::path& path, const std::string& bytes);

/// Radians for each position, of each pair of a head.
std::vector<double> naive_frequencies(const RandomDecoder& model);
/// Logits after each token, [tokens, vocabulary].
std::vector<double> naive_logits(const RandomDecoder& model, const std::vector<int64_t>& tokens);

}  // namespace tessera::testing
