#include "import/repeating_groups.h"

#include <map>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "import/run_model.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using ::testing::ElementsAre;

std::vector<LayerGroup> groups(std::string_view kinds) {
    const std::vector<int> numbers(kinds.begin(), kinds.end());
    return repeating_groups(numbers);
}

TEST(RepeatingGroups, OneKindIsOneGroup) {
    EXPECT_THAT(groups("AAAA"), ElementsAre(LayerGroup{0, 1, 4}));
    EXPECT_THAT(groups("A"), ElementsAre(LayerGroup{0, 1, 1}));
    EXPECT_TRUE(groups("").empty());
}

TEST(RepeatingGroups, AlternatingKindsAreOneGroup) {
    EXPECT_THAT(groups("ABABAB"), ElementsAre(LayerGroup{0, 2, 3}));
    EXPECT_THAT(groups("AABAABAAB"), ElementsAre(LayerGroup{0, 3, 3}));
    EXPECT_THAT(groups("AAABABAB"), ElementsAre(LayerGroup{0, 1, 2}, LayerGroup{2, 2, 3}));
}

TEST(RepeatingGroups, OddLayersStandAlone) {
    EXPECT_THAT(groups("XAAAA"), ElementsAre(LayerGroup{0, 1, 1}, LayerGroup{1, 1, 4}));
    EXPECT_THAT(groups("AAXAA"), ElementsAre(LayerGroup{0, 1, 2}, LayerGroup{2, 1, 1}, LayerGroup{3, 1, 2}));
    EXPECT_THAT(groups("ABC"), ElementsAre(LayerGroup{0, 3, 1}));
}

/// The fewest layers to compile, by trying every division.
int64_t fewest_compiled(const std::vector<int>& kinds, size_t first, std::map<size_t, int64_t>& known) {
    if (first == kinds.size()) return 0;
    if (const auto found = known.find(first); found != known.end()) return found->second;
    int64_t best = INT64_MAX;
    for (size_t end = first + 1; end <= kinds.size(); ++end)
        for (size_t period = 1; period <= end - first; ++period) {
            bool repeats = (end - first) % period == 0;
            for (size_t i = first + period; i < end; ++i) repeats = repeats && kinds[i] == kinds[i - period];
            if (repeats)
                best = std::min(best, static_cast<int64_t>(period) + fewest_compiled(kinds, end, known));
        }
    return known[first] = best;
}

RC_GTEST_PROP(RepeatingGroupsLaw, CoverAllLayersWithTheFewestCompiled, ()) {
    const auto kinds = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3));
    int64_t at = 0, compiled = 0;
    for (const LayerGroup& group : repeating_groups(kinds)) {
        RC_ASSERT(group.first == at);
        for (int64_t i = group.period; i < group.period * group.repeats; ++i)
            RC_ASSERT(kinds[static_cast<size_t>(at + i)] ==
                      kinds[static_cast<size_t>(at + i - group.period)]);
        at += group.period * group.repeats;
        compiled += group.period;
    }
    RC_ASSERT(at == std::ssize(kinds));
    std::map<size_t, int64_t> known;
    RC_ASSERT(compiled == fewest_compiled(kinds, 0, known));
}

// Layers of a GGUF file may differ: here the odd ones have biases of the queries, and the last one of the
// feed-forward.
TEST(RepeatingGroups, LayersOfDifferentStructureComputeWhatPlainLoopsDo) {
    testing::RandomDecoder decoder;
    decoder.layers = 7;
    decoder.qkv_bias = decoder.feed_forward_bias = true;
    decoder.fill(3);
    std::erase_if(decoder.tensors, [](const auto& item) {
        const std::string& name = item.first;
        if (!name.ends_with(".bias")) return false;
        const int layer = name[std::string_view("model.layers.").size()] - '0';
        return name.find("mlp") != std::string::npos ? layer != 6 : layer % 2 == 0;
    });
    const TemporaryFolder folder;
    testing::write_gguf(decoder, folder.path() / "model.gguf");
    const ImportedModel model = import_model(folder.path() / "model.gguf");
    verify(model.graph, "model");
    ASSERT_EQ(model.graph.blocks.size(), 4u);
    EXPECT_EQ(model.graph.blocks[1].repeat, 3);
    EXPECT_EQ(model.graph.blocks[1].states.size(), 4u) << "two layers with two caches each";
    EXPECT_EQ(model.graph.blocks[2].repeat, 1);

    const std::vector<int64_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6};
    testing::InterpretedSession session(model, 16);
    EXPECT_LT(testing::distance_of_range(session.step(tokens), testing::naive_logits(decoder, tokens)), 3e-6);
}

}  // namespace
}  // namespace tessera::import
