#include "fuzz/seeds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/input_file.h"
#include "import/gguf_builder.h"
#include "import/random_checkpoint.h"
#include "run/runtime/toy_model.h"

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    TESSERA_CHECK(file.good(), "{}", path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

testing::RandomDecoder small_decoder(const std::string& architecture) {
    testing::RandomDecoder model;
    model.architecture = architecture;
    model.layers = 1;
    model.hidden = 4;
    model.feed_forward = 3;
    model.heads = 2;
    model.cache_heads = 1;
    model.width = 2;
    model.vocabulary = 5;
    model.qkv_bias = architecture == "qwen2";
    model.head_norms = architecture == "qwen3";
    model.fill(1);
    return model;
}

std::string gguf_of(const testing::RandomDecoder& model) {
    const InputFile file("");
    testing::write_gguf(model, file.path());
    return read(file.path());
}

/// A model of one layer with tensors that are stored together.
std::string views_seed(const std::string& architecture) {
    const auto key = [&](const char* suffix) { return architecture + "." + suffix; };
    test::GgufBuilder model;
    model.string("general.architecture", architecture)
        .u32(key("block_count"), 1)
        .u32(key("context_length"), 8);
    model.u32(key("embedding_length"), 4)
        .u32(key("feed_forward_length"), 4)
        .u32(key("attention.head_count"), 2);
    model.f32(key("attention.layer_norm_rms_epsilon"), 1e-5F).f32(key("attention.layer_norm_epsilon"), 1e-5F);
    model.f32(key("rope.scaling.factor"), 2).string(key("rope.scaling.type"), "yarn");
    model.tensor("token_embd.weight", {4, 3}, 0, 0).tensor("blk.0.attn_qkv.weight", {4, 12}, 0, 64);
    model.tensor("blk.0.attn_qkv.bias", {12}, 0, 256).tensor("blk.0.ffn_up.weight", {4, 8}, 0, 320);
    return model.data(std::string(448, 'x')).build();
}

}  // namespace

std::vector<std::string> safetensors_seeds() {
    return {
        testing::safetensors_of({{"a", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"b", {{}, {7}}}, {"c", {{0}, {}}}}),
        testing::safetensors_of(small_decoder("llama").tensors)};
}

std::vector<std::string> gguf_seeds() {
    test::GgufBuilder tokens;
    tokens.string("general.architecture", "llama").string("tokenizer.ggml.model", "gpt2");
    tokens.string("tokenizer.ggml.pre", "qwen2").u32("tokenizer.ggml.bos_token_id", 1);
    tokens.strings("tokenizer.ggml.tokens", {"a", "b", "ab", "<s>"});
    tokens.numbers<int32_t>("tokenizer.ggml.token_type", 5, {1, 1, 1, 3});
    tokens.strings("tokenizer.ggml.merges", {"a b"});
    test::GgufBuilder pieces;
    pieces.string("general.architecture", "llama").string("tokenizer.ggml.model", "llama");
    pieces.strings("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "<0x41>", "\xe2\x96\x81", "a",
                                             "\xe2\x96\x81"
                                             "a"});
    pieces.numbers<float>("tokenizer.ggml.scores", 6, {0, 0, 0, 0, -1, -2, -3});
    pieces.numbers<int32_t>("tokenizer.ggml.token_type", 5, {2, 3, 3, 6, 1, 1, 1});
    return {tokens.build(),
            pieces.build(),
            gguf_of(small_decoder("llama")),
            gguf_of(small_decoder("qwen3")),
            views_seed("phi3"),
            views_seed("gpt2")};
}

std::vector<std::string> gguf_part_seeds() {
    const fs::path folder = fs::temp_directory_path() / fmt::format("tessera-fuzz-parts-{}", ::getpid());
    fs::create_directories(folder);
    testing::write_split_gguf(small_decoder("llama"), folder, "model");
    const std::vector<std::string> parts = {read(folder / "model-00001-of-00002.gguf"),
                                            read(folder / "model-00002-of-00002.gguf")};
    fs::remove_all(folder);
    return parts;
}

std::vector<std::string> config_seeds() {
    std::vector<std::string> all;
    for (const char* architecture : {"llama", "qwen2", "qwen3"})
        all.push_back(testing::config_of(small_decoder(architecture)).dump(1));
    testing::RandomDecoder scaled = small_decoder("llama");
    scaled.rope_scaling = {{"rope_type", "llama3"},
                           {"factor", 8.0},
                           {"low_freq_factor", 1.0},
                           {"high_freq_factor", 4.0},
                           {"original_max_position_embeddings", 32}};
    all.push_back(testing::config_of(scaled).dump(1));
    for (const std::string& variant : repository_files("tests/import/expected", ".json"))
        all.push_back(nlohmann::json::parse(variant).at("config").dump(1));
    return all;
}

std::vector<std::string> artefact_seeds() {
    const std::string graph = repository_file("tests/fuzz/corpus/graph/tiny.ir");
    const runtime::ArtefactParts parts{runtime::ToyModel().manifest(),
                                       "no code",
                                       "version = 1\n",
                                       graph,
                                       {{"tokenizer.json", tokenizer_json_seeds().front()}}};
    const fs::path path = fs::temp_directory_path() / fmt::format("tessera-fuzz-{}.tsr", ::getpid());
    runtime::write_artefact(path, parts, [](runtime::ConstantSink& sink) { sink.advance_to(128); });
    const std::string bytes = read(path);
    fs::remove(path);
    return {bytes};
}

std::string manifest_seed() {
    return runtime::print(runtime::ToyModel().manifest());
}

std::vector<std::string> tokenizer_json_seeds() {
    return repository_files("tests/fuzz/corpus/tokenizer_json", ".json");
}

std::string repository_file(const std::string& path) {
    return read(fs::path(TESSERA_SOURCE_DIR) / path);
}

std::vector<std::string> repository_files(const std::string& folder, const std::string& extension) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / folder))
        if (entry.path().extension() == extension) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> all;
    for (const fs::path& path : paths) all.push_back(read(path));
    return all;
}

}  // namespace tessera::fuzz
