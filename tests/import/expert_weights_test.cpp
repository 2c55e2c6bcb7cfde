#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/checkpoint.h"
#include "import/expected_checkpoint.h"
#include "import/import_model.h"
#include "import/import_shapes.h"
#include "import/random_checkpoint.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

class ExpertFolders : public ::testing::Test {
protected:
    std::vector<std::string> unsupported(
        const std::function<void(json& config, json& tensors)>& change) const {
        json variant = variant_;
        change(variant["config"], variant["tensors"]);
        testing::write_variant_folder(variant, folder_.path());
        return inspect_model(folder_.path()).checkpoint.findings.unsupported;
    }

    const json variant_ = testing::expected_variant(TESSERA_SOURCE_DIR, "qwen3_moe");
    TemporaryFolder folder_;
};

TEST_F(ExpertFolders, ExpertsOfALayerAreOneMatrix) {
    testing::write_variant_folder(variant_, folder_.path());
    const Checkpoint checkpoint = open_checkpoint(folder_.path());
    const WeightSource& weights = *checkpoint.weights;
    const std::string stacked = "model.layers.1.mlp.experts.*.down_proj.weight";
    ASSERT_TRUE(weights.find(stacked) != nullptr);
    EXPECT_EQ(weights.find(stacked)->shape, (std::vector<int64_t>{5 * 36, 9}));
    EXPECT_EQ(weights.find("model.layers.1.mlp.experts.3.down_proj.weight"), nullptr);
    EXPECT_THAT(weights.names(), Contains(stacked));
    EXPECT_EQ(weights.contents(stacked).bytes.size(), 5 * 36 * 9 * sizeof(float));
}

TEST_F(ExpertFolders, WhatDoesNotFitIsNamed) {
    EXPECT_THAT(unsupported([](json&, json& tensors) {
                    tensors.erase("model.layers.0.mlp.experts.2.up_proj.weight");
                }),
                Contains(HasSubstr("without model.layers.0.mlp.experts.2.up_proj.weight")));
    EXPECT_THAT(unsupported([](json&, json& tensors) {
                    tensors["model.layers.0.mlp.experts.2.up_proj.weight"] = {9, 35};
                }),
                Contains(HasSubstr("with model.layers.0.mlp.experts.2.up_proj.weight of another shape")));
    EXPECT_THAT(unsupported([](json& config, json&) { config["mlp_only_layers"] = {1}; }),
                Contains(HasSubstr("model.layers.1.mlp.gate_proj.weight")))
        << "the layer needs a feed-forward of its own";
    EXPECT_THAT(unsupported([](json& config, json&) { config["decoder_sparse_step"] = 2; }),
                Contains(HasSubstr("model.layers.0.mlp.gate_proj.weight")));
    EXPECT_THROW(unsupported([](json& config, json&) { config["num_experts_per_tok"] = 6; }), Error);
}

TEST_F(ExpertFolders, HaveNoPlanOnADescribedChip) {
    testing::write_variant_folder(variant_, folder_.path());
    try {
        (void)import_shapes(folder_.path(), {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("a mixture of experts"));
    }
}

}  // namespace
}  // namespace tessera::import
