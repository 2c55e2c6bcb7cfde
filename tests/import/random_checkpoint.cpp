#include "import/random_checkpoint.h"

#include <cstring>
#include <fstream>
#include <random>

namespace tessera::testing {
namespace {

std::string bytes_of(const std::vector<float>& values) {
    std::string bytes(values.size() * sizeof(float), '\0');
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::string bytes_of(const NamedTensor& tensor) {
    return tensor.stored.empty() ? bytes_of(tensor.values) : tensor.stored;
}

/// transformers' halves (d, d + width / 2) become llama.cpp's pairs (2 i, 2 i + 1) within each head.
std::string permuted(const std::string& rows, int64_t heads, int64_t width) {
    const size_t row = rows.size() / static_cast<size_t>(heads * width);
    std::string result;
    for (int64_t h = 0; h < heads; ++h)
        for (int64_t d = 0; d < width; ++d) {
            const int64_t from = d % 2 * (width / 2) + d / 2;
            result += rows.substr(static_cast<size_t>(h * width + from) * row, row);
        }
    return result;
}

/// The numbers of ggml's types.
uint32_t ggml_number(const std::string& type) {
    static const std::map<std::string, uint32_t> numbers = {
        {"F32", 0},   {"F16", 1},     {"Q4_0", 2},   {"Q4_1", 3},  {"Q5_0", 6},  {"Q5_1", 7},
        {"Q8_0", 8},  {"Q4_K", 12},   {"Q5_K", 13},  {"Q6_K", 14}, {"BF16", 30}, {"Q2_K", 10},
        {"Q3_K", 11}, {"IQ4_NL", 20}, {"MXFP4", 39}, {"IQ2_S", 22}};
    return numbers.at(type);
}

const std::map<std::string, std::string>& gguf_names() {
    static const std::map<std::string, std::string> names = {
        {"input_layernorm.weight", "attn_norm.weight"},
        {"self_attn.q_proj", "attn_q"},
        {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},
        {"self_attn.o_proj", "attn_output"},
        {"self_attn.q_norm.weight", "attn_q_norm.weight"},
        {"self_attn.k_norm.weight", "attn_k_norm.weight"},
        {"post_attention_layernorm.weight", "ffn_norm.weight"},
        {"mlp.gate_proj", "ffn_gate"},
        {"mlp.up_proj", "ffn_up"},
        {"mlp.down_proj", "ffn_down"},
        {"model.layers.", "blk."},
        {"model.embed_tokens", "token_embd"},
        {"model.norm", "output_norm"},
        {"lm_head", "output"},
    };
    return names;
}

std::string gguf_name(std::string name) {
    for (const auto& [from, to] : gguf_names())
        if (const size_t at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
    return name;
}

class GgufWriter {
public:
    GgufWriter(const RandomDecoder& model, const GgufChanges& changes) : model_(model), changes_(changes) {}

    std::string run() {
        metadata();
        for (const auto& [name, tensor] : model_.tensors)
            add(gguf_name(name), contents_of(name, tensor), tensor.shape, tensor.type);
        return builder_.data(data_).build();
    }

    /// One of two parts; the first has the metadata.
    std::string part(uint16_t number) {
        builder_.scalar("split.no", 2, number).scalar("split.count", 2, uint16_t{2});
        builder_.scalar("split.tensors.count", 5, static_cast<int32_t>(model_.tensors.size()));
        if (number == 0) metadata();
        size_t index = 0;
        for (const auto& [name, tensor] : model_.tensors)
            if (index++ % 2 == number)
                add(gguf_name(name), contents_of(name, tensor), tensor.shape, tensor.type);
        return builder_.data(data_).build();
    }

private:
    void metadata() {
        const auto key = [&](const char* suffix) { return model_.architecture + "." + suffix; };
        const auto u32 = [&](const char* suffix, int64_t value) {
            if (!changes_.without.contains(suffix)) builder_.u32(key(suffix), static_cast<uint32_t>(value));
        };
        builder_.string("general.architecture", model_.architecture);
        u32("block_count", model_.layers);
        u32("context_length", 64);
        u32("embedding_length", model_.hidden);
        u32("feed_forward_length", model_.feed_forward);
        u32("attention.head_count", model_.heads);
        u32("attention.head_count_kv", model_.cache_heads);
        u32("attention.key_length", model_.width);
        u32("attention.value_length", model_.width);
        builder_.f32(key("attention.layer_norm_rms_epsilon"), static_cast<float>(model_.epsilon));
        builder_.f32(key("rope.freq_base"), static_cast<float>(model_.theta));
        scaling(key("rope.scaling.type"), key("rope.scaling.factor"));
        if (changes_.add) changes_.add(builder_);
    }

    void scaling(const std::string& type_key, const std::string& factor_key) {
        if (model_.rope_scaling.is_null()) return;
        const std::string type = model_.rope_scaling.at("rope_type");
        if (type == "linear") {
            builder_.string(type_key, "linear");
            builder_.f32(factor_key, model_.rope_scaling.at("factor").get<float>());
            return;
        }
        RandomDecoder plain = model_;
        plain.rope_scaling = nullptr;
        const std::vector<double> unscaled = naive_frequencies(plain), scaled = naive_frequencies(model_);
        std::vector<float> factors;
        for (size_t i = 0; i < scaled.size(); ++i)
            factors.push_back(static_cast<float>(unscaled[i] / scaled[i]));
        add("rope_freqs.weight", bytes_of(factors), {model_.width / 2});
    }

    std::string contents_of(const std::string& name, const NamedTensor& tensor) const {
        if (model_.architecture != "llama") return bytes_of(tensor);
        if (name.find("q_proj") != std::string::npos)
            return permuted(bytes_of(tensor), model_.heads, model_.width);
        if (name.find("k_proj") != std::string::npos)
            return permuted(bytes_of(tensor), model_.cache_heads, model_.width);
        return bytes_of(tensor);
    }

    void add(const std::string& name, const std::string& bytes, const std::vector<int64_t>& shape,
             const std::string& type = "F32") {
        data_.resize((data_.size() + 31) / 32 * 32, '\0');
        builder_.tensor(name, {shape.rbegin(), shape.rend()}, ggml_number(type), data_.size());
        data_ += bytes;
    }

    const RandomDecoder& model_;
    const GgufChanges& changes_;
    test::GgufBuilder builder_;
    std::string data_;
};

}  // namespace

void RandomDecoder::fill(uint64_t seed) {
    std::mt19937_64 random(seed);
    // std::uniform_real_distribution differs between libraries; this does not.
    const auto uniform = [&] {
        return static_cast<float>(static_cast<double>(random() >> 40) / (1 << 24) - 0.5);
    };
    const auto add = [&](const std::string& name, std::vector<int64_t> shape, float center, float scale) {
        NamedTensor tensor{.shape = std::move(shape), .values = {}};
        int64_t count = 1;
        for (const int64_t extent : tensor.shape) count *= extent;
        for (int64_t i = 0; i < count; ++i) tensor.values.push_back(center + scale * uniform());
        tensors[name] = std::move(tensor);
    };
    const int64_t query = heads * width, cached = cache_heads * width;
    add("model.embed_tokens.weight", {vocabulary, hidden}, 0, 1);
    add("model.norm.weight", {hidden}, 1, 0.5);
    if (!tied) add("lm_head.weight", {vocabulary, hidden}, 0, 1);
    for (int64_t i = 0; i < layers; ++i) {
        const std::string layer = "model.layers." + std::to_string(i) + ".";
        const auto linear = [&](const std::string& name, int64_t outputs, int64_t inputs, bool bias) {
            add(layer + name + ".weight", {outputs, inputs}, 0, 1);
            if (bias) add(layer + name + ".bias", {outputs}, 0, 1);
        };
        add(layer + "input_layernorm.weight", {hidden}, 1, 0.5);
        add(layer + "post_attention_layernorm.weight", {hidden}, 1, 0.5);
        linear("self_attn.q_proj", query, hidden, qkv_bias);
        linear("self_attn.k_proj", cached, hidden, qkv_bias);
        linear("self_attn.v_proj", cached, hidden, qkv_bias);
        linear("self_attn.o_proj", hidden, query, output_bias);
        linear("mlp.gate_proj", feed_forward, hidden, feed_forward_bias);
        linear("mlp.up_proj", feed_forward, hidden, feed_forward_bias);
        linear("mlp.down_proj", hidden, feed_forward, feed_forward_bias);
        if (!head_norms) continue;
        add(layer + "self_attn.q_norm.weight", {width}, 1, 0.5);
        add(layer + "self_attn.k_norm.weight", {width}, 1, 0.5);
    }
}

nlohmann::json config_of(const RandomDecoder& model) {
    nlohmann::json config = {{"model_type", model.architecture},
                             {"num_hidden_layers", model.layers},
                             {"hidden_size", model.hidden},
                             {"intermediate_size", model.feed_forward},
                             {"num_attention_heads", model.heads},
                             {"num_key_value_heads", model.cache_heads},
                             {"head_dim", model.width},
                             {"vocab_size", model.vocabulary},
                             {"max_position_embeddings", 64},
                             {"rms_norm_eps", model.epsilon},
                             {"rope_theta", model.theta},
                             {"hidden_act", "silu"},
                             {"tie_word_embeddings", model.tied},
                             {"rope_scaling", model.rope_scaling},
                             {"eos_token_id", 2}};
    if (model.output_bias) config["attention_bias"] = true;
    if (model.feed_forward_bias) config["mlp_bias"] = true;
    return config;
}

std::string safetensors_of(const std::map<std::string, NamedTensor>& tensors) {
    nlohmann::json header;
    std::string data;
    for (const auto& [name, tensor] : tensors) {
        const size_t begin = data.size();
        data += bytes_of(tensor);
        header[name] = {
            {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    const std::string text = header.dump();
    std::string file(sizeof(uint64_t), '\0');
    const uint64_t length = text.size();
    std::memcpy(file.data(), &length, sizeof(length));
    return file + text + data;
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

void write_hugging_face(const RandomDecoder& model, const std::filesystem::path& folder) {
    write_file(folder / "config.json", config_of(model).dump(2));
    write_file(folder / "model.safetensors", safetensors_of(model.tensors));
}

void write_sharded(const RandomDecoder& model, const std::filesystem::path& folder) {
    std::map<std::string, NamedTensor> shards[2];
    nlohmann::json weight_map;
    for (const auto& [name, tensor] : model.tensors) {
        const size_t shard = weight_map.size() % 2;
        weight_map[name] =
            shard == 0 ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
        shards[shard].emplace(name, tensor);
    }
    write_file(folder / "config.json", config_of(model).dump(2));
    write_file(folder / "model-00001-of-00002.safetensors", safetensors_of(shards[0]));
    write_file(folder / "model-00002-of-00002.safetensors", safetensors_of(shards[1]));
    write_file(folder / "model.safetensors.index.json",
               nlohmann::json({{"metadata", {{"total_size", 0}}}, {"weight_map", weight_map}}).dump(2));
}

void write_gguf(const RandomDecoder& model, const std::filesystem::path& file, const GgufChanges& changes) {
    write_file(file, GgufWriter(model, changes).run());
}

void write_split_gguf(const RandomDecoder& model, const std::filesystem::path& folder,
                      const std::string& name) {
    write_file(folder / (name + "-00001-of-00002.gguf"), GgufWriter(model, {}).part(0));
    write_file(folder / (name + "-00002-of-00002.gguf"), GgufWriter(model, {}).part(1));
}

}  // namespace tessera::testing
