#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/architecture/own_text.h"
#include "import/gguf_builder.h"
#include "support/error.h"

// A text's names of GGUF files, against a folder with the same model.

namespace tessera::import {
namespace {

using ::testing::HasSubstr;

class GgufText : public OwnText {
protected:
    struct Stored {
        std::string name;
        std::vector<int64_t> shape;
        std::vector<float> values;
    };

    GgufText() {
        add_outer();
        for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
            for (const char* name : {"k", "v", "o", "q"}) add(layer + name + ".weight", {kHidden, kHidden});
            add(layer + "scale", {kHidden});
        }
    }

    static std::string text() {
        std::string whole = text_with(R"(
  weight q_weight [8, 8] hf "q" gguf "attn_q", k_weight [8, 8] hf "k", v_weight [8, 8] hf "v" gguf "attn_v",
    output_weight [8, 8] hf "o" gguf "attn_output"
  tensor scale_weight [8] hf "scale" gguf "scale"
  fused gguf "attn_k_turned" transposed of each 2: (k_weight 4)
  scaled = x * scale_weight when is_scaled; scaled = x when not is_scaled
  q = linear(scaled, q_weight); k = linear(scaled, k_weight); v = linear(scaled, v_weight)
  q_heads = shape(q, 2, 4); k_heads = shape(k, 2, 4); v_heads = shape(v, 2, 4)
  k_cache = cache(k_heads); v_cache = cache(v_heads)
  q_rotated = rotate(q_heads, rope)
  attention = attend(q_rotated, k_cache, v_cache); attended = shape(attention, 8)
  give = x + linear(attended, output_weight) * factor
)",
                                      R"(gguf "own"
set factor real per layer from -100 to 100 hf = 0.25 * (layer + 1) gguf "/own_factors",
  is_scaled bool hf = true gguf = stored("blk.0.scale"), is_level bool hf = false gguf "level" = false
)");
        const std::string rope = "rope rope width head_width hf = 100.0";
        return whole.replace(whole.find(rope), rope.size(),
                             rope + " gguf = 100.0 level select(is_level, 0.5, null)");
    }

    std::vector<Stored> stored() const {
        const auto of = [&](const std::string& name) { return tensors_.at(name).values; };
        std::vector<Stored> all = {{"token_embd.weight", {11, 8}, of("model.embed_tokens.weight")},
                                   {"output_norm.weight", {8}, of("model.norm.weight")},
                                   {"output.weight", {11, 8}, of("lm_head.weight")}};
        for (int layer = 0; layer < 2; ++layer) {
            const std::string from = fmt::format("model.layers.{}.", layer),
                              to = fmt::format("blk.{}.", layer);
            for (const auto& [own, name] : {std::pair{"q", "attn_q"}, {"v", "attn_v"}, {"o", "attn_output"}})
                all.push_back({to + name + ".weight", {8, 8}, of(from + own + ".weight")});
            const std::vector<float> k = of(from + "k.weight");
            std::vector<float> turned;
            for (size_t head = 0; head < 2; ++head)
                for (size_t input = 0; input < 8; ++input)
                    for (size_t row = 0; row < 4; ++row) turned.push_back(k[(head * 4 + row) * 8 + input]);
            all.push_back({to + "attn_k_turned.weight", {2, 8, 4}, turned});
            all.push_back({to + "scale", {2, 4}, of(from + "scale")});
        }
        return all;
    }

    std::vector<double> gguf_logits(const std::vector<Stored>& all, const std::vector<float>& factors,
                                    bool has_level = false) const {
        write(text());
        test::GgufBuilder builder;
        builder.string("general.architecture", "own")
            .u32("own.block_count", 2)
            .u32("own.embedding_length", 8)
            .u32("own.feed_forward_length", 12)
            .u32("own.attention.head_count", 2)
            .u32("own.context_length", 64)
            .f32("own.attention.layer_norm_rms_epsilon", 1e-5f)
            .numbers<float>("own_factors", 6, factors);
        if (has_level) builder.boolean("own.level", true);
        std::string data;
        for (const Stored& each : all) {
            std::vector<uint64_t> extents(each.shape.rbegin(), each.shape.rend());
            builder.tensor(each.name, extents, 0, data.size());
            data.append(reinterpret_cast<const char*>(each.values.data()),
                        each.values.size() * sizeof(float));
            data.resize((data.size() + 31) / 32 * 32, '\0');
        }
        const auto file = folder_.path() / "model.gguf";
        testing::write_file(file, builder.data(data).build());
        const ImportedModel model = import_model(file, {.policy = Policy::kExact, .architectures = known()});
        testing::InterpretedSession session(model, 32);
        std::vector<double> found = session.step({3, 1, 4, 1, 5});
        for (const double each : session.step({9, 2, 6})) found.push_back(each);
        return found;
    }
};

TEST_F(GgufText, FlatAxesTurnedHeadsAndListsUnderWholeKeysAreThoseOfAFolder) {
    EXPECT_EQ(gguf_logits(stored(), {0.25f, 0.5f}), logits(text()));
    EXPECT_NE(gguf_logits(stored(), {0.25f, 0.25f}), logits(text()));
}

TEST_F(GgufText, ASettingIsWhetherATensorIsStored) {
    std::vector<Stored> bare = stored();
    std::erase_if(bare, [](const Stored& each) { return each.name.ends_with(".scale"); });
    const auto found = gguf_logits(bare, {0.25f, 0.5f});
    for (const char* layer : {"model.layers.0.scale", "model.layers.1.scale"})
        std::ranges::fill(tensors_.at(layer).values, 1.0f);
    EXPECT_EQ(found, logits(text()));
}

TEST_F(GgufText, ALevelOfTheTablesScalesWhatIsRotated) {
    const auto whole = gguf_logits(stored(), {0.25f, 0.5f}),
               half = gguf_logits(stored(), {0.25f, 0.5f}, true);
    std::vector<Stored> larger = stored();
    for (Stored& each : larger)
        if (each.name.find("attn_q") != std::string::npos)
            for (float& value : each.values) value *= 2;
    EXPECT_NE(whole, half);
    EXPECT_EQ(whole, gguf_logits(larger, {0.25f, 0.5f}, true));
}

TEST_F(GgufText, NumbersBeyondTheirBoundsAreRefused) {
    EXPECT_THAT(
        [&] {
            (void)gguf_logits(stored(), {0.25f, 1000.0f});
        },
        ::testing::ThrowsMessage<Error>(HasSubstr("own_factors")));
}

TEST_F(GgufText, WhatIsStoredIsAskedForBySettingsAlone) {
    write(text_with("  give = x when stored(\"a\")\n"));
    EXPECT_THAT([&] { (void)known(); },
                ::testing::ThrowsMessage<Error>(HasSubstr("in the value of a setting alone")));
}

}  // namespace
}  // namespace tessera::import
