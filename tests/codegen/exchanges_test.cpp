#include "codegen/cpp/exchanges.h"

#include <gtest/gtest.h>

#include "ops/exchange.h"

namespace tessera::codegen::cpp {
namespace {

movement::Kernel kernel_of(const std::string& node) {
    movement::Kernel kernel;
    kernel.name = node;
    movement::ProgramBuffer read, written;
    read.name = "x";
    written.name = "z";
    written.is_written = true;
    written.position = 4096;
    kernel.buffers = {read, written};
    kernel.accesses = {{.value = "x", .node = node, .is_write = false, .by_all = true, .parts = {}},
                       {.value = "z", .node = node, .is_write = true, .by_all = true, .parts = {}}};
    return kernel;
}

TEST(ExchangesInCode, AreCallsBehindTheirKernels) {
    Graph graph;
    graph.symbols = {{"R", 1, 8, 1}, {"T", 1, 512, 1}};
    Value x{.name = "x", .kind = ValueKind::kInput, .type = {}, .sources = {}};
    x.type.shape = {Dim("T"), Dim(96)};
    Value z = x;
    z.name = "z";
    z.kind = ValueKind::kIntermediate;
    z.type.shape = {Dim(2), Dim("T"), Dim(96)};
    graph.values = {x, z};
    graph.blocks = {{.name = "b",
                     .repeat = 1,
                     .carried_in = {},
                     .carried_out = {},
                     .states = {},
                     .nodes = {{.name = "z",
                                .op = ops::exchange(graph.symbols, x.type, 2),
                                .operands = {{0}},
                                .results = {{1}},
                                .previous = {}}}}};
    const Exchanges exchanges = exchanges_of(graph);
    ASSERT_EQ(exchanges.size(), 1U);
    EXPECT_EQ(exchanges.at("z").before, "step->gather(step->ranks, ");
    EXPECT_EQ(exchanges.at("z").after, ", int64_t{384} * step->symbols[1]);\n");
    EXPECT_EQ(exchange_text(kernel_of("z"), 1, exchanges, "  "),
              "  step->gather(step->ranks, step->arena + 4096, int64_t{384} * step->symbols[1]);\n");
    EXPECT_EQ(exchange_text(kernel_of("z"), 2, exchanges, "  "),
              "  step->meet(step->team);\n"
              "  if (step->worker == 0) step->gather(step->ranks, step->arena + 4096, int64_t{384} * "
              "step->symbols[1]);\n"
              "  step->meet(step->team);\n");
    EXPECT_EQ(exchange_text(kernel_of("y"), 2, exchanges, "  "), "");
}

}  // namespace
}  // namespace tessera::codegen::cpp
