#include "run/grammar/merge_rules.h"

#include <memory>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "run/grammar/accepts.h"
#include "run/grammar/json_schema.h"
#include "run/grammar/parse_gbnf.h"

namespace tessera::grammar {
namespace {

TEST(MergeRules, TextsOfBothComeWhereTheyAreCalled) {
    RuleSet all = parse_gbnf("root ::= \"<\" [a-z]+ \">\"", "first");
    const RuleId tag = all.root;
    const RuleId list = merge_rules(
        all, parse_gbnf("root ::= (item \",\")* item\nitem ::= [0-9]+ | \"(\" root \")\"", "second"));
    const RuleId value = merge_rules(all, parse_schema(R"({"enum": ["x", 1]})", "third"));
    Sequence sequence;
    for (const RuleId rule : {tag, list, value}) {
        sequence.parts.push_back(static_cast<NodeId>(all.nodes.size()));
        all.nodes.emplace_back(std::in_place_type<Reference>, Reference{rule});
    }
    const auto body = static_cast<NodeId>(all.nodes.size());
    all.nodes.emplace_back(std::in_place_type<Sequence>, std::move(sequence));
    all.rules.push_back({"whole", body, "test"});
    all.root = static_cast<RuleId>(all.rules.size() - 1);
    const auto automaton = std::make_shared<const Automaton>(compile(all));
    EXPECT_TRUE(accepts(automaton, "<ab>1,(2,3)\"x\""));
    EXPECT_TRUE(accepts(automaton, "<a>71"));
    EXPECT_FALSE(accepts(automaton, "<a>1,\"x\""));
    EXPECT_FALSE(accepts(automaton, "<a>1"));
}

}  // namespace
}  // namespace tessera::grammar
