// The steps that a graph's points stand for.

#include "compiler/predicted_steps.h"

#include <gtest/gtest.h>

#include "run/runtime/toy_model.h"

namespace tessera::compiler {
namespace {

using Contents = std::map<std::string, std::vector<double>>;

cost::SizePoint at(int64_t tokens, int64_t rows, int64_t sequences, int64_t longest, int64_t cached) {
    return size_point(
        runtime::ToyModel().manifest(),
        {.name = "point",
         .values = {{"T", tokens}, {"R", rows}, {"B", sequences}, {"I", longest}, {"S", cached}, {"P", 8}}});
}

TEST(SizePoint, ADecodedTokenStandsBehindThoseOfTheCache) {
    const cost::SizePoint point = at(1, 1, 1, 1, 48);
    EXPECT_EQ(point.symbols.at("S"), 48);
    EXPECT_EQ(point.contents.at("first"), std::vector<double>{0});
    EXPECT_EQ(point.contents.at("length"), std::vector<double>{1});
    EXPECT_EQ(point.contents.at("start"), std::vector<double>{47});
    EXPECT_EQ(point.contents.at("position"), std::vector<double>{47});
    EXPECT_EQ(point.contents.at("slot"), std::vector<double>{47});
    EXPECT_EQ(point.contents.at("page"), (std::vector<double>{0, 1, 2, 0, 0, 0, 0, 0}));
}

TEST(SizePoint, APromptBeginsWithItsFirstToken) {
    const cost::SizePoint point = at(7, 2, 1, 7, 16);
    EXPECT_EQ(point.contents.at("start"), std::vector<double>{0});
    EXPECT_EQ(point.contents.at("position"), (std::vector<double>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(point.contents.at("rows"), (std::vector<double>{5, 6}));
}

TEST(SizePoint, SequencesHaveTheirOwnPages) {
    const cost::SizePoint point = at(6, 3, 3, 2, 32);
    EXPECT_EQ(point.contents.at("first"), (std::vector<double>{0, 2, 4}));
    EXPECT_EQ(point.contents.at("start"), (std::vector<double>{30, 30, 30}));
    EXPECT_EQ(point.contents.at("rows").size(), 3U);
    EXPECT_EQ(point.contents.at("page")[8], 2);
    EXPECT_EQ(point.contents.at("page")[17], 5);
}

TEST(SizePoint, WhereThereIsNoSuchStepIndicesAreOpen) {
    EXPECT_EQ(at(5, 1, 2, 4, 32).contents, Contents()) << "five tokens of two sequences";
    EXPECT_EQ(at(3, 1, 1, 3, 256).contents, Contents()) << "more than the context";
    runtime::Manifest other = runtime::ToyModel().manifest();
    other.text.reset();
    EXPECT_EQ(size_point(other, {.name = "point", .values = {{"T", 1}}}).contents, Contents());
}

}  // namespace
}  // namespace tessera::compiler
