#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "import/architecture/architectures.h"
#include "import/import_model.h"
#include "import/run_model.h"
#include "support/temporary_folder.h"

namespace tessera::import {

/// A model of a text of the test's own: its tensors have random contents.
class OwnText : public ::testing::Test {
protected:
    static constexpr int64_t kHidden = 8, kHeads = 2, kWidth = 4;

    /// The decoder around a layer, whose statements follow.
    static std::string text_with(const std::string& layer, const std::string& settings = "") {
        return R"(arch own like decoder
class "OwnForCausalLM"
set layers hf = 2, hidden hf = 8, feed_forward hf = 12, heads hf = 2, vocabulary hf = 11, positions hf = 64,
  epsilon hf = 1e-5, activation hf = "silu"
rope rope width head_width hf = 100.0
)" + settings + "layer\n" +
               layer;
    }

    /// The attention that all these layers have, of values q_heads, k_heads and v_heads.
    static std::string attention() {
        return R"(
  k_cache = cache(k_heads); v_cache = cache(v_heads)
  attention = attend(q_heads, k_cache, v_cache); attended = shape(attention, heads * head_width)
  weight output_weight [hidden, heads * head_width] hf "o"
  give = x + linear(attended, output_weight)
)";
    }

    std::vector<float>& add(const std::string& name, const std::vector<int64_t>& shape) {
        int64_t count = 1;
        for (const int64_t extent : shape) count *= extent;
        testing::NamedTensor& tensor = tensors_[name];
        tensor.shape = shape;
        std::normal_distribution<float> normal(0, 0.5f);
        for (int64_t i = 0; i < count; ++i) tensor.values.push_back(normal(random_));
        return tensor.values;
    }

    void add_outer() {
        add("model.embed_tokens.weight", {11, kHidden});
        add("model.norm.weight", {kHidden});
        add("lm_head.weight", {11, kHidden});
    }

    void write(const std::string& text) const {
        testing::write_file(folder_.path() / "own.arch", text);
        testing::write_file(folder_.path() / "config.json", R"({"model_type": "own"})");
        testing::write_file(folder_.path() / "model.safetensors", testing::safetensors_of(tensors_));
    }
    Architectures known() const {
        const std::filesystem::path file = folder_.path() / "own.arch";
        return Architectures({&file, 1});
    }
    /// Computed in two chunks.
    std::vector<double> logits(const std::string& text) const {
        write(text);
        const ImportedModel model =
            import_model(folder_.path(), {.policy = Policy::kExact, .architectures = known()});
        testing::InterpretedSession session(model, 32);
        std::vector<double> found = session.step({3, 1, 4, 1, 5});
        for (const double each : session.step({9, 2, 6})) found.push_back(each);
        return found;
    }

    std::map<std::string, testing::NamedTensor> tensors_;
    std::mt19937 random_{5};
    TemporaryFolder folder_;
};

}  // namespace tessera::import
