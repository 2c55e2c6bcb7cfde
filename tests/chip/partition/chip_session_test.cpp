#include "chip/partition/chip_session.h"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chip/read_chip_toml.h"

// The checkpoint that ships, executed on the small chip.
namespace tessera::partition {
namespace {

const std::string kTiny = std::string(TESSERA_SOURCE_DIR) + "/models/tessera-tiny";

std::vector<int64_t> reference_ids(const std::string& name) {
    std::ifstream file(kTiny + "/reference/" + name);
    return nlohmann::json::parse(file).get<std::vector<int64_t>>();
}

TEST(ChipSession, OfTheCheckpointWritesWhatTheReferenceDoes) {
    const import::ImportedModel model = import::import_model(kTiny, {.context = 96, .max_sequences = 1});
    const chip::ChipDescription chip =
        chip::read_chip_description(std::string(TESSERA_SOURCE_DIR) + "/machines/chips/small-16.toml");
    ChipSession session(model, chip, "small-16.toml", 96, {.work = 20'000}, true);
    std::vector<int64_t> tokens = reference_ids("ids.json");
    const std::vector<int64_t> greedy = reference_ids("greedy.json");
    for (size_t i = 0; i < 3; ++i) {
        const ChipStep step = session.step(tokens);
        EXPECT_LT(step.distance, 1e-5);
        tokens = {std::max_element(step.logits.begin(), step.logits.end()) - step.logits.begin()};
        EXPECT_EQ(tokens[0], greedy[i]);
    }
}

}  // namespace
}  // namespace tessera::partition
