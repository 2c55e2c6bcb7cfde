#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/architecture/own_text.h"
#include "support/error.h"

// Functions of texts, by two spellings of one model each.

namespace tessera::import {
namespace {

using ::testing::HasSubstr;

class TextFunctions : public OwnText {
protected:
    static constexpr const char* kLayers[] = {"model.layers.0.", "model.layers.1."};

    void add_matrices(std::initializer_list<const char*> names) {
        add_outer();
        for (const std::string layer : kLayers)
            for (const char* name : names) add(layer + name + ".weight", {kHidden, kHidden});
    }

    /// Attention of values q, k and v, of which a layer says the rest.
    static std::string projections() {
        return R"(
  weight q_weight [8, 8] hf "q", k_weight [8, 8] hf "k", v_weight [8, 8] hf "v", output_weight [8, 8] hf "o"
  q = linear(x, q_weight); k = linear(x, k_weight); v = linear(x, v_weight)
  q_heads = shape(q, 2, 4); k_heads = shape(k, 2, 4); k_cache = cache(k_heads); v_cache = cache(v_heads)
  give = x + linear(attended, output_weight)
)";
    }
};

TEST_F(TextFunctions, JoinedValuesAreTheirPartsInOrder) {
    add_matrices({"u"});
    const std::string up = "  weight up_weight [hidden, hidden] hf \"u\"\n  up = linear(x, up_weight)\n";
    const auto joined = logits(text_with(up + R"(
  left, middle, right = split(up, 2, 3, 3)
  turned = join(right, left, middle); heads_turned = shape(turned, 2, 4); shared = shape(left, 1, 2)
  wide = join(shared, heads_turned)
  give[i: 8] = x[i] + turned[i] + wide[i div 4, i mod 4]
)"));
    const auto picked = logits(text_with(up + R"(
  turned[i: 8] = up[(i + 5) mod 8]
  wide[g: 2, d: 6] = select(d < 2, up[d mod 2], turned[g * 4 + (d + 2) mod 4])
  give[i: 8] = x[i] + turned[i] + wide[i div 4, i mod 4]
)"));
    EXPECT_EQ(joined, picked);
}

TEST_F(TextFunctions, ValuesNarrowerThanKeysAreThoseWithZerosBehind) {
    add_matrices({"q", "k", "v", "o"});
    const std::string common = projections() + "  attention = attend(q_heads, k_cache, v_cache)\n";
    const auto narrow = logits(text_with(common + R"(
  v_heads[g: 2, d: 3] = v[g * 4 + d]
  attended[n: 8] = select(n mod 4 < 3, attention[n div 4, n mod 4 mod 3], 0.0)
)"));
    const auto whole = logits(text_with(common + R"(
  v_heads[g: 2, d: 4] = select(d < 3, v[g * 4 + d], 0.0); attended = shape(attention, 8)
)"));
    EXPECT_LT(testing::distance_of_range(narrow, whole), 3e-6);
}

TEST_F(TextFunctions, ChunksDivideWhatATokenSees) {
    add_matrices({"q", "k", "v", "o"});
    const std::string common = projections() + "  v_heads = shape(v, 2, 4)\n";
    const auto with = [&](const std::string& options) {
        return logits(text_with(common + "  attention = attend(q_heads, k_cache, v_cache" + options +
                                ")\n  attended = shape(attention, 8)\n"));
    };
    EXPECT_EQ(with(", chunk: 64"), with(""));
    EXPECT_NE(with(", chunk: 2"), with(", window: 2"));
    const auto one = with(", chunk: 1");
    for (const std::string layer : kLayers)
        for (const char* name : {"q", "k"}) tensors_.erase(layer + name + ".weight");
    EXPECT_LT(testing::distance_of_range(one, logits(text_with(common + "  attended = v\n"))), 3e-6);
}

TEST_F(TextFunctions, WavesAndPositionsAreThoseOfTheTables) {
    add_outer();
    const std::string ropes = "rope waves width 4 fixed base 100.0\n";
    const auto turned = logits(text_with(R"(
  x_heads = shape(x, 2, 4); y_heads = rotate(x_heads, waves); y = shape(y_heads, 8)
  give = x + y * (1 + position div 3)
)",
                                         ropes));
    const auto spelled = logits(text_with(R"(
  s = sine(waves); c = cosine(waves); x_heads = shape(x, 2, 4)
  y_heads[g, d] = x_heads[g, d] * c[d mod 2] + select(d < 2, -1, 1) * x_heads[g, (d + 2) mod 4] * s[d mod 2]
  y = shape(y_heads, 8); growth = 1 + (position - position mod 3) / 3; give = x + y * growth
)",
                                          ropes));
    EXPECT_LT(testing::distance_of_range(spelled, turned), 3e-6);
}

TEST_F(TextFunctions, BasesMayDifferByLayer) {
    add_outer();
    const std::string values = "  x_heads = shape(x, 2, 4); give = x + shape(y_heads, 8)\n";
    const auto by_layer = logits(
        text_with(values + "  y_heads = rotate(x_heads, waves)\n",
                  "let own = select(layer == 0, 100.0, 50.0)\nrope waves width 4 fixed base own first 2\n"));
    const auto named = logits(text_with(values + R"(
  y_heads = rotate(x_heads, near_waves) when layer == 0; y_heads = rotate(x_heads, far_waves) when layer > 0
)",
                                        "rope near_waves width 4 fixed base 100.0 first 2\n"
                                        "rope far_waves width 4 fixed base 50.0 first 2\n"));
    EXPECT_EQ(by_layer, named);
    EXPECT_THAT(
        [&] {
            (void)logits(text_with(values + "  y_heads = rotate(x_heads, waves)\n",
                                   "rope waves width 4 fixed base -1.0\n"));
        },
        ::testing::ThrowsMessage<Error>(HasSubstr("has the base -1")));
}

TEST_F(TextFunctions, LayersMayRunSeveralTimes) {
    add_outer();
    for (const std::string stack : {"a.0.", "b.0."}) add(stack + "u.weight", {kHidden, kHidden});
    const auto in_turns =
        logits(text_with("  weight up_weight [hidden, hidden] hf \"u\"\n  give = x + linear(x, up_weight)\n",
                         "layers hf \"a.{}.\" or \"b.{}.\" at layer mod 2 count 4 number layer div 4\n"));
    const auto outside = logits(text_with(R"(
  weight near_weight [hidden, hidden] hf "/a.0.u", far_weight [hidden, hidden] hf "/b.0.u"
  y = x + linear(x, near_weight); give = y + linear(y, far_weight)
)",
                                          "layers hf \"c.{}.\" count 2\n"));
    EXPECT_LT(testing::distance_of_range(in_turns, outside), 3e-6);
}

/// Three experts of which all are chosen.
class TextExperts : public TextFunctions {
protected:
    static constexpr int64_t kExperts = 3, kInner = 2;

    /// Gates and ups by turns, stored transposed, and apart.
    void add_experts() {
        add_outer();
        for (const std::string layer : kLayers) {
            add(layer + "r.weight", {kExperts, kHidden});
            add(layer + "down", {kExperts, kInner, kHidden});
            const std::vector<float> both = add(layer + "gu", {kExperts, kHidden, 2 * kInner});
            const std::vector<float> biases = add(layer + "gu_bias", {kExperts, 2 * kInner});
            add_part(layer, "gate", 0, both, biases);
            add_part(layer, "up", 1, both, biases);
        }
    }

    void add_part(const std::string& layer, const std::string& name, int64_t part,
                  const std::vector<float>& both, const std::vector<float>& biases) {
        testing::NamedTensor bias{.shape = {kExperts, kInner}, .values = {}};
        for (int64_t e = 0; e < kExperts; ++e) {
            testing::NamedTensor matrix{.shape = {kInner, kHidden}, .values = {}};
            for (int64_t n = 0; n < kInner; ++n) {
                bias.values.push_back(biases[static_cast<size_t>(e * 2 * kInner + 2 * n + part)]);
                for (int64_t k = 0; k < kHidden; ++k)
                    matrix.values.push_back(
                        both[static_cast<size_t>((e * kHidden + k) * 2 * kInner + 2 * n + part)]);
            }
            tensors_[fmt::format("{}{}.{}.weight", layer, name, e)] = matrix;
        }
        tensors_[layer + name + "_bias"] = bias;
    }

    static std::string apart() {
        return R"(
  weight gate_weight [3, 2, hidden] hf "gate.{}", up_weight [3, 2, hidden] hf "up.{}", router_weight [3, hidden] hf "r"
  tensor gate_bias [3, 2] hf "gate_bias", up_bias [3, 2] hf "up_bias", down_weight [3, hidden, 2] transposed hf "down"
)";
    }
    static std::string chosen() {
        return R"(
  router = linear(x, router_weight); choice = top(router, 3); share = shares(router, choice)
  gate_raw = experts(x, gate_weight, choice); up_raw = experts(x, up_weight, choice)
  gate = gate_raw + rows(gate_bias, choice); up = up_raw + rows(up_bias, choice)
  product = silu(gate) * up; down = experts(product, down_weight, choice); give = x + mix(down, share)
)";
    }
};

TEST_F(TextExperts, StoredByTurnsAndTransposedAreThoseApart) {
    add_experts();
    const auto by_turns = logits(text_with(R"(
  weight router_weight [3, hidden] hf "r"
  tensor gate_weight [3, 2, hidden], up_weight [3, 2, hidden], gate_bias [3, 2, 1], up_bias [3, 2, 1],
    down_weight [3, hidden, 2] transposed hf "down"
  fused tensor transposed hf "gu" of each 2: (gate_weight 1, up_weight 1)
  fused tensor hf "gu_bias" of each 2: (gate_bias 1, up_bias 1)
)" + chosen()));
    EXPECT_EQ(logits(text_with(apart() + chosen())), by_turns);
}

TEST_F(TextExperts, MatricesOfPlacesAreThoseOfAllExperts) {
    add_experts();
    const auto of_each = logits(text_with(apart() + R"(
  router = linear(x, router_weight); share = softmax(router)
  gate_raw = each(x, gate_weight); up_raw = each(x, up_weight); gate = gate_raw + gate_bias; up = up_raw + up_bias
  product = silu(gate) * up; down = each(product, down_weight); give[d] = x[d] + sum(down[j, d] * share[j])
)"));
    EXPECT_LT(testing::distance_of_range(of_each, logits(text_with(apart() + chosen()))), 3e-6);
}

/// Rows of each head that are stored together, of which the first are the columns of a matrix.
TEST_F(TextFunctions, RowsOfAGroupMayBeTransposed) {
    add_outer();
    for (const char* layer : {"model.layers.0.", "model.layers.1."})
        add(std::string(layer) + "kv.weight", {kHeads * 7, 5});
    const std::string given =
        "  x_heads = shape(x, heads, head_width); give[d] = x[d] + sum(up[h, j]) * 0.1\n";
    const auto turned = logits(text_with(R"(
  weight k_weight [heads, 5, head_width], v_weight [heads, 3, 5]
  fused hf "kv" of k_weight transposed, v_weight
  low = each(x_heads, k_weight); up = each(low, v_weight)
)" + given));
    const auto as_stored = logits(text_with(R"(
  tensor kv_weight [heads * 7, 5] hf "kv.weight"
  low[h: heads, l: 5] = sum(x_heads[h, s] * kv_weight[h * 7 + s, l])
  up[h: heads, j: 3] = sum(low[h, l] * kv_weight[h * 7 + 4 + j, l])
)" + given));
    EXPECT_LT(testing::distance_of_range(turned, as_stored), 3e-6);
}

/// An index chooses among the keys.
TEST_F(TextFunctions, AllChosenKeysAreAllKeys) {
    add_matrices({"q", "k", "v", "o"});
    const std::string common = projections() + R"(
  v_heads = shape(v, 2, 4); index_k = shape(v, 1, 8); index_keys = cache(index_k); attended = shape(attention, 8)
  index_queries = shape(k, 1, 8); index_weights[r: 1] = 1 + 0.0 * x[r]
)";
    const auto with = [&](const std::string& options) {
        return logits(text_with(common + "  attention = attend(q_heads, k_cache, v_cache" + options + ")\n"));
    };
    const std::string index =
        ", index_queries: index_queries, index_weights: index_weights, index_keys: index_keys";
    const auto plain = with("");
    EXPECT_LT(testing::distance_of_range(with(", chosen: 8" + index), plain), 3e-6);
    EXPECT_EQ(with(", chosen: 64" + index), plain);
    EXPECT_GT(testing::distance_of_range(with(", chosen: 2" + index), plain), 1e-3);
    EXPECT_THAT([&] { (void)with(", chosen: 2"); },
                ::testing::ThrowsMessage<Error>(HasSubstr("chooses keys without index_queries")));
}

/// A text that is made of another.
class TextPairs : public TextFunctions {
protected:
    static std::string text() {
        return text_with(projections() + R"(
  v_heads = shape(v, 2, 4)
  attention = attend(q_heads, k_cache, v_cache, part: "source") when layer == 0
  attention = attend(q_heads, k_cache, v_cache, part: "target") when layer == 1
  attended = shape(attention, 8)
)");
    }
    std::vector<double> logits_of(const std::vector<int64_t>& source,
                                  const std::vector<std::vector<int64_t>>& targets) {
        write(text());
        const ImportedModel model =
            import_model(folder_.path(), {.policy = Policy::kExact, .architectures = known()});
        EXPECT_TRUE(model.facts.has_source);
        testing::InterpretedSession session(model, 32);
        session.read_source(source);
        std::vector<double> all;
        for (const std::vector<int64_t>& target : targets)
            for (const double each : session.step(target)) all.push_back(each);
        return all;
    }
};

TEST_F(TextPairs, TargetsSeeAllOfTheirSource) {
    add_matrices({"q", "k", "v", "o"});
    const auto whole = logits_of({3, 1, 4, 1, 5}, {{9, 2, 6}});
    EXPECT_EQ(whole, logits_of({3, 1, 4, 1, 5}, {{9}, {2, 6}}));
    EXPECT_NE(whole, logits_of({3, 1, 4, 1, 6}, {{9, 2, 6}}));
}

TEST_F(TextPairs, EachAttentionNamesItsPart) {
    add_matrices({"q", "k", "v", "o"});
    write(text_with(projections() + R"(
  v_heads = shape(v, 2, 4); other = attend(q_heads, k_cache, v_cache)
  attention = attend(q_heads, k_cache, v_cache, part: "source"); attended = shape(attention + other, 8)
)"));
    EXPECT_THAT(
        [&] { (void)import_model(folder_.path(), {.architectures = known()}); },
        ::testing::ThrowsMessage<Error>(HasSubstr("attends to the source and the target at one time")));
}

/// A model that assigns vectors.
class TextVectors : public TextFunctions {
protected:
    std::string text(const std::string& attention) const {
        return text_with(
            projections() + "  weight distances_weight [8, 2] hf \"d\"\n  v_heads = shape(v, 2, 4)\n" +
                "  attended = shape(attention, 8)\n  attention = attend(q_heads, k_cache, v_cache" +
                attention + ")\n",
            "model changed\n  vectors = y\n");
    }
    std::vector<double> vectors(const std::string& attention) {
        write(text(attention));
        const ImportedModel model =
            import_model(folder_.path(), {.policy = Policy::kExact, .architectures = known()});
        EXPECT_TRUE(model.facts.is_encoder);
        testing::InterpretedSession session(model, 32);
        return session.step({3, 1, 4, 1, 5});
    }
};

TEST_F(TextVectors, TokensSeeTheWholeText) {
    add_matrices({"q", "k", "v", "o"});
    for (const char* name : {"model.norm.weight", "lm_head.weight"}) tensors_.erase(name);
    const auto all = vectors(", ahead: inf");
    EXPECT_EQ(all.size(), 5U * kHidden);
    EXPECT_EQ(all, vectors(", ahead: 4"));
    EXPECT_NE(all, vectors(", ahead: 1"));
    for (const std::string layer : kLayers) add(layer + "d.weight", {8, kHeads});
    EXPECT_NE(all, vectors(", ahead: inf, distances: buckets(distances_weight, 16, both: true)"));
    EXPECT_THAT([&] { (void)vectors(", ahead: inf, distances: distances_weight"); },
                ::testing::ThrowsMessage<Error>(HasSubstr("expected buckets of a table")));
}

TEST_F(TextVectors, LogitsAreOfTokensThatSeeNoLaterOnes) {
    add_matrices({"q", "k", "v", "o"});
    EXPECT_THAT(
        [&] {
            (void)logits(text_with(projections() + R"(
  v_heads = shape(v, 2, 4); attention = attend(q_heads, k_cache, v_cache, ahead: 1); attended = shape(attention, 8)
)"));
        },
        ::testing::ThrowsMessage<Error>(HasSubstr("sees later tokens")));
}

}  // namespace
}  // namespace tessera::import
