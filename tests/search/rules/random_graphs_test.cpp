// Random graphs through the pass: its result computes the same and costs the least.
#include <cmath>
#include <map>
#include <random>
#include <set>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/ops/copy.h"
#include "search/egraph/extraction.h"
#include "search/extraction/seeds.h"
#include "search/rules/algebra/algebra_rules.h"
#include "search/rules/algebra/families.h"
#include "search/rules/algebra/formulas.h"
#include "search/rules/algebra/permutation.h"
#include "search/rules/examples.h"
#include "search/rules/exhaustive.h"
#include "search/rules/rewrite.h"

namespace tessera::rules {
namespace {

using egraph::Attributes;
using egraph::EGraph;
using egraph::TermId;
using rules::formula;
using Shape = std::vector<Dim>;

constexpr int kGraphs = 1000;
constexpr int kFewOperators = 12;

/// 6 operators or more over [T, 2, 3] in any order of its axes and two of its reshapes; values are read more
/// than once.
class RandomGraph {
public:
    explicit RandomGraph(unsigned seed) : random_(seed), families_(symbols()) {
        graph_.name = "random";
        graph_.symbols = symbols();
        graph_.points = {{"one", 1, {{"T", 4}}}};
        graph_.blocks.push_back({.name = "body"});
        for (const char* name : {"x", "z"}) add(name, ValueKind::kInput, {Dim("T"), 2, 3});
        const size_t count = 5 + random_() % 8;
        while (nodes().size() < count) step();
        // A value that nothing reads is an output, or becomes one behind another operator.
        const int last = static_cast<int>(graph_.values.size());
        for (int i = 0; i < last; ++i) {
            if (is_read_.contains(i) || graph_[{i}].kind != ValueKind::kIntermediate) continue;
            make(families_.unary, {{"body", formula("exp(X)", 1)}, {"result", "f32"}}, {{i}});
            graph_.outputs.push_back({static_cast<int>(graph_.values.size()) - 1});
        }
    }
    Graph take() { return std::move(graph_); }

private:
    static std::vector<DimSymbol> symbols() { return {{"T", 1, 4}}; }
    std::vector<Node>& nodes() { return graph_.blocks[0].nodes; }

    void step() {
        const ValueId a = any();
        const Shape shape = graph_[a].type.shape;
        switch (random_() % 8) {
            case 0:
            case 1:
                return make(families_.unary,
                            {{"body", formula(pick({"abs(X)", "-X", "X * X"}), 1)}, {"result", "f32"}}, {a});
            case 2:
            case 3:
                return make(families_.binary,
                            {{"body", formula(pick({"X + Z", "X * Z", "X - Z"}), 2)}, {"result", "f32"}},
                            {a, of_shape(shape)});
            case 4: {
                if (shape.size() != 2) break;
                Shape split = {Dim("T"), 2, 3};
                return make(families_.reshape, {{"from", shape}, {"to", split}}, {a});
            }
            case 5: {
                const Shape joined = {Dim("T"), 6};
                if (shape != Shape{Dim("T"), 2, 3} && shape != Shape{Dim("T"), 3, 2}) break;
                return make(families_.reshape, {{"from", shape}, {"to", joined}}, {a});
            }
            default: {
                std::vector<int64_t> perm;
                for (size_t i = 0; i < shape.size(); ++i) perm.push_back(static_cast<int64_t>(i));
                std::shuffle(perm.begin(), perm.end(), random_);
                return make(families_.transpose, {{"perm", perm}}, {a});
            }
        }
    }

    const char* pick(std::initializer_list<const char*> texts) {
        return texts.begin()[random_() % texts.size()];
    }
    void make(const egraph::FamilyPtr& family, const Attributes& attributes, std::vector<ValueId> operands) {
        std::vector<TensorType> types;
        for (const ValueId operand : operands) types.push_back(graph_[operand].type);
        const auto op = family->make(attributes, types);
        if (!op) return;
        for (const ValueId operand : operands) is_read_.insert(operand.index);
        const std::string name = fmt::format("v{}", nodes().size());
        const ValueId value = add(name, ValueKind::kIntermediate, op->results.front().shape);
        nodes().push_back({name, std::get<DefinitionPtr>(op->what), std::move(operands), {value}, {}});
    }
    ValueId add(const std::string& name, ValueKind kind, const Shape& shape) {
        graph_.values.push_back(
            {.name = name, .kind = kind, .type = rules::row_major(ElementType::kF32, shape), .sources = {}});
        return {static_cast<int>(graph_.values.size()) - 1};
    }
    ValueId any() { return {static_cast<int>(random_() % graph_.values.size())}; }
    ValueId of_shape(const Shape& shape) {
        ValueId found = any();
        while (graph_[found].type.shape != shape) found = any();
        return found;
    }

    std::mt19937 random_;
    rules::Families families_;
    Graph graph_;
    std::set<int> is_read_;
};

double price(const egraph::Operator& op, std::span<const TensorType>) {
    static const rules::Families families({});
    if (families.transpose->recognise(op)) return 5;
    if (families.reshape->recognise(op)) return 3;
    return 4;
}

/// The graph's e-graph as the pass extracts from it.
struct Choices {
    EGraph egraph;
    egraph::ExtractionProblem problem;
    double copies = 0;  ///< what outputs take that are equal to another one, in every choice
};
Choices choices_of(const Graph& graph) {
    Choices choices;
    const auto terms = add_block(choices.egraph, graph, graph.blocks[0]);
    std::vector<egraph::Rule> all;
    for (const rules::RuleEntry& entry : rules::algebra_rules(graph.symbols)) all.push_back(entry.rule);
    saturate(choices.egraph, all, RewriteOptions{}.saturation);
    std::vector<TermId> roots;
    std::set<egraph::ClassId> made;
    for (const ValueId output : graph.outputs) {
        roots.push_back(terms.values.at(output));
        const TensorType& type = graph[output].type;
        if (!made.insert(choices.egraph.find(roots.back())).second)
            choices.copies += price({.what = ops::copy(graph.symbols, type), .results = {type}}, {});
    }
    choices.problem = extraction_problem(choices.egraph, roots, [&](TermId node) {
        const egraph::Operator& op = choices.egraph.op(node);
        return std::holds_alternative<egraph::Leaf>(op.what) ? 0 : price(op, {});
    });
    return choices;
}

double greedy_cost(const extraction::Problem& problem) {
    const extraction::ScaledCosts costs = extraction::scale(problem.nodes);
    const extraction::Instance instance = make_instance(problem, costs);
    const auto choice = bottom_up(instance);
    return static_cast<double>(evaluate(instance, choice.value())->cost) * costs.unit;
}

TEST(RandomGraphs, TheCheapestEqualProgramIsFound) {
    int cheaper = 0, greedy_is_worse = 0, enumerated = 0, kept = 0, saturated = 0;
    for (unsigned seed = 0; seed < kGraphs; ++seed) {
        SCOPED_TRACE(seed);
        const Graph graph = RandomGraph(seed).take();
        verify(graph, "graph");
        const Rewritten best = rewrite(graph, {.cost = price});
        verify(best.graph, "best");
        const BlockRewrite& report = best.blocks[0];
        cheaper += report.is_changed ? 1 : 0;
        kept += report.why_kept.empty() ? 0 : 1;
        saturated += report.saturation.stop == egraph::StopReason::kSaturated ? 1 : 0;
        const GraphCall call = rules::testing::random_call(graph, seed, false);
        ASSERT_EQ(
            rules::testing::difference(interpret_graph(best.graph, call), interpret_graph(graph, call), 0),
            "");
        if (!report.why_kept.empty()) continue;
        ASSERT_EQ(report.status, extraction::Status::kOptimal);
        double after = 0;
        for (const Node& node : best.graph.blocks[0].nodes)
            after += price(
                {.what = std::get<DefinitionPtr>(node.op), .results = {best.graph[node.results[0]].type}},
                {});
        ASSERT_EQ(after, report.cost_after);
        const Choices choices = choices_of(graph);
        greedy_is_worse += greedy_cost(choices.problem.problem) + choices.copies > after ? 1 : 0;
        if (graph.blocks[0].nodes.size() > kFewOperators) continue;
        ASSERT_EQ(rules::testing::least_cost(choices.problem.problem) + choices.copies, after);
        ++enumerated;
    }
    fmt::print(
        "{} graphs: {} became cheaper, bottom-up extraction is strictly worse in {}, {} were enumerated, "
        "{} saturated, {} kept\n",
        kGraphs, cheaper, greedy_is_worse, enumerated, saturated, kept);
    EXPECT_GE(greedy_is_worse, kGraphs / 5);
    EXPECT_GE(cheaper, kGraphs / 2);
    EXPECT_GE(enumerated, kGraphs / 3);
}

}  // namespace
}  // namespace tessera::rules
