#include "machine/published_models.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tessera::machine {
namespace {

TEST(PublishedModels, HaveNames) {
    for (const std::string& each : published_model_names()) {
        const auto model = find_published_model(each);
        ASSERT_TRUE(model.has_value());
        EXPECT_EQ(name(*model), each);
    }
    EXPECT_FALSE(find_published_model("").has_value());
}

TEST(PublishedModels, AreTheFormulasOfTheirPapers) {
    EXPECT_EQ(nncase_seconds(2, 3), 3);
    EXPECT_EQ(nncase_seconds(5, 3), 5);
    // 1,000 bytes at 100 a second, 400 flops at 200 a second, 4 blocks on 12 units: alpha is 16 / 4.
    const McfuserTimes times = mcfuser_times(int64_t{1000}, int64_t{400}, int64_t{4}, {100, 200, 12});
    EXPECT_EQ(times.memory, 10);
    EXPECT_EQ(times.compute, 2);
    EXPECT_EQ(times.alpha, 4);
    EXPECT_EQ(times.estimate, 48);
    EXPECT_EQ(roofline_seconds(400, 1000, {100, 200}), 10);
    EXPECT_EQ(roofline_seconds(4000, 1000, {100, 200}), 20);
}

TEST(PublishedModels, PricesAreShownWithTheirParts) {
    const PublishedPrice mcfuser{PublishedModel::kMcfuser, 48, 10, 2, 4};
    EXPECT_EQ(to_text(mcfuser), "mcfuser  48 s = (10 s memory + 2 s compute) x 4");
    EXPECT_EQ(to_json(mcfuser)["alpha"], 4);
    const PublishedPrice nncase{PublishedModel::kNncase, 3, 2, 3};
    EXPECT_EQ(to_text(nncase), "nncase   3 s = the larger of 2 s memory and 3 s compute");
    EXPECT_FALSE(to_json(nncase).contains("alpha"));
    EXPECT_EQ(to_json(nncase)["seconds"], 3);
}

}  // namespace
}  // namespace tessera::machine
