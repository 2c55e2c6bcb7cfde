#include "backend/exchanges.h"

#include <gtest/gtest.h>

#include "ir/ops/exchange.h"

namespace tessera::backend {
namespace {

movement::Kernel kernel_of(const std::string& node) {
    movement::Kernel kernel;
    kernel.name = node;
    movement::ProgramBuffer read, written;
    read.name = "x";
    written.name = "z_buffer";
    written.value = "z";
    written.is_written = true;
    written.position = 4096;
    kernel.buffers = {read, written};
    kernel.accesses = {{.value = "x", .node = node, .is_write = false, .by_all = true, .parts = {}},
                       {.value = "z", .node = node, .is_write = true, .by_all = true, .parts = {}}};
    return kernel;
}

/// A graph of one exchange of x.
Graph graph_of(const std::vector<Dim>& shape, const DefinitionPtr& exchange, const std::vector<Dim>& made) {
    Graph graph;
    graph.symbols = {{"R", 1, 8, 1}, {"T", 1, 512, 1}};
    Value x{.name = "x", .kind = ValueKind::kInput, .type = {}, .sources = {}};
    x.type.shape = shape;
    Value z = x;
    z.name = "z";
    z.kind = ValueKind::kIntermediate;
    z.type.shape = made;
    graph.values = {x, z};
    graph.blocks = {
        {.name = "b",
         .repeat = 1,
         .carried_in = {},
         .carried_out = {},
         .states = {},
         .nodes = {{.name = "z", .op = exchange, .operands = {{0}}, .results = {{1}}, .previous = {}}}}};
    return graph;
}

const std::vector<DimSymbol> kSymbols = {{"R", 1, 8, 1}, {"T", 1, 512, 1}};

TEST(ExchangesInCode, AreCallsBehindTheirKernels) {
    TensorType type;
    type.shape = {Dim("T"), Dim(96)};
    const Exchanges exchanges =
        exchanges_of(graph_of(type.shape, ops::exchange(kSymbols, type, 2), {Dim(2), Dim("T"), Dim(96)}));
    ASSERT_EQ(exchanges.size(), 1U);
    EXPECT_EQ(exchanges.at("z").before, "step->gather(step->ranks, ");
    EXPECT_EQ(exchanges.at("z").after, ", INT64_C(384) * step->symbols[1]);\n");
    EXPECT_EQ(exchanges.at("z").start, "step->rank * (INT64_C(96) * step->symbols[1])");
    EXPECT_EQ(exchange_text(kernel_of("z"), 1, exchanges, "  "),
              "  step->gather(step->ranks, step->arena + 4096, INT64_C(384) * step->symbols[1]);\n");
    EXPECT_EQ(exchange_text(kernel_of("z"), 2, exchanges, "  "),
              "  step->meet(step->team);\n"
              "  if (step->worker == 0) step->gather(step->ranks, step->arena + 4096, INT64_C(384) * "
              "step->symbols[1]);\n"
              "  step->meet(step->team);\n");
    EXPECT_EQ(exchange_text(kernel_of("y"), 2, exchanges, "  "), "");
    EXPECT_FALSE(exchange_of(kernel_of("y"), exchanges));
    EXPECT_EQ(exchange_of(kernel_of("z"), exchanges)->parts.name, "z_buffer");
}

TEST(ExchangesInCode, PlaceWhatTheKernelWritesWhereThePartOfItsRankBegins) {
    TensorType type;
    type.shape = {Dim("T"), Dim(6), Dim(64)};
    const std::vector<int64_t> starts = {0, 6, 9};
    const Exchanges exchanges = exchanges_of(
        graph_of(type.shape, ops::placed_exchange(kSymbols, type, 1, starts), {Dim("T"), Dim(9), Dim(64)}));
    EXPECT_EQ(exchanges.at("z").start, "starts[step->rank]");
    EXPECT_EQ(exchanges.at("z").tables, "static const int64_t starts[] = {0, 384, 576};");
    EXPECT_EQ(exchange_text(kernel_of("z"), 1, exchanges, "  "),
              "  { static const int64_t starts[] = {0, 1536, 2304}; step->place(step->ranks, "
              "step->arena + 4096, INT64_C(1) * step->symbols[1], starts); }\n");
}

}  // namespace
}  // namespace tessera::backend
