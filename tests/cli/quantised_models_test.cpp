// Models in every format, compiled and verified by the program, against plain loops on their dequantised
// weights.

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/quantised/plain_blocks.h"
#include "import/random_checkpoint.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using testing::RandomDecoder;

constexpr int64_t kTokens = 40;

/// Rows of 256 elements, the blocks of the K formats.
RandomDecoder small_decoder(int64_t layers = 2) {
    RandomDecoder decoder;
    decoder.layers = layers;
    decoder.hidden = decoder.feed_forward = 256;
    decoder.heads = 4;
    decoder.cache_heads = 2;
    decoder.width = 64;
    decoder.vocabulary = 37;
    decoder.fill(3);
    return decoder;
}

void store(testing::NamedTensor& tensor, const std::string& type, std::mt19937_64& random) {
    tensor.type = type;
    tensor.stored = testing::random_blocks(type, static_cast<int64_t>(tensor.values.size()),
                                           testing::Halves::kWeights, random);
    tensor.values = testing::dequantised(type, tensor.stored);
}

/// The formats follow each other over the matrices, so that every layer has other ones.
void store_mixture(RandomDecoder& decoder) {
    std::mt19937_64 random(5);
    size_t next = 0;
    for (auto& [name, tensor] : decoder.tensors) {
        if (tensor.shape.size() != 2) continue;
        const auto& types = testing::quantised_types();
        store(tensor, types[next++ % types.size()], random);
    }
    ASSERT_GT(next, testing::quantised_types().size());
}

/// As large as in a trained model: with larger ones a softmax picks one token, and any error flips it.
void shrink(RandomDecoder& decoder) {
    for (auto& [name, tensor] : decoder.tensors)
        if (tensor.shape.size() == 2)
            for (float& value : tensor.values) value *= 0.1F;
}

class QuantisedModels : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

    ProcessResult tessera(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(),
                         {"XDG_CACHE_HOME=" + path("cache"), "TESSERA_SEARCH_EFFORT=0", TESSERA_PROGRAM});
        return run_process({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    }

    void write_expected(const RandomDecoder& decoder) const {
        std::vector<int64_t> tokens;
        for (int64_t i = 0; i < kTokens; ++i) tokens.push_back((i * 5 + 3) % decoder.vocabulary);
        const std::vector<double> logits = testing::naive_logits(decoder, tokens);
        const std::vector<float> singles(logits.begin(), logits.end());
        testing::write_file(path("ids.json"), nlohmann::json(tokens).dump());
        testing::write_file(path("logits.bin"),
                            {reinterpret_cast<const char*>(singles.data()), singles.size() * sizeof(float)});
    }

    void compile(const std::string& model, std::vector<std::string> flags) const {
        flags.insert(flags.begin(), {"compile", path(model), "-o", path("model.tsr"), "-q"});
        const ProcessResult result = tessera(flags);
        ASSERT_EQ(result.exit_code, 0) << result.errors;
    }

    void expect_verified(const std::string& tolerance) const {
        for (const std::string chunk : {"", "7", "3", "1"}) {
            std::vector<std::string> arguments = {"verify",         path("model.tsr"), "--ids",
                                                  path("ids.json"), "--logits",        path("logits.bin"),
                                                  "--tolerance",    tolerance};
            if (!chunk.empty()) arguments.insert(arguments.end(), {"--chunk", chunk});
            const ProcessResult result = tessera(arguments);
            EXPECT_EQ(result.exit_code, 0) << "chunk " << chunk << "\n" << result.output << result.errors;
            EXPECT_THAT(result.output, HasSubstr("40 rows of 37"));
        }
    }

    TemporaryFolder folder_;
};

TEST_F(QuantisedModels, EveryFormatComputesWhatPlainLoopsDo) {
    RandomDecoder decoder = small_decoder();
    store_mixture(decoder);
    testing::write_gguf(decoder, path("model.gguf"));
    write_expected(decoder);
    compile("model.gguf", {"--policy", "exact"});
    expect_verified("3e-6");
    const ProcessResult shown = tessera({"inspect", path("model.tsr")});
    EXPECT_THAT(shown.output, HasSubstr("policy exact, cache f32"));
    compile("model.gguf", {});
    expect_verified("1e-2");
    EXPECT_THAT(tessera({"inspect", path("model.tsr")}).output, HasSubstr("policy default, cache bf16"));
}

TEST_F(QuantisedModels, CachesOfBytesRoundAsTheirBlocksAllow) {
    RandomDecoder decoder = small_decoder();
    shrink(decoder);
    testing::write_gguf(decoder, path("model.gguf"));
    write_expected(decoder);
    compile("model.gguf", {"--cache-type", "q8_0", "--policy", "exact"});
    expect_verified("2e-2");
    EXPECT_THAT(tessera({"inspect", path("model.tsr")}).output, HasSubstr("policy exact, cache q8_0"));
    decoder.width = 16;
    decoder.fill(3);
    testing::write_gguf(decoder, path("narrow.gguf"));
    const ProcessResult narrow =
        tessera({"compile", path("narrow.gguf"), "-o", path("other.tsr"), "--cache-type", "q8_0"});
    EXPECT_EQ(narrow.exit_code, 1);
    EXPECT_THAT(narrow.errors, HasSubstr("blocks have 32 numbers; the heads of this model have 16"));
}

TEST_F(QuantisedModels, TiedHeadReadsThePackedEmbedding) {
    RandomDecoder decoder = small_decoder(1);
    decoder.tied = true;
    decoder.tensors.erase("lm_head.weight");
    std::mt19937_64 random(6);
    store(decoder.tensors.at("model.embed_tokens.weight"), "Q6_K", random);
    testing::write_gguf(decoder, path("model.gguf"));
    write_expected(decoder);
    compile("model.gguf", {"--policy", "exact"});
    expect_verified("3e-6");
}

// The quantiser writes the contents that the file of a quantised model would have: its own logits, far from
// those of the float model by as much as four bits allow.
TEST_F(QuantisedModels, FloatCheckpointsAreQuantised) {
    RandomDecoder decoder = small_decoder();
    shrink(decoder);
    testing::write_hugging_face(decoder, folder_.path());
    write_expected(decoder);
    compile("", {"--quantize", "q8_0", "--policy", "exact"});
    expect_verified("2e-2");
    compile("", {"--quantize", "q4_k_m"});
    expect_verified("0.2");
    EXPECT_THAT(tessera({"inspect", path("model.tsr"), "--memory"}).output,
                HasSubstr("layer_1_down_weight_s"));
    const ProcessResult twice =
        tessera({"compile", path(""), "-o", path("other.tsr"), "--quantize", "q3_k_m"});
    EXPECT_EQ(twice.exit_code, 2);
    EXPECT_THAT(twice.errors, HasSubstr("q4_k_m"));
}

}  // namespace
}  // namespace tessera
