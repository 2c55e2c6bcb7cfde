#include "instances.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "import/policy.h"
#include "ir/ops/attention.h"
#include "ir/ops/block_builder.h"
#include "ir/ops/cache_update.h"
#include "ir/ops/matmul.h"
#include "row_operators.h"

namespace tessera {
namespace {

constexpr int64_t kPage = ops::kPageSlots;

/// Repetitions whose bytes a cache does not hold; fewer where one takes long.
int64_t repetitions(const machine::Machine& machine, double bytes, double operations) {
    constexpr double kOperations = 4e9;  // about 40 ms on a core of 100 GFLOP/s
    const double beyond = 4.0 * static_cast<double>(machine.memory[machine.memory.size() - 2].capacity_bytes);
    return std::max<int64_t>(
        1, static_cast<int64_t>(std::min({beyond / bytes + 1, kOperations / operations, 4096.0})));
}

void add_products(std::vector<Instance>& out, const machine::Machine& machine) {
    using enum ops::WeightFormat;
    constexpr ProductShape kSmall{"SmolLM2-135M", 1536, 576}, kMiddle{"Qwen3-0.6B", 3072, 1024},
        kDeep{"Qwen3-0.6B", 1024, 3072}, kLarge{"Qwen3-1.7B", 6144, 2048};
    for (const ops::WeightFormat weight : {kF32, kF16, kBF16, kQ8_0, kQ4_0, kQ4_K, kQ6_K}) {
        const bool fits_small = kSmall.inputs % ops::info(weight).block == 0;
        for (const int64_t rows : {1, 4, 16, 64, 512}) {
            out.push_back(product(machine, weight, rows, kMiddle));
            if (rows == 1 || rows == 64) out.push_back(product(machine, weight, rows, kLarge));
            if (fits_small && (rows == 1 || rows == 16))
                out.push_back(product(machine, weight, rows, kSmall));
            if (rows == 1 || rows == 512) out.push_back(product(machine, weight, rows, kDeep));
        }
    }
}

void add_attention(std::vector<Instance>& out, const machine::Machine& machine, int64_t rows, int64_t depth,
                   ElementType cache) {
    constexpr int64_t kHeads = 16, kCacheHeads = 8, kWidth = 128;
    const int64_t cached = depth + rows, pages = (cached + kPage - 1) / kPage;
    Instance& instance = out.emplace_back();
    instance.name = fmt::format("attention {} T={} depth={}", name(cache), rows, depth);
    const double bytes = static_cast<double>(2 * pages * kPage * kCacheHeads * kWidth * bits(cache)) / 8;
    const double operations = static_cast<double>(4 * rows * cached * kHeads) * kWidth;
    InstanceBuilder graph(instance, repetitions(machine, bytes, operations));
    const ops::AttentionShape shape{.rows = Dim(rows),
                                    .sequences = Dim(1),
                                    .segment = Dim(rows),
                                    .cached = Dim(cached),
                                    .pages = Dim(pages),
                                    .table_width = pages,
                                    .heads = kHeads,
                                    .cache_heads = kCacheHeads,
                                    .width = kWidth};
    std::vector<double> table;
    for (int64_t page = 0; page < pages; ++page) table.push_back(static_cast<double>(page));
    const ValueId q = graph.input("q", {rows, kHeads, kWidth});
    const ValueId first = graph.indices("first", {1}, {0}),
                  length = graph.indices("length", {1}, {static_cast<double>(rows)}),
                  start = graph.indices("start", {1}, {static_cast<double>(depth)}),
                  page = graph.indices("page", {1, pages}, table);
    const ValueId k = graph.state("k", {pages, kPage, kCacheHeads, kWidth}, cache),
                  v = graph.state("v", {pages, kPage, kCacheHeads, kWidth}, cache);
    std::vector<double> slots;
    for (int64_t row = 0; row < rows; ++row) slots.push_back(static_cast<double>(depth + row));
    const ValueId slot = graph.indices("slot", {rows}, slots),
                  added = graph.input("added", {rows, kCacheHeads, kWidth});
    ops::BlockBuilder nodes(graph.graph(), graph.block());
    const DefinitionPtr update = ops::cache_update({}, Dim(rows), Dim(pages), kCacheHeads, kWidth, cache);
    const ValueId k_new = nodes.update("k_update", update, {slot, added}, k),
                  v_new = nodes.update("v_update", update, {slot, added}, v);
    const ops::AttentionForm form{.scale = 1 / std::sqrt(static_cast<double>(kWidth)),
                                  .rounded = ops::type_of_attended(*ops::weight_format_of(cache))};
    const ValueId gathered =
        nodes.add("gather", ops::gather_sequences({}, shape, form.rounded), {first, length, q});
    const ValueId scores = nodes.add("scores", ops::scores_batch({}, shape, cache, form),
                                     {length, start, page, gathered, k_new});
    const std::vector<ValueId> sums = nodes.add_all("attend", ops::attend_batch({}, shape, cache, form),
                                                    {length, start, page, scores, v_new});
    nodes.add("y", ops::scatter_sequences({}, shape), {first, length, sums[2], sums[1]});
}

}  // namespace

Instance product(const machine::Machine& machine, ops::WeightFormat weight, int64_t rows,
                 const ProductShape& shape) {
    const ops::Activation input = import::activation_of(import::Policy::kDefault, {&weight, 1}, shape.inputs);
    const ops::WeightFormatInfo& format = ops::info(weight);
    Instance instance;
    instance.name = fmt::format("{} {}x{} T={}", format.name, shape.outputs, shape.inputs, rows);
    double bits_of_weight = 0;
    for (const ops::WeightOperand& part : format.operands)
        bits_of_weight += static_cast<double>(bits(part.type)) / static_cast<double>(part.block);
    const auto elements = static_cast<double>(shape.outputs * shape.inputs);
    InstanceBuilder graph(instance, repetitions(machine, elements * bits_of_weight / 8,
                                                2 * elements * static_cast<double>(rows)));
    std::vector<ValueId> operands;
    operands.push_back(graph.input("x", {rows, shape.inputs}, input.element));
    if (input.radix > 1) operands.push_back(graph.input("x_low", {rows, shape.inputs}, input.element));
    if (input.block > 1) operands.push_back(graph.input("x_scale", {rows, shape.inputs / input.block}));
    for (const ops::WeightOperand& part : format.operands)
        operands.push_back(graph.constant(fmt::format("w_{}", part.name),
                                          {shape.outputs, shape.inputs / part.block}, part.type));
    graph.node("y", ops::matmul({}, {Dim(rows), shape.outputs, shape.inputs}, weight, std::nullopt, input),
               operands);
    return instance;
}

std::vector<Instance> instances(const machine::Machine& machine) {
    std::vector<Instance> all;
    add_products(all, machine);
    for (const ElementType cache : {ElementType::kF16, ElementType::kBF16}) {
        for (const int64_t depth : {127, 1023, 4095}) add_attention(all, machine, 1, depth, cache);
        add_attention(all, machine, 16, 1024, cache);
        add_attention(all, machine, 512, 0, cache);
    }
    struct Rows {
        int64_t rows, width, hidden;
    };
    for (const auto& [rows, width, hidden] :
         {Rows{1, 1024, 3072}, Rows{16, 2048, 6144}, Rows{512, 1024, 3072}}) {
        all.push_back(norm_sum(rows, width));
        all.push_back(norm_product(rows, width));
        all.push_back(add(rows, width));
        all.push_back(swiglu(rows, hidden));
        all.push_back(rope(rows, 16));
        all.push_back(round(rows, width));
    }
    return all;
}

}  // namespace tessera
