#include "search/extraction/read_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::extraction {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
    try {
        (void)read_problem(text, "e.json");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(ReadProblem, NumbersNodesAndClassesByName) {
    const NamedProblem read = read_problem(
        R"({"root_eclasses": ["c2"], "comment": ["x", {"nodes": 1}], "nodes": {
            "n2": {"op": "+", "children": ["n1", "n3"], "eclass": "c2", "cost": 1.5, "extra": [1]},
            "n1": {"op": "a", "eclass": "c1"},
            "n3": {"op": "b", "children": [], "eclass": "c1", "cost": 2, "subsumed": false}}})",
        "e.json");
    EXPECT_THAT(read.node_names, ElementsAre("n1", "n2", "n3"));
    EXPECT_THAT(read.class_names, ElementsAre("c1", "c2"));
    EXPECT_EQ(read.problem.classes, 2);
    EXPECT_THAT(read.problem.roots, ElementsAre(1));
    ASSERT_EQ(read.problem.nodes.size(), 3u);
    EXPECT_EQ(read.problem.nodes[0].cost, 1);
    EXPECT_EQ(read.problem.nodes[1].cost, 1.5);
    EXPECT_EQ(read.problem.nodes[1].e_class, 1);
    EXPECT_THAT(read.problem.nodes[1].children, ElementsAre(0, 0));
    EXPECT_EQ(read.problem.nodes[2].cost, 2);
}

TEST(ReadProblem, SubsumedNodesNameTheirClassAndAreNotChosen) {
    const NamedProblem read = read_problem(
        R"({"nodes": {"a": {"eclass": "c", "subsumed": true}, "b": {"eclass": "c"},
                      "f": {"eclass": "r", "children": ["a"]}}, "root_eclasses": ["r"]})",
        "e.json");
    EXPECT_THAT(read.node_names, ElementsAre("b", "f"));
    EXPECT_THAT(read.problem.nodes[1].children, ElementsAre(0));
}

TEST(ReadProblem, NamesWhatIsWrong) {
    const auto with_node = [](const std::string& fields) {
        return error_of(R"({"root_eclasses": ["c"], "nodes": {"n": {)" + fields + "}}}");
    };
    EXPECT_EQ(with_node(R"("eclass": "c")"), "accepted");
    EXPECT_THAT(error_of(""), HasSubstr("e.json@1: is not valid JSON"));
    EXPECT_THAT(error_of("{\"nodes\": {}"), HasSubstr("is not valid JSON"));
    EXPECT_THAT(error_of("[]"), HasSubstr("is a list, expected an object"));
    EXPECT_THAT(error_of("1"), HasSubstr("is a number, expected an object"));
    EXPECT_THAT(error_of("{}"), HasSubstr("`nodes`: is missing"));
    EXPECT_THAT(error_of(R"({"nodes": {}})"), HasSubstr("`root_eclasses`: is missing"));
    EXPECT_THAT(error_of(R"({"nodes": {}, "root_eclasses": []})"), HasSubstr("`root_eclasses`: is empty"));
    EXPECT_THAT(error_of(R"({"nodes": {}, "root_eclasses": ["c"]})"),
                HasSubstr("`c`: is a root and the class of no node"));
    EXPECT_THAT(error_of(R"({"nodes": {}, "root_eclasses": [1]})"),
                HasSubstr("`root_eclasses`: holds a number, expected a text"));
    EXPECT_THAT(error_of(R"({"nodes": {}, "root_eclasses": "c"})"), HasSubstr("is a text, expected a list"));
    EXPECT_THAT(error_of(R"({"nodes": [], "root_eclasses": ["c"]})"),
                HasSubstr("is a list, expected an object"));
    EXPECT_THAT(error_of(R"({"nodes": {}, "nodes": {}, "root_eclasses": ["c"]})"),
                HasSubstr("`nodes`: is there twice"));
    EXPECT_THAT(error_of(R"({"nodes": {"n": 1}, "root_eclasses": ["c"]})"),
                HasSubstr("`n`: is a number, expected an object"));
    EXPECT_THAT(
        error_of(R"({"nodes": {"n": {"eclass": "c"}, "n": {"eclass": "c"}}, "root_eclasses": ["c"]})"),
        HasSubstr("`n`: is there twice"));
    EXPECT_THAT(with_node(""), HasSubstr("`n`: has no `eclass`"));
    EXPECT_THAT(with_node(R"("eclass": 1)"), HasSubstr("`n`: has a number as `eclass`, expected a text"));
    EXPECT_THAT(with_node(R"("eclass": "c", "eclass": "c")"), HasSubstr("`n`: has `eclass` twice"));
    EXPECT_THAT(with_node(R"("eclass": "c", "cost": "1")"),
                HasSubstr("has a text as `cost`, expected a number"));
    EXPECT_THAT(with_node(R"("eclass": "c", "cost": null)"),
                HasSubstr("has null as `cost`, expected a number"));
    EXPECT_THAT(with_node(R"("eclass": "c", "cost": 1e999)"), HasSubstr("is not valid JSON"));
    EXPECT_THAT(with_node(R"("eclass": "c", "cost": [1])"), HasSubstr("has a list as `cost`"));
    EXPECT_THAT(with_node(R"("eclass": "c", "children": {})"),
                HasSubstr("has an object as `children`, expected a list"));
    EXPECT_THAT(with_node(R"("eclass": "c", "children": [1])"), HasSubstr("has a number among its children"));
    EXPECT_THAT(with_node(R"("eclass": "c", "children": [["n"]])"),
                HasSubstr("has a list among its children"));
    EXPECT_THAT(with_node(R"("eclass": "c", "children": ["m"])"),
                HasSubstr("`n`: has the child `m`, which is no node"));
    EXPECT_THAT(with_node(R"("eclass": "c", "subsumed": 1)"), HasSubstr("expected a boolean"));
    EXPECT_THAT(error_of(std::string(100, '[')), HasSubstr("nested more than 32 levels deep"));
}

}  // namespace
}  // namespace tessera::extraction
