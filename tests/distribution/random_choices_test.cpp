// Signatures of several levels claim to hold for all contents: they must be true when devices run them.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distribution/run_choice.h"
#include "ir/random_definition.h"

namespace tessera::distribution {
namespace {

TEST(RandomChoices, AreTrueWhenRun) {
    int checked = 0;
    for (const std::vector<int64_t>& counts : {std::vector<int64_t>{2, 2}, {2, 3}, {4}, {2, 2, 2}})
        for (uint64_t seed = 0; seed < 120; ++seed) {
            const std::string text = random_definition_text(seed, {.largest_box = 200});
            SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
            const DefinitionFile file = parse_definition_file(text, "drawn.op");
            if (file.definition.tensors.back().role == Role::kUpdate) continue;
            Problem problem;
            for (const int64_t count : counts) problem.placement.levels.push_back({count, 0, 0});
            const Operator op{facts::bind_test(file, "drawn.op"), {}};
            std::vector<TensorData> contents = test_contents(file, op.bound.extents, "drawn.op");
            const std::vector<Choice> choices = derive_choices(problem, op);
            std::mt19937_64 random(seed);
            for (const Choice& choice : choices) {
                if (choices.size() > 12 && random() % choices.size() >= 12) continue;
                ASSERT_THAT(run_choice(op, problem.placement, choice, contents), ::testing::IsEmpty())
                    << distribution::text(choice.forms.back());
                ++checked;
            }
        }
    EXPECT_GT(checked, 800);
}

}  // namespace
}  // namespace tessera::distribution
