#include "operators.h"

#include "instances.h"
#include "row_operators.h"

namespace tessera {
namespace {

/// Once, with the last result as the output: the search drops what nobody needs.
Instance alone(Instance instance) {
    Graph& graph = instance.graph;
    Block& block = graph.blocks.front();
    block.repeat = 1;
    for (Value& value : graph.values)
        if (value.kind == ValueKind::kConstant) value.sources.resize(value.parts());
    graph.outputs = {block.nodes.back().results.front()};
    return instance;
}

constexpr ProductShape kQuery{"Qwen3-0.6B", 2048, 1024}, kKey{"Qwen3-0.6B", 1024, 1024},
    kOutput{"Qwen3-0.6B", 1024, 2048}, kGate{"Qwen3-0.6B", 3072, 1024}, kDown{"Qwen3-0.6B", 1024, 3072};

}  // namespace

std::vector<Subject> operators_of_a_block(const machine::Machine& machine) {
    using enum ops::WeightFormat;
    constexpr int64_t kWidth = 1024, kHidden = 3072, kHeads = 16, kVocabulary = 151'936;
    constexpr ops::WeightFormat kQuantised[] = {kQ8_0, kQ4_0, kQ4_K, kQ6_K};
    std::vector<Subject> all;
    for (const int64_t rows : {1, 8, 512}) {
        const auto add_one = [&](Instance instance) { all.push_back({alone(std::move(instance)), 1}); };
        const auto add_product = [&](ops::WeightFormat weight, const ProductShape& shape, int64_t workers) {
            Instance instance = alone(product(machine, weight, rows, shape));
            if (workers > 1) instance.name += " W=" + std::to_string(workers);
            all.push_back({std::move(instance), workers});
        };
        add_one(norm(rows, kWidth));
        add_one(norm_and_rope(rows, kHeads));
        add_one(rope(rows, kHeads));
        add_one(swiglu(rows, kHidden));
        add_one(add(rows, kWidth));
        add_one(cast(rows, kWidth));
        add_one(round(rows, kWidth));
        add_one(embedding(rows, kVocabulary, kWidth));
        for (const ProductShape& shape : {kQuery, kKey, kOutput, kGate, kDown}) add_product(kBF16, shape, 1);
        for (const ProductShape& shape : {kGate, kDown}) {
            add_product(kF32, shape, 1);
            for (const ops::WeightFormat weight : kQuantised) add_product(weight, shape, 1);
        }
        if (machine.cores < 2) continue;
        for (const ProductShape& shape : {kQuery, kGate, kDown}) add_product(kBF16, shape, 2);
        for (const ops::WeightFormat weight : kQuantised) add_product(weight, kGate, 2);
    }
    return all;
}

}  // namespace tessera
