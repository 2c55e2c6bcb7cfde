#include "compiler/measure/kernel_subjects.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "cost/kernel_times.h"
#include "ir/ops/activation.h"
#include "ir/ops/attention.h"
#include "ir/ops/block_builder.h"
#include "ir/ops/define.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/matmul.h"
#include "ir/ops/rms_norm.h"
#include "ir/ops/rope.h"
#include "ir/ops/rows.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/tile_block.h"

namespace tessera::measure {
namespace {

constexpr int64_t kDepth = 1024;    ///< of a product: a multiple of every format's block
constexpr int64_t kWidth = 128;     ///< of a head
constexpr double kEpsilon = 1e-6;   ///< of a norm
constexpr int64_t kPositions = 64;  ///< of a tile of attention
constexpr int64_t kQueries = 24;    ///< of a tile of a prompt: few to fill a panel for
constexpr int64_t kSomeRows = 16;   ///< which wait for the memory about as long as they compute
constexpr int64_t kManyRows = 144;  ///< of which every register block is a divisor

struct WeightCase {
    ops::WeightFormat format;
    ops::Activation input;
    std::string_view input_name;
    bool is_typical;
};

/// Activations as the policies round them: dot products need some, integers others. Those of 16 bits as F32,
/// too, which the algebra may make of them (search/rules/algebra/products.cpp).
std::vector<WeightCase> weights() {
    using enum ops::WeightFormat;
    const ops::Activation f32, f16{ElementType::kF16}, bf16{ElementType::kBF16};
    std::vector<WeightCase> cases = {{kF32, f32, "f32", true},
                                     {kF16, f32, "f32", true},
                                     {kF16, f16, "f16", true},
                                     {kBF16, f32, "f32", true},
                                     {kBF16, bf16, "bf16", true}};
    for (const ops::WeightFormat format : {kQ8_0, kQ4_0, kQ4_K, kQ6_K, kQ4_1, kQ5_0, kQ5_1, kQ5_K}) {
        const bool is_common = format == kQ8_0 || format == kQ4_0 || format == kQ4_K || format == kQ6_K;
        const bool is_super_block = ops::info(format).block == ops::kInt13Blocks.block;
        cases.push_back({format, is_super_block ? ops::kInt13Blocks : ops::kInt15Blocks,
                         is_super_block ? "i13" : "i15", is_common});
        if (!is_common) continue;
        cases.push_back({format, f32, "f32", false});
        cases.push_back({format, ops::kInt8Blocks, "i8", false});
    }
    return cases;
}

int64_t resident_bytes(const machine::Machine& machine) {
    const machine::MemoryLevel& near = machine.memory[machine::near_level(machine)];
    return near.capacity_bytes / near.shared_by_cores / 2;
}

/// Rows of one tile and of a block of tiles, for each matrix unit that multiplies these types.
std::set<int64_t> rows_of_tiles(const WeightCase& weight, const machine::Machine& machine) {
    std::set<int64_t> rows;
    for (const machine::ComputeUnit& unit : machine.units) {
        const std::optional<kernels::TileBlock> block = kernels::tile_block(unit, kManyRows);
        if (!block || unit.operands[0].type != weight.input_name ||
            unit.operands[1].type != kernels::type_name(weight.format))
            continue;
        rows.insert({block->tile_rows, block->rows * block->tile_rows});
    }
    return rows;
}

/// A graph of one operator, or of a chain: its values first, then the operators.
class GraphBuilder {
public:
    GraphBuilder(KernelSubject& subject, const char* name) : graph_(subject.graph) {
        graph_.name = name;
        graph_.blocks.push_back({.name = "main"});
    }

    void operand(const std::string& name, ValueKind kind, ElementType type,
                 const std::vector<int64_t>& shape) {
        TensorType tensor{.element = type, .shape = {}, .layout = {}};
        for (const int64_t extent : shape) tensor.shape.emplace_back(extent);
        std::vector<std::string> sources;
        if (kind == ValueKind::kConstant) sources.push_back(name);
        graph_.values.push_back({name, kind, std::move(tensor), std::move(sources)});
        operands_.push_back({static_cast<int>(graph_.values.size()) - 1});
    }
    void input(const std::string& name, const std::vector<int64_t>& shape,
               ElementType type = ElementType::kF32) {
        operand(name, ValueKind::kInput, type, shape);
    }
    void constant(const std::string& name, const std::vector<int64_t>& shape,
                  ElementType type = ElementType::kF32) {
        operand(name, ValueKind::kConstant, type, shape);
    }
    void define(const DefinitionPtr& definition) {
        ops::BlockBuilder block(graph_, graph_.blocks[0], Rounding::kWeights);
        graph_.outputs = definition->results().size() == 1
                             ? std::vector<ValueId>{block.add("y", definition, operands_)}
                             : block.add_all("y", definition, operands_);
    }
    /// One of a chain, the last of which is the output.
    void define(const char* name, const DefinitionPtr& definition, const std::vector<const char*>& operands) {
        ops::BlockBuilder block(graph_, graph_.blocks[0], Rounding::kWeights);
        std::vector<ValueId> values;
        for (const char* operand : operands) values.push_back(*graph_.find(operand));
        graph_.outputs = {block.add(name, definition, values)};
    }

private:
    Graph& graph_;
    std::vector<ValueId> operands_;
};

KernelSubject product(const WeightCase& weight, int64_t rows, int64_t columns, int64_t depth) {
    const ops::WeightFormatInfo& format = ops::info(weight.format);
    // One row waits for the memory, whose prefetchers keep up with some formats and not with others.
    const bool is_decoded = rows == 1 && weight.input.radix > 1;
    KernelSubject subject{.graph = {},
                          .types = {{"A", std::string(weight.input_name)},
                                    {"B", kernels::type_name(weight.format)},
                                    {"C", "f32"}},
                          .sizes = {{"m", rows}, {"n", columns}, {"k", depth}},
                          .streamed = "n",
                          .is_typical = weight.is_typical || is_decoded};
    GraphBuilder graph(subject, "product");
    graph.input("x", {rows, depth}, weight.input.element);
    if (weight.input.radix > 1) graph.input("x_low", {rows, depth}, weight.input.element);
    if (weight.input.block > 1) graph.input("x_scale", {rows, depth / weight.input.block});
    for (const ops::WeightOperand& part : format.operands)
        graph.constant(fmt::format("w_{}", part.name), {columns, depth / part.block}, part.type);
    graph.define(ops::matmul({}, {Dim(rows), columns, depth}, weight.format, std::nullopt, weight.input));
    return subject;
}

/// Weights of the type to which the policies round them.
KernelSubject attention(int64_t rows, int64_t positions, ElementType cache) {
    const ElementType weights = ops::type_of_attended(*ops::weight_format_of(cache));
    KernelSubject subject{
        .graph = {},
        .types = {{"A", std::string(name(weights))}, {"B", std::string(name(cache))}, {"C", "f32"}},
        .sizes = {{"m", rows}, {"d", kWidth}, {"s", positions}},
        .streamed = "d"};
    GraphBuilder graph(subject, "attention");
    graph.input("p", {rows, positions});
    graph.constant("v", {positions, kWidth}, cache);
    graph.define(ops::define({}, fmt::format("op attend(t: {}, d: {}, s*: {})\n"
                                             "in P f32[t, s], V {}[s, d]\n"
                                             "out M f32[t], L f32[t], A f32[t, d] = softmax_sum(P, V)\n"
                                             "weights {}\n",
                                             rows, kWidth, positions, name(cache), name(weights))));
    return subject;
}

/// Operators of a block of a transformer on two rows, which the innermost level holds.
std::vector<KernelSubject> maps_and_folds() {
    constexpr int64_t kRows = 2, kHeads = kDepth / kWidth;
    std::vector<KernelSubject> subjects;
    const auto add = [&](const char* name, const auto& fill) {
        KernelSubject& subject = subjects.emplace_back();
        GraphBuilder graph(subject, name);
        fill(graph);
        const ValueId output = subject.graph.outputs.back();
        subject.types = {{"C", std::string(tessera::name(subject.graph[output].type.element))}};
        const Definition& definition = *subject.graph.blocks[0].nodes.back().definition();
        for (const Iterator& iterator : definition.iterators)
            subject.sizes[iterator.name] = evaluate_constant(iterator.extent, {});
    };
    const Dim rows(kRows);
    const std::vector<int64_t> whole = {kRows, kDepth}, heads = {kRows, kHeads, kWidth};
    add("add", [&](GraphBuilder& g) {
        g.input("a", whole);
        g.input("b", whole);
        g.define(ops::add({}, rows, kDepth));
    });
    for (const ElementType type : {ElementType::kF32, ElementType::kBF16}) {
        add("swiglu", [&](GraphBuilder& g) {
            g.input("gate", whole);
            g.input("up", whole);
            g.define(ops::swiglu({}, rows, kDepth, type));
        });
        add("apply", [&](GraphBuilder& g) {
            g.input("x", whole);
            g.input("r", {kRows});
            g.input("w", {kDepth});
            g.define(ops::rms_apply({}, {rows}, kDepth, ElementType::kF32, type));
        });
    }
    add("add_transposed", [&](GraphBuilder& g) {  // lanes along either iterator gather
        constexpr int64_t kSide = 64;
        g.input("a", {kSide, kSide});
        g.input("b", {kSide, kSide});
        g.define(ops::define({}, fmt::format("op add_transposed(i: {0}, j: {0})\n"
                                             "in X f32[j, i], Y f32[i, j]\n"
                                             "out Z f32[i, j] = X + Y\n",
                                             kSide)));
    });
    add("reduce", [&](GraphBuilder& g) {
        g.input("x", whole);
        g.define(ops::rms_reduce({}, {rows}, kDepth, kEpsilon));
    });
    add("reduce_heads", [&](GraphBuilder& g) {
        g.input("x", heads);
        g.define(ops::rms_reduce({}, {rows, Dim(kHeads)}, kWidth, kEpsilon));
    });
    add("norm", [&](GraphBuilder& g) {
        g.input("x", whole);
        g.input("w", {kDepth});
        g.define("r", ops::rms_reduce({}, {rows}, kDepth, kEpsilon), {"x"});
        g.define("y", ops::rms_apply({}, {rows}, kDepth, ElementType::kF32), {"x", "r", "w"});
    });
    const auto norm_heads = [&](GraphBuilder& g) {
        g.input("x", heads);
        g.input("w", {kWidth});
        g.define("r", ops::rms_reduce({}, {rows, Dim(kHeads)}, kWidth, kEpsilon), {"x"});
        g.define("normed", ops::rms_apply({}, {rows, Dim(kHeads)}, kWidth, ElementType::kF32),
                 {"x", "r", "w"});
    };
    add("norm_heads", norm_heads);
    add("norm_and_rope", [&](GraphBuilder& g) {
        g.input("position", {kRows}, ElementType::kI32);
        g.input("cos", {kPositions, kWidth / 2});
        g.input("sin", {kPositions, kWidth / 2});
        norm_heads(g);
        g.define("y", ops::rope({}, {rows, kHeads, kWidth, kPositions}, ops::RopeForm::kHalves),
                 {"position", "normed", "cos", "sin"});
    });
    for (const ops::RopeForm form : {ops::RopeForm::kHalves, ops::RopeForm::kPairs}) {
        add("rope", [&](GraphBuilder& g) {
            g.input("position", {kRows}, ElementType::kI32);
            g.input("x", heads);
            g.input("cos", {kPositions, kWidth / 2});
            g.input("sin", {kPositions, kWidth / 2});
            g.define(ops::rope({}, {rows, kHeads, kWidth, kPositions}, form));
        });
    }
    add("select", [&](GraphBuilder& g) {
        g.input("row", {kRows}, ElementType::kI32);
        g.input("x", whole);
        g.define(ops::select_rows({}, rows, rows, kDepth));
    });
    const int64_t block = ops::kInt15Blocks.block;
    add("block_scales", [&](GraphBuilder& g) {
        g.input("x", {kRows, kDepth / block, block});
        g.define(ops::block_scales({}, rows, kDepth, ops::kInt15Blocks));
    });
    add("round", [&](GraphBuilder& g) {
        g.input("x", whole);
        g.input("scale", {kRows, kDepth / block});
        g.define(ops::round_to_blocks({}, rows, kDepth, ops::kInt15Blocks));
    });
    add("round_rest", [&](GraphBuilder& g) {
        g.input("x", whole);
        g.input("scale", {kRows, kDepth / block});
        g.input("high", whole, ElementType::kI8);
        g.define(ops::round_rest({}, rows, kDepth, ops::kInt15Blocks));
    });
    return subjects;
}

}  // namespace

std::vector<KernelSubject> kernel_subjects(const machine::Machine& machine) {
    std::vector<KernelSubject> subjects;
    const int64_t panel = 8 * machine::vector_lanes(machine);
    const auto columns_of = [&](ops::WeightFormat format) {
        const auto row_bytes =
            static_cast<int64_t>(cost::bits_of_type(kernels::type_name(format)) * kDepth / 8);
        return std::max<int64_t>(1, resident_bytes(machine) / row_bytes / panel) * panel;
    };
    for (const WeightCase& weight : weights()) {
        const int64_t columns = columns_of(weight.format);
        std::set<int64_t> of_every_unit = {1, 4, kManyRows};
        if (weight.is_typical) of_every_unit.insert(kSomeRows);
        for (const int64_t rows : of_every_unit) subjects.push_back(product(weight, rows, columns, kDepth));
        for (const int64_t rows : rows_of_tiles(weight, machine)) {
            if (of_every_unit.contains(rows)) continue;
            subjects.push_back(product(weight, rows, columns, kDepth));
            subjects.back().has_whole_tiles = true;
        }
    }
    const int64_t positions = std::max<int64_t>(1, resident_bytes(machine) / (kWidth * 4) / 16) * 16;
    for (const ops::WeightFormat cache :
         {ops::WeightFormat::kF32, ops::WeightFormat::kF16, ops::WeightFormat::kBF16}) {
        for (const int64_t rows : {int64_t{1}, int64_t{2}, int64_t{6}, kQueries}) {
            const ElementType queries = ops::type_of_attended(cache);
            subjects.push_back(product({cache, {queries}, name(queries), true}, rows, kPositions, kWidth));
            subjects.back().is_cached = true;
            for (const int64_t tile : {kPositions, positions})
                subjects.push_back(attention(rows, tile, *ops::element_of(cache)));
        }
        subjects.push_back(attention(kManyRows, kPositions, *ops::element_of(cache)));
    }
    for (KernelSubject& subject : maps_and_folds()) subjects.push_back(std::move(subject));
    return subjects;
}

}  // namespace tessera::measure
