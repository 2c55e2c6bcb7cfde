#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/architecture/architectures.h"
#include "import/architecture/parse_architecture.h"
#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "import/run_model.h"
#include "support/error.h"
#include "support/temporary_folder.h"

// Recurrences of a text of the test's own, beside plain loops and beside another spelling.

namespace tessera::import {
namespace {

using ::testing::HasSubstr;

constexpr size_t kHidden = 8, kTokens = 8;

class RecurrenceText : public ::testing::Test {
protected:
    static std::string text_with(const std::string& layer) {
        return R"(arch own like decoder
class "OwnForCausalLM"
set layers hf = 1, hidden hf = 8, feed_forward hf = 12, heads hf = 2, vocabulary hf = 11, positions hf = 64,
  epsilon hf = 1e-5, activation hf = "silu"
layer
  weight c_weight [8, 3] bias true hf "c", k_weight [8, 8] hf "k", v_weight [8, 8] hf "v"
)" + layer;
    }

    std::vector<float>& add(const std::string& name, const std::vector<int64_t>& shape) {
        testing::NamedTensor& tensor = tensors_[name];
        tensor.shape = shape;
        int64_t count = 1;
        for (const int64_t extent : shape) count *= extent;
        std::normal_distribution<float> normal(0, 0.5f);
        for (int64_t i = 0; i < count; ++i) tensor.values.push_back(normal(random_));
        return tensor.values;
    }

    void SetUp() override {
        add("model.embed_tokens.weight", {11, 8});
        add("model.norm.weight", {8});
        add("lm_head.weight", {11, 8});
        add("model.layers.0.c.weight", {8, 3});
        add("model.layers.0.c.bias", {8});
        add("model.layers.0.k.weight", {8, 8});
        add("model.layers.0.v.weight", {8, 8});
    }

    /// Only those of the layer's tensors that the text reads are stored.
    std::vector<double> logits(const std::string& text, std::initializer_list<const char*> read) const {
        std::map<std::string, testing::NamedTensor> stored = tensors_;
        for (const char* name : {"c.weight", "c.bias", "k.weight", "v.weight"})
            if (std::ranges::find(read, std::string(name)) == read.end())
                stored.erase(std::string("model.layers.0.") + name);
        testing::write_file(folder_.path() / "own.arch", text);
        testing::write_file(folder_.path() / "config.json", R"({"model_type": "own"})");
        testing::write_file(folder_.path() / "model.safetensors", testing::safetensors_of(stored));
        const std::filesystem::path file = folder_.path() / "own.arch";
        const ImportedModel model = import_model(
            folder_.path(), {.policy = Policy::kExact, .architectures = Architectures({&file, 1})});
        testing::InterpretedSession session(model, 32);
        std::vector<double> found = session.step({3, 1, 4, 1, 5});
        for (const double each : session.step({9, 2, 6})) found.push_back(each);
        return found;
    }

    double of(const std::string& name, size_t at) const {
        return static_cast<double>(tensors_.at(name).values[at]);
    }
    /// W x of a matrix of the layer.
    std::vector<double> product(const std::string& name, const std::vector<double>& x) const {
        std::vector<double> y(kHidden, 0.0);
        for (size_t n = 0; n < kHidden; ++n)
            for (size_t d = 0; d < kHidden; ++d) y[n] += of("model.layers.0." + name, n * kHidden + d) * x[d];
        return y;
    }
    std::vector<double> embedded(size_t token) const {
        std::vector<double> x;
        for (size_t d = 0; d < kHidden; ++d)
            x.push_back(of("model.embed_tokens.weight", token * kHidden + d));
        return x;
    }
    void append_logits(const std::vector<double>& y, std::vector<double>& logits) const {
        double squares = 0;
        for (const double each : y) squares += each * each;
        for (size_t v = 0; v < 11; ++v) {
            double sum = 0;
            for (size_t d = 0; d < kHidden; ++d)
                sum += of("lm_head.weight", v * kHidden + d) * of("model.norm.weight", d) * y[d];
            logits.push_back(sum / std::sqrt(squares / kHidden + 1e-5));
        }
    }

    const std::vector<size_t> ids_ = {3, 1, 4, 1, 5, 9, 2, 6};
    std::map<std::string, testing::NamedTensor> tensors_;
    std::mt19937 random_{7};
    TemporaryFolder folder_;
};

TEST_F(RecurrenceText, LinearAttentionIsThatOfPlainLoops) {
    std::vector<double> expected, s(2 * 4 * 4, 0.0);
    for (const size_t id : ids_) {
        const std::vector<double> x = embedded(id), k = product("k.weight", x), v = product("v.weight", x);
        std::vector<double> y = x;
        for (size_t h = 0; h < 2; ++h)
            for (size_t e = 0; e < 4; ++e)
                for (size_t d = 0; d < 4; ++d) {
                    double& state = s[(h * 4 + d) * 4 + e];
                    state = state * 0.75 + k[h * 4 + d] * v[h * 4 + e];
                    y[h * 4 + e] += state * k[h * 4 + d];
                }
        append_logits(y, expected);
    }
    const auto found = logits(text_with(R"(
  k = linear(x, k_weight); v = linear(x, v_weight)
  k_heads = shape(k, 2, 4); v_heads = shape(v, 2, 4)
  carry s[h, d, e] = s[h, d, e] * 0.75 + k_heads[h, d] * v_heads[h, e]
  read[h, e] = sum(s[h, d, e] * k_heads[h, d])
  give = x + shape(read, 8)
)"),
                              {"k.weight", "v.weight"});
    EXPECT_LT(testing::distance_of_range(found, expected), 1e-6);
}

TEST_F(RecurrenceText, AConvolutionIsThatOfPlainLoops) {
    std::vector<double> expected;
    std::vector<std::vector<double>> xs(2, std::vector<double>(kHidden, 0.0));
    for (const size_t id : ids_) {
        xs.push_back(embedded(id));
        std::vector<double> y = xs.back();
        for (size_t c = 0; c < kHidden; ++c) {
            y[c] += of("model.layers.0.c.bias", c);
            for (size_t k = 0; k < 3; ++k)
                y[c] += of("model.layers.0.c.weight", c * 3 + k) * xs[xs.size() - 3 + k][c];
        }
        append_logits(y, expected);
    }
    const auto found =
        logits(text_with("  convolved = conv(x, c_weight); give = x + convolved\n"), {"c.weight", "c.bias"});
    EXPECT_LT(testing::distance_of_range(found, expected), 1e-6);
}

/// The weight of a token before it, and its place, which a line reads.
TEST_F(RecurrenceText, LinesStandBeforeAndBehindWhatIsCarried) {
    std::vector<double> expected, last(kHidden, 0.0);
    double position = 0;
    for (const size_t id : ids_) {
        const std::vector<double> x = embedded(id);
        std::vector<double> y = x;
        for (size_t d = 0; d < kHidden; ++d) {
            y[d] += last[d] * (position == 2 ? 5 : 1);
            last[d] = last[d] * 0.5 + x[d];
            y[d] += last[d] * 2;
        }
        append_logits(y, expected);
        ++position;
    }
    const auto found = logits(text_with(R"(
  before[d] = last[d] * select(position == 2, 5.0, 1.0)
  carry last[d] = last[d] * 0.5 + x[d]
  behind[d] = last[d] * 2
  give = x + before + behind
)"),
                              {});
    EXPECT_LT(testing::distance_of_range(found, expected), 1e-6);
}

TEST_F(RecurrenceText, WhatIsNoneIsRefused) {
    const auto expect = [&](const std::string& layer, const std::string& problem) {
        try {
            (void)logits(text_with(layer), {});
            ADD_FAILURE() << layer;
        } catch (const std::exception& error) {
            EXPECT_THAT(error.what(), HasSubstr(problem)) << layer;
        }
    };
    expect("  carry s = x\n  give = x + s\n", "expected [, and the indices");
    expect("  carry s[d] = s[d] + x[d]\n  give = x + s\n", "without indices");
    expect("  carry s[d] = s[d] + x[d]\n  carry r[d] = r[d] + s[d]\n  y[d] = r[d] * 1.0\n  give = x + y\n",
           "reads the states of two recurrences");
    expect("  carry s[d] = s[e] + x[d]\n  y[d] = s[d] * 1.0\n  give = x + y\n", "has no extent");
    expect("  carry s[d: 0] = s[d] + x[d]\n  y[d] = s[d] * 1.0\n  give = x + y\n", "has an axis of 0");
    expect("  a = y * 2\n  carry s[d] = s[d] + a[d]\n  y[d] = s[d] * 1.0\n  give = x + y\n",
           "depends on itself");
    expect("  carry s[d] = s[d - 1] + x[d]\n  y[d] = s[d] * 1.0\n  give = x + y\n", "may have changed");
}

TEST(RecurrenceTexts, APrintedTextIsTheSame) {
    const auto none = [](std::string_view) { return std::string_view(); };
    const std::string text = "arch own\nlayer\n  carry s[k: 3, d] = s[k, d] + x[d] when true\n";
    const std::string printed = print(parse_architecture(text, "own.arch", none));
    EXPECT_THAT(printed, HasSubstr("carry s[k: 3, d] = s[k, d] + x[d]"));
    EXPECT_EQ(print(parse_architecture(printed, "own.arch", none)), printed);
}

}  // namespace
}  // namespace tessera::import
