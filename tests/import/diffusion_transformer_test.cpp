#include "import/diffusion_transformer.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/import_shapes.h"
#include "import/run_model.h"
#include "ir/graph_interpreter.h"
#include "support/error.h"
#include "support/temporary_folder.h"

// The graph of a diffusion transformer against plain loops that follow the figure of its paper, and its
// settings.
namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Numbers = std::vector<double>;

/// Contents of a constant or an input: a fixed number for each name, repetition and place.
double fixed_content(const std::string& name, int64_t repetition, size_t place) {
    const size_t seed =
        std::accumulate(name.begin(), name.end(), size_t{7} + 131 * static_cast<size_t>(repetition),
                        [](size_t sum, char c) { return sum * 31 + static_cast<size_t>(c); });
    return std::sin(static_cast<double>(seed % 1000) + 1.7 * static_cast<double>(place)) * 0.4;
}

Numbers fixed_contents(const std::string& name, int64_t repetition, int64_t count) {
    Numbers numbers;
    for (int64_t i = 0; i < count; ++i)
        numbers.push_back(fixed_content(name, repetition, static_cast<size_t>(i)));
    return numbers;
}

/// The model by loops, for one image.
class PlainTransformer {
public:
    PlainTransformer(const DiffusionConfig& config, int64_t image, int64_t label)
        : c_(config), image_(image), label_(label) {}

    /// [out_channels, side, side]
    Numbers noise() {
        const int64_t d = c_.hidden(), n = c_.patches(), across = c_.patches_of_side(), p = c_.patch;
        const Numbers condition = embedded_condition();
        Numbers x = embedded_patches();
        for (int64_t layer = 0; layer < c_.layers; ++layer) {
            const Numbers m = linear("layer_modulation", layer, silu(condition), 6 * d, d);
            const Numbers attended = attention(layer, modulated(x, m, 0, d));
            for (int64_t t = 0; t < n; ++t)
                for (int64_t k = 0; k < d; ++k) x[at(t, k)] += m[u(2 * d + k)] * attended[at(t, k)];
            Numbers up = linear("layer_up", layer, modulated(x, m, 3 * d, 4 * d), 4 * d, d);
            for (double& v : up)
                v = 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
            const Numbers down = linear("layer_down", layer, up, d, 4 * d);
            for (int64_t t = 0; t < n; ++t)
                for (int64_t k = 0; k < d; ++k) x[at(t, k)] += m[u(5 * d + k)] * down[at(t, k)];
        }
        const Numbers m = linear("head_modulation", 0, silu(condition), 2 * d, d);
        const int64_t width = p * p * c_.out_channels;
        const Numbers patches = linear("noise_patches", 0, modulated(x, m, 0, d), width, d);
        Numbers result(u(c_.out_channels * c_.side * c_.side));
        for (int64_t i = 0; i < c_.side; ++i)
            for (int64_t j = 0; j < c_.side; ++j)
                for (int64_t channel = 0; channel < c_.out_channels; ++channel)
                    result[u((channel * c_.side + i) * c_.side + j)] =
                        patches[u((i / p * across + j / p) * width + ((i % p) * p + j % p) * c_.out_channels +
                                  channel)];
        return result;
    }

private:
    static size_t u(int64_t i) { return static_cast<size_t>(i); }
    size_t at(int64_t t, int64_t k) const { return u(t * c_.hidden() + k); }

    /// Rows times a matrix [outputs, inputs], with its bias.
    static Numbers linear(const std::string& name, int64_t layer, const Numbers& x, int64_t outputs,
                          int64_t inputs) {
        const Numbers w = fixed_contents(name + "_weight", layer, outputs * inputs);
        const Numbers bias = fixed_contents(name + "_bias", layer, outputs);
        Numbers y;
        for (size_t t = 0; t < x.size() / u(inputs); ++t)
            for (int64_t o = 0; o < outputs; ++o) {
                double sum = bias[u(o)];
                for (int64_t k = 0; k < inputs; ++k) sum += x[t * u(inputs) + u(k)] * w[u(o * inputs + k)];
                y.push_back(sum);
            }
        return y;
    }
    static Numbers silu(Numbers x) {
        for (double& v : x) v = v / (1 + std::exp(-v));
        return x;
    }
    Numbers embedded_condition() const {
        const int64_t d = c_.hidden();
        Numbers time;
        for (int64_t k = 0; k < kTimeWidth; ++k)
            time.push_back(fixed_content("time", 0, u(image_ * kTimeWidth + k)));
        Numbers sum = linear("time_embedded", 0, silu(linear("time_up", 0, time, d, kTimeWidth)), d, d);
        for (int64_t k = 0; k < d; ++k) sum[u(k)] += fixed_content("label_table", 0, u(label_ * d + k));
        return sum;
    }
    Numbers embedded_patches() const {
        const int64_t d = c_.hidden(), p = c_.patch, area = c_.side * c_.side;
        Numbers x;
        for (int64_t t = 0; t < c_.patches(); ++t)
            for (int64_t k = 0; k < d; ++k) {
                double sum =
                    fixed_content("patch_bias", 0, u(k)) + fixed_content("positions", 0, u(t * d + k));
                for (int64_t channel = 0; channel < c_.in_channels; ++channel)
                    for (int64_t i = 0; i < p; ++i)
                        for (int64_t j = 0; j < p; ++j) {
                            const int64_t row = t / c_.patches_of_side() * p + i,
                                          column = t % c_.patches_of_side() * p + j;
                            sum += fixed_content("latents", 0,
                                                 u((image_ * c_.in_channels + channel) * area +
                                                   row * c_.side + column)) *
                                   fixed_content("patch_weight", 0,
                                                 u(((k * c_.in_channels + channel) * p + i) * p + j));
                        }
                x.push_back(sum);
            }
        return x;
    }
    Numbers modulated(const Numbers& x, const Numbers& m, int64_t shift, int64_t scale) const {
        const int64_t d = c_.hidden();
        Numbers y = x;
        for (int64_t t = 0; t < c_.patches(); ++t) {
            double mean = 0, square = 0;
            for (int64_t k = 0; k < d; ++k) mean += x[at(t, k)] / static_cast<double>(d);
            for (int64_t k = 0; k < d; ++k)
                square += std::pow(x[at(t, k)] - mean, 2) / static_cast<double>(d);
            for (int64_t k = 0; k < d; ++k)
                y[at(t, k)] = (x[at(t, k)] - mean) / std::sqrt(square + c_.epsilon) * (1 + m[u(scale + k)]) +
                              m[u(shift + k)];
        }
        return y;
    }
    Numbers attention(int64_t layer, const Numbers& x) const {
        const int64_t d = c_.hidden(), n = c_.patches(), w = c_.head_width;
        const Numbers q = linear("layer_q", layer, x, d, d), k = linear("layer_k", layer, x, d, d),
                      v = linear("layer_v", layer, x, d, d);
        Numbers y(u(n * d), 0);
        for (int64_t h = 0; h < c_.heads; ++h)
            for (int64_t i = 0; i < n; ++i) {
                Numbers weights;
                double sum = 0;
                for (int64_t s = 0; s < n; ++s) {
                    double score = 0;
                    for (int64_t e = 0; e < w; ++e) score += q[at(i, h * w + e)] * k[at(s, h * w + e)];
                    weights.push_back(std::exp(score / std::sqrt(static_cast<double>(w))));
                    sum += weights.back();
                }
                for (int64_t s = 0; s < n; ++s)
                    for (int64_t e = 0; e < w; ++e)
                        y[at(i, h * w + e)] += weights[u(s)] / sum * v[at(s, h * w + e)];
            }
        return linear("layer_output", layer, y, d, d);
    }

    const DiffusionConfig& c_;
    int64_t image_, label_;
};

DiffusionConfig small_config() {
    return {.layers = 2,
            .heads = 2,
            .head_width = 3,
            .patch = 2,
            .side = 4,
            .in_channels = 3,
            .out_channels = 5,
            .classes = 3};
}

TEST(DiffusionTransformer, ComputesWhatPlainLoopsCompute) {
    const DiffusionConfig config = small_config();
    const Graph graph =
        build_diffusion_transformer("small", {.config = config, .images = 2, .weight = ElementType::kF32});
    verify(graph, "small");
    GraphCall call;
    const auto filled = [](const Value& value, int64_t repetition) {
        TensorData data;
        for (const Dim& dim : value.type.shape) data.shape.push_back(dim.factor);
        const int64_t count =
            std::accumulate(data.shape.begin(), data.shape.end(), int64_t{1}, std::multiplies<>());
        data.values = fixed_contents(value.name, repetition, count);
        return data;
    };
    for (const Value& value : graph.values)
        if (value.kind == ValueKind::kInput) call.inputs[value.name] = filled(value, 0);
    call.inputs["label"] = {.shape = {2}, .values = {3, 1}};
    call.constant = filled;
    const GraphResult result = interpret_graph(graph, call);
    Numbers expected = PlainTransformer(config, 0, 3).noise();
    const Numbers second = PlainTransformer(config, 1, 1).noise();
    expected.insert(expected.end(), second.begin(), second.end());
    // F32 results of every operator.
    EXPECT_LT(testing::distance_of_range(result.outputs.at(0).values, expected), 3e-6);
}

json dit_config() {
    return {{"_class_name", "DiTTransformer2DModel"},
            {"num_layers", 3},
            {"num_attention_heads", 2},
            {"attention_head_dim", 8},
            {"patch_size", 2},
            {"sample_size", 8},
            {"in_channels", 4},
            {"out_channels", 8},
            {"num_embeds_ada_norm", 10},
            {"norm_type", "ada_norm_zero"},
            {"torch_dtype", "float16"}};
}

std::string diffusion_error(const json& config) {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "dit.json";
    std::ofstream(path) << config.dump();
    try {
        const ImportedShapes shapes = import_diffusion_shapes(path, 2);
        verify(shapes.graph, "dit.json");
        return "accepted " + shapes.graph.name + ", " + std::to_string(shapes.max_positions) +
               " patches of " + shapes.type;
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(DiffusionConfig, IsReadFromTheSettingsOfDiffusers) {
    EXPECT_EQ(diffusion_error(dit_config()), "accepted dit, 16 patches of f16");
    json other = dit_config();
    other["_class_name"] = "Transformer2DModel";
    EXPECT_EQ(diffusion_error(other), "accepted dit, 16 patches of f16");
}

TEST(DiffusionConfig, RefusesOtherModelsByName) {
    const auto changed = [](const char* field, const json& value) {
        json config = dit_config();
        config[field] = value;
        return diffusion_error(config);
    };
    EXPECT_THAT(changed("_class_name", "UNet2DModel"), HasSubstr("_class_name"));
    EXPECT_THAT(changed("norm_type", "ada_norm_single"), HasSubstr("norm_type"));
    EXPECT_THAT(changed("cross_attention_dim", 64),
                HasSubstr("cross_attention_dim = 64: attention to another sequence"));
    EXPECT_THAT(changed("attention_bias", false), HasSubstr("attention_bias"));
    EXPECT_THAT(changed("activation_fn", "geglu"), HasSubstr("activation_fn"));
    EXPECT_THAT(changed("patch_size", 3),
                HasSubstr("`patch_size`: is 3, expected a divisor of sample_size = 8"));
    EXPECT_THAT(changed("num_layers", 0), HasSubstr("`num_layers`"));
    EXPECT_THAT(changed("torch_dtype", "int8"), HasSubstr("tensors of type int8"));
    json missing = dit_config();
    missing.erase("attention_head_dim");
    EXPECT_THAT(diffusion_error(missing), HasSubstr("`attention_head_dim`: is missing"));
}

}  // namespace
}  // namespace tessera::import
