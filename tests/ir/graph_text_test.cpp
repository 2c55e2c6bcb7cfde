#include "ir/graph_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "ir/graph_fixture.h"
#include "support/error.h"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(GraphText, PrintsWhatItHasParsed) {
    EXPECT_EQ(print(parse_graph(testing::kSmallGraph, "small")), testing::kSmallGraph);
}

TEST(GraphText, ParsesEveryField) {
    const Graph graph = parse_graph(testing::kSmallGraph, "small");
    EXPECT_EQ(graph.name, "small \"one\"");
    EXPECT_EQ(graph.symbols[1], (DimSymbol{"P", 2, 6, 2}));
    EXPECT_EQ(graph.points[0].weight, 2.5);
    EXPECT_EQ(graph.points[1].values.at("T"), 8);
    const Value& scale = graph[*graph.find("scale")];
    EXPECT_EQ(scale.kind, ValueKind::kConstant);
    EXPECT_THAT(scale.sources, ElementsAre("layers.0.scale", "layers.2.scale", "layers.4.scale"));
    const Value& table = graph[*graph.find("table")];
    EXPECT_THAT(table.sources, ElementsAre("table", "more", "other", "rest"));
    EXPECT_EQ(table.concatenation, (Concatenation{.axis = 0, .extents = {2, 3}}));
    EXPECT_EQ(table.repetitions(), 2);
    EXPECT_EQ(table.source(1, 0), "other");
    EXPECT_THAT(table.part_shape(1), ElementsAre(3, 3));
    const TensorType& normed = graph[*graph.find("normed")].type;
    EXPECT_EQ(normed.shape, (std::vector<Dim>{Dim("T"), Dim(3)}));
    EXPECT_EQ(normed.layout, (Layout{.order = {1, 0}, .lanes = {{1, 4}}}));
    EXPECT_EQ(normed.accumulator, ElementType::kI32);
    const Block& layer = graph.blocks[0];
    EXPECT_EQ(layer.repeat, 3);
    EXPECT_EQ(layer.carried_out, graph.find("scaled"));
    EXPECT_EQ(layer.states, (std::vector<StateUpdate>{{*graph.find("sums"), *graph.find("sums_new")}}));
    EXPECT_EQ(layer.nodes[1].previous, graph.find("sums"));
    EXPECT_EQ(layer.nodes[1].definition()->monoid, Monoid::kSum);
    const auto& composite = std::get<Composite>(graph.blocks[1].nodes[1].op);
    EXPECT_EQ(std::get<int64_t>(composite.attributes.at("count")), 3);
    EXPECT_EQ(std::get<double>(composite.attributes.at("width")), 2.0);
    EXPECT_EQ(std::get<std::string>(composite.attributes.at("name")), "a \"b\"");
    EXPECT_EQ(graph.outputs.size(), 2u);
}

TEST(GraphText, SeveralLinesNameOutputs) {
    const std::string text = testing::kSmallGraph;
    const size_t comma = text.rfind(", ");
    const std::string lines = text.substr(0, comma) + "\noutput " + text.substr(comma + 2);
    EXPECT_EQ(print(parse_graph(lines, "small")), testing::kSmallGraph);
    try {
        (void)parse_graph(text + "output " + text.substr(comma + 2), "small.ir");
        FAIL() << "an output twice";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("is an output twice"));
        EXPECT_THAT(error.where, ::testing::StartsWith("small.ir:"));
    }
}

TEST(GraphText, AnyNameOfAGraphSurvives) {
    Graph graph = parse_graph(testing::kSmallGraph, "small");
    std::vector<std::string> names = {"",      "\\n",          "a\\", "\\\\n\n",
                                      "\\x41", "# no comment", "\"",  "\xc3\xbc\xff"};
    names.emplace_back();
    for (int byte = 0; byte < 256; ++byte) names.back() += static_cast<char>(byte);
    for (const std::string& name : names) {
        graph.name = name;
        EXPECT_EQ(parse_graph(print(graph), "again").name, name) << print(graph);
    }
    const auto error = [](const std::string& name) {
        try {
            parse_graph("graph \"" + name, "text");
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_THAT(error("\\x4\""), HasSubstr("two hexadecimal digits after \\x"));
    EXPECT_THAT(error("\\x4"), HasSubstr("two hexadecimal digits after \\x"));
    EXPECT_THAT(error("a\\"), HasSubstr("a closing quote"));
}

TEST(GraphText, CommentsAndIndentationDoNotMatter) {
    std::string text =
        "# a comment\n\n" + replaced(testing::kSmallGraph, "block tail", "   # here\n\t block tail");
    EXPECT_EQ(print(parse_graph(text, "small")), testing::kSmallGraph);
}

struct Wrong {
    const char* from;
    const char* to;
    const char* message;
};

class GraphTextErrors : public ::testing::TestWithParam<Wrong> {};

TEST_P(GraphTextErrors, NameTheLine) {
    try {
        (void)parse_graph(replaced(testing::kSmallGraph, GetParam().from, GetParam().to), "small.ir");
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
        EXPECT_THAT(error.what(), HasSubstr("small.ir"));
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, GraphTextErrors,
    ::testing::Values(
        Wrong{"graph \"", "graf \"", "small.ir:1: found `graf"}, Wrong{"one\\\"\"", "one", "a closing quote"},
        Wrong{"in 1..8", "in 1..99999999999999999999", "the upper bound"},
        Wrong{"weight 2.5", "weight inf", "a weight"},
        Wrong{"P = 2, T = 1", "P = 2, P = 1", "small.ir:4: `one`: gives P two values"},
        Wrong{"input id", "input x", "small.ir:8: `x`: names two values"},
        Wrong{"i32[T]", "i31[T]", "found `i31[T]`, expected an element type"},
        Wrong{"step 2", "step 0", "is no series of names"},
        Wrong{"layers.*.scale\" for 0..4", "layers.scale\" for 0..4", "is no series of names"},
        Wrong{"for 0..4 step 2", "for 0..99999999999", "is no series of names"},
        Wrong{"then \"more\", \"rest\"", "then \"more\"", "1 sources of its part 2, and 2 of the"},
        Wrong{"along 0 of 2, 3", "along 0 of 2", "small.ir:10: ends, expected `,`"},
        Wrong{"along 0 of 2, 3", "along 0 of 2, 3, 4", "found `, 4`"},
        Wrong{" then \"more\", \"rest\" along", " along", "found `along"},
        Wrong{"scaled(x, scale)", "scaled(x, sail)", "`sail`: is no value of the graph"},
        Wrong{"    op scaled(t: T, d: 3)\n", "    an operator\n", "expected an operator"},
        Wrong{"out Y f32[t, d] = X * W", "out Y f32[t, d] = X * Z", "Z"},
        Wrong{"out Y f32[t, d] = X * W", "out Y f32[t, d] = X * W * 1e39",
              "small.ir:24: `1e39`: is a number that f32 does not hold: it would be infinite"},
        Wrong{"out Y f32[t, d] = X * W", "out Y f32[t, d] = X * W / 1.5e-50",
              "small.ir:24: `1.5e-50`: is a number that f32 does not hold: it would be 0"},
        Wrong{"epsilon = 1e-06", "epsilon = 1e-60", "`1e-60`: is a number that f32 does not hold"},
        Wrong{"repeat 3", "repeat three", "how often"},
        Wrong{"count = 3", "count = three", "a number or text"}, Wrong{"count = 3", "epsilon = 3", "twice"},
        Wrong{"lanes <1:4>", "lanes <64:4>", "axis 64 is more than 63"},
        Wrong{"output normed, picked", "output normed, picked, ", "expected a value"}));

TEST(GraphText, EmptyTextsAndNodesOutsideBlocksAreErrors) {
    EXPECT_THROW((void)parse_graph("", "empty"), Error);
    EXPECT_THROW((void)parse_graph("graph \"g\"\nvalue a: f32[1]\nupdate a -> a\n", "g"), Error);
    EXPECT_THROW((void)parse_graph("graph \"g\"\nvalue a: f32[1]\nblock b\nnode n() -> a", "g"), Error);
}

// A text with one character changed is a graph, or refused by parser or verifier; it never crashes.
TEST(GraphText, DamageIsRefusedOrHarmless) {
    int refused = 0;
    for (size_t at = 0; at < testing::kSmallGraph.size(); ++at)
        for (const char changed : {'0', '9', 'T', '"', '\n', '-', ']'}) {
            std::string damaged = testing::kSmallGraph;
            damaged[at] = changed;
            try {
                verify(parse_graph(damaged, "damaged"), "damaged");
            } catch (const Error&) {
                ++refused;
            }
        }
    EXPECT_GT(refused, 1000);
}

TEST(NameSeries, AreFoundAndExpanded) {
    const auto series = series_of({"a9.b", "a10.b", "a11.b"});
    ASSERT_TRUE(series);
    EXPECT_EQ(series->pattern, "a*.b");
    EXPECT_EQ(series->first, 9);
    EXPECT_EQ(series->last, 11);
    EXPECT_FALSE(series_of({"a"}));
    EXPECT_FALSE(series_of({"a1", "a2", "a4"})) << "no arithmetic series";
    EXPECT_FALSE(series_of({"a1", "a1"}));
    EXPECT_FALSE(series_of({"a01", "a02"})) << "leading zeros would be lost";
    EXPECT_FALSE(series_of({"*1", "*2"})) << "a star in the name itself";
    EXPECT_FALSE(series_of({"x", "y"}));
}

}  // namespace
}  // namespace tessera
