#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/architecture/own_text.h"
#include "import/distance_buckets.h"
#include "import/spread_rows.h"
#include "support/error.h"

// Terms of scores by distances, of contents and of numbers alone.

namespace tessera::import {
namespace {

using ::testing::HasSubstr;

class DistancesText : public OwnText {
protected:
    static constexpr int64_t kRows = 4;
    static constexpr double kScale = 0.3;

    DistancesText() {
        add_outer();
        for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
            for (const char* name : {"k", "v", "o"}) add(layer + name + ".weight", {kHidden, kHidden});
            const std::vector<float> vectors = add(layer + "places.weight", {kRows, kHidden});
            const std::vector<float> fixed = add(layer + "fixed", {kHeads, kWidth});
            // A product that is the same for all tokens is a number of the distance.
            std::vector<float>& numbers = add(layer + "numbers.weight", {kRows, kHeads});
            for (size_t i = 0; i < numbers.size(); ++i) {
                const size_t row = i / kHeads, head = i % kHeads;
                double sum = 0;
                for (size_t d = 0; d < kWidth; ++d)
                    sum += fixed[head * kWidth + d] * vectors[row * kHidden + head * kWidth + d];
                numbers[i] = static_cast<float>(kScale * sum);
            }
        }
    }

    /// `fixed` stands for the queries or the keys.
    static std::string layer(const std::string& projections, const std::string& options) {
        return R"(
  weight k_weight [8, 8] hf "k", v_weight [8, 8] hf "v", places_weight [4, 8] hf "places", numbers_weight [4, 2] hf "numbers"
  tensor fixed [2, 4] hf "fixed"
  unused "places.weight", "numbers.weight"
  made = linear(x, k_weight); v = linear(x, v_weight); v_heads = shape(v, 2, 4)
  made_heads = shape(made, 2, 4); same_heads[g: 2, d: 4] = fixed[g, d] + 0.0 * x[0]
  places = spread(places_weight, max(min(-distance, 3), 0)); place_heads = shape(places, 2, 4)
)" + projections +
               "  k_cache = cache(k_heads); v_cache = cache(v_heads)\n"
               "  attention = attend(q_heads, k_cache, v_cache, scale: 0.3" +
               options + ")\n" + R"(
  attended = shape(attention, heads * head_width)
  weight output_weight [hidden, heads * head_width] hf "o"
  give = x + linear(attended, output_weight)
)";
    }

    void expect_numbers(const std::string& projections, const std::string& option) {
        const auto vectors = logits(text_with(layer(projections, ", " + option + ": place_heads")));
        const auto numbers = logits(text_with(layer(projections, ", distances: buckets(numbers_weight, 4)")));
        EXPECT_LT(testing::distance_of_range(vectors, numbers), 3e-6);
        EXPECT_GT(testing::distance_of_range(vectors, logits(text_with(layer(projections, "")))), 1e-3);
    }
};

TEST_F(DistancesText, QueriesMeetVectorsOfTheDistance) {
    expect_numbers("  q_heads = same_heads; k_heads = made_heads\n", "query_distances");
}

TEST_F(DistancesText, KeysMeetVectorsOfTheDistance) {
    expect_numbers("  q_heads = made_heads; k_heads = same_heads\n", "key_distances");
}

TEST_F(DistancesText, OtherVectorsAreRefused) {
    const auto with = [&](const std::string& option) {
        return [this, option] {
            (void)logits(text_with(
                layer("  q_heads = same_heads; k_heads = made_heads\n", ", query_distances: " + option)));
        };
    };
    EXPECT_THAT(with("places"), ::testing::ThrowsMessage<Error>(HasSubstr("expected 2 vectors of 4")));
    EXPECT_THAT(with("made_heads"), ::testing::ThrowsMessage<Error>(HasSubstr("expected 2 vectors of 4")));
}

TEST(SpreadRows, HaveTheRowsOfAnExpression) {
    const SpreadRows rows{.table = "w",
                          .row = call_term("max", {name_term("distance"), number_term(0, true)})};
    EXPECT_EQ(rows.spread({5, 6, 7}, 3, 3, "own.arch:1"), (std::vector<float>{5, 5, 5, 6, 7}));
    EXPECT_EQ(rows.source("t.weight"), "spread(t.weight, max(distance, 0))");
    EXPECT_THAT(
        [&] {
            (void)rows.spread({5, 6}, 2, 3, "own.arch:1");
        },
        ::testing::ThrowsMessage<Error>(HasSubstr("distance 2 asks for row 2")));
}

}  // namespace
}  // namespace tessera::import
