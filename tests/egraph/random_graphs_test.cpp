// Random graphs through the whole way: into an e-graph, saturated, the cheapest program out of it,
// interpreted.
#include <map>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egraph/extraction.h"
#include "egraph/saturate.h"
#include "egraph/transposes.h"
#include "extraction/extract.h"
#include "ir/graph_interpreter.h"

namespace tessera::egraph {
namespace {

using testing::elementwise;
using testing::is_transpose;
using testing::transpose;
using testing::transpose_rules;
using Shape = std::vector<int64_t>;

/// Operators of table 1 over tensors with the axes 2, 3, 4 in any order; values are shared.
class RandomGraph {
public:
    explicit RandomGraph(unsigned seed) : random_(seed) {
        graph_.name = "random";
        Block block{.name = "body"};
        for (const char* name : {"x", "z"}) add(name, ValueKind::kInput, {2, 3, 4});
        for (int i = 0; i < 8; ++i) {
            const std::string name = fmt::format("v{}", i);
            const ValueId a = any();
            const Shape shape = shapes_.at(a);
            switch (random_() % 4) {
                case 0: {
                    const ValueId b = of_shape(shape);
                    block.nodes.push_back({name,
                                           elementwise(shape, random_() % 2 == 0 ? "+" : "*", 2),
                                           {a, b},
                                           {add(name, ValueKind::kIntermediate, shape)},
                                           {}});
                    break;
                }
                case 1:
                    block.nodes.push_back({name,
                                           elementwise(shape, "abs", 1),
                                           {a},
                                           {add(name, ValueKind::kIntermediate, shape)},
                                           {}});
                    break;
                default: {
                    Shape perm = {0, 1, 2}, result;
                    std::shuffle(perm.begin(), perm.end(), random_);
                    for (const int64_t axis : perm) result.push_back(shape[static_cast<size_t>(axis)]);
                    block.nodes.push_back({name,
                                           transpose(shape, perm),
                                           {a},
                                           {add(name, ValueKind::kIntermediate, result)},
                                           {}});
                }
            }
        }
        graph_.outputs = {block.nodes.back().results.front(), block.nodes[4].results.front()};
        graph_.blocks = {std::move(block)};
    }
    Graph take() { return std::move(graph_); }

private:
    ValueId add(const std::string& name, ValueKind kind, const Shape& shape) {
        graph_.values.push_back(
            {.name = name,
             .kind = kind,
             .type = {.element = ElementType::kF32, .shape = {shape.begin(), shape.end()}}});
        const ValueId id{static_cast<int>(graph_.values.size()) - 1};
        shapes_[id] = shape;
        return id;
    }
    ValueId any() { return {static_cast<int>(random_() % graph_.values.size())}; }
    ValueId of_shape(const Shape& shape) {
        ValueId found = any();
        while (shapes_.at(found) != shape) found = any();
        return found;
    }

    std::mt19937 random_;
    Graph graph_;
    std::map<ValueId, Shape> shapes_;
};

GraphResult run(const Graph& graph) {
    std::mt19937 random(1);
    GraphCall call;
    for (const char* name : {"x", "z"}) {
        TensorData data{{2, 3, 4}, std::vector<double>(24)};
        for (double& v : data.values)
            v = static_cast<double>(random() % 7) - 3;  // products stay exact in F32
        call.inputs[name] = std::move(data);
    }
    return interpret_graph(graph, call);
}

double price(const Operator& op) {
    return is_transpose(op) ? 10 : std::holds_alternative<Leaf>(op.what) ? 0 : 1;
}

TEST(RandomGraphs, TheCheapestProgramMeansTheSame) {
    int cheaper = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const Graph graph = RandomGraph(seed).take();
        verify(graph, "graph");
        EGraph egraph;
        const BlockTerms terms = add_block(egraph, graph, graph.blocks[0]);
        ASSERT_EQ(saturate(egraph, transpose_rules(), {.nodes = 20'000}).stop, StopReason::kSaturated);
        std::vector<TermId> roots;
        for (const ValueId output : graph.outputs) roots.push_back(terms.values.at(output));
        const ExtractionProblem problem =
            extraction_problem(egraph, roots, [&](TermId node) { return price(egraph.op(node)); });
        const extraction::Result result = extraction::extract(problem.problem);
        ASSERT_EQ(result.status, extraction::Status::kOptimal);
        const Graph best = with_block(graph, 0, egraph, terms, selection_of(problem, result.choice));
        verify(best, "best");
        double before = 0, after = 0;
        for (const auto& [of, sum] : {std::pair(&graph, &before), std::pair(&best, &after)})
            for (const Node& node : of->blocks[0].nodes)
                *sum += price({.what = std::get<DefinitionPtr>(node.op), .results = {}});
        EXPECT_EQ(after, result.cost);
        EXPECT_LE(after, before);
        cheaper += after < before ? 1 : 0;
        const GraphResult expected = run(graph), found = run(best);
        for (size_t i = 0; i < graph.outputs.size(); ++i)
            EXPECT_EQ(found.outputs[i].values, expected.outputs[i].values);
    }
    EXPECT_GT(cheaper, 40);
}

}  // namespace
}  // namespace tessera::egraph
