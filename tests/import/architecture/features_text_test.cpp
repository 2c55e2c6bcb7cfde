#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/architecture/own_text.h"
#include "support/error.h"

// A source that is given as rows of numbers, by one of tokens whose embeddings are these numbers.

namespace tessera::import {
namespace {

using ::testing::HasSubstr;

class FeaturesText : public OwnText {
protected:
    static constexpr int64_t kCount = 4;

    FeaturesText() {
        add_outer();
        for (const std::string layer : {"model.layers.0.", "model.layers.1."})
            for (const char* name : {"q", "k", "v", "o"}) add(layer + name + ".weight", {kHidden, kHidden});
        add("places.weight", {kCount, kHidden});
    }

    static std::string text(const std::string& statement, const std::string& source) {
        const std::string whole = text_with(R"(
  weight q_weight [8, 8] hf "q", k_weight [8, 8] hf "k", v_weight [8, 8] hf "v", output_weight [8, 8] hf "o"
  q = linear(x, q_weight); k = linear(x, k_weight); v = linear(x, v_weight)
  q_heads = shape(q, 2, 4); k_heads = shape(k, 2, 4); v_heads = shape(v, 2, 4)
  k_cache = cache(k_heads); v_cache = cache(v_heads)
  attention = attend(q_heads, k_cache, v_cache, part: "source") when layer == 0
  attention = attend(q_heads, k_cache, v_cache, part: "target") when layer == 1
  attended = shape(attention, 8); give = x + linear(attended, output_weight)
)",
                                            statement);
        return whole + "model changed\n  weight places_weight [4, 8] hf \"places\"\n" + source;
    }

    ImportedModel imported(const std::string& text) const {
        write(text);
        return import_model(folder_.path(), {.policy = Policy::kExact, .architectures = known()});
    }
};

TEST_F(FeaturesText, RowsOfATokenAreThoseBehindItsPlace) {
    tensors_.erase("places.weight");
    // A token has its own row and the two of its neighbours, of which the text adds halves.
    const ImportedModel model = imported(text("features width 8 taps 3 every 1 from -1 count 4\n", R"(
  rows = shape(features, 3, 8); heard[d] = rows[1, d] + (rows[0, d] + rows[2, d]) * 0.5
  looked_up = lookup(embedding_weight, token)
  is_heard[] = max(abs(heard[d])); embedded[d] = select(is_heard > 0, heard[d], looked_up[d])
)"));
    ASSERT_TRUE(model.facts.features.has_value());
    const std::vector<float>& table = tensors_.at("model.embed_tokens.weight").values;
    std::vector<double> rows;
    const int64_t tokens[] = {3, 1, 4, 1};
    for (const int64_t token : tokens)
        for (int64_t d = 0; d < kHidden; ++d) rows.push_back(table[static_cast<size_t>(token * kHidden + d)]);
    testing::InterpretedSession heard(model, 32);
    heard.read_features(rows);
    const auto found = heard.step({5, 9, 2});

    // The same sums as embeddings of tokens 7 to 10.
    std::vector<float>& other = tensors_.at("model.embed_tokens.weight").values;
    for (size_t i = 0; i < kCount; ++i)
        for (size_t d = 0; d < kHidden; ++d) {
            const auto row = [&](size_t at) { return at < kCount ? rows[at * kHidden + d] : 0.0; };
            const double sum = row(i) + (row(i - 1) + row(i + 1)) * 0.5;
            other[(7 + i) * kHidden + d] = static_cast<float>(sum);
        }
    const ImportedModel read = imported(text("", ""));
    testing::InterpretedSession session(read, 32);
    session.read_source({7, 8, 9, 10});
    EXPECT_LT(testing::distance_of_range({found.begin(), found.begin() + 11}, session.step({5})), 3e-6);
}

TEST_F(FeaturesText, TablesOfPositionsMayBeAsShortAsASource) {
    const std::string source =
        "  looked_up = lookup(embedding_weight, token); embedded = looked_up + lookup(places_weight, "
        "position)\n";
    EXPECT_NO_THROW((void)imported(text("features width 8 taps 1 every 1 from 0 count 4\n", source)));
    EXPECT_THAT([&] { (void)imported(text("", source)); },
                ::testing::ThrowsMessage<Error>(HasSubstr("has rows for 4 positions")));
}

TEST_F(FeaturesText, TheyStandForASource) {
    EXPECT_THAT(
        [&] {
            (void)imported(text_with("  give = x\n", "features width 8 taps 1 every 1 from 0 count 4\n"));
        },
        ::testing::ThrowsMessage<Error>(HasSubstr("to which no layer attends")));
    EXPECT_THAT([&] { (void)imported(text("features width 8 taps 0 every 1 from 0 count 4\n", "")); },
                ::testing::ThrowsMessage<Error>(HasSubstr("is 0, expected 1 to 64")));
}

}  // namespace
}  // namespace tessera::import
