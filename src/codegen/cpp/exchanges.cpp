#include "codegen/cpp/exchanges.h"

#include <fmt/core.h>

#include "ops/exchange.h"
#include "support/error.h"

namespace tessera::codegen::cpp {
namespace {

std::string part_bytes(const Graph& graph, const TensorType& type) {
    int64_t bits = tessera::bits(type.element);
    std::string symbols;
    for (size_t axis = 1; axis < type.shape.size(); ++axis) {  // axis 0 counts the ranks
        const Dim& dim = type.shape[axis];
        bits *= dim.factor;
        if (!dim.symbol) continue;
        for (size_t s = 0; s < graph.symbols.size(); ++s)
            if (graph.symbols[s].name == *dim.symbol) symbols += fmt::format(" * step->symbols[{}]", s);
    }
    TESSERA_CHECK(bits % 8 == 0, "parts of {} bits cannot be exchanged", bits);
    return fmt::format("int64_t{{{}}}{}", bits / 8, symbols);
}

}  // namespace

Exchanges exchanges_of(const Graph& graph) {
    Exchanges exchanges;
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            if (node.definition() && ops::is_exchange(*node.definition()))
                exchanges[node.name] = part_bytes(graph, graph[node.results.front()].type);
    return exchanges;
}

std::string exchange_text(const movement::Kernel& kernel, int64_t workers, const Exchanges& exchanges,
                          const std::string& indent) {
    const std::string* bytes = nullptr;
    for (const movement::WorkerAccess& access : kernel.accesses)
        if (const auto found = exchanges.find(access.node); access.is_write && found != exchanges.end())
            bytes = &found->second;
    if (!bytes) return "";
    const movement::ProgramBuffer* parts = nullptr;
    for (const movement::ProgramBuffer& buffer : kernel.buffers) {
        if (!buffer.is_written) continue;
        TESSERA_CHECK(!parts, "the exchange {} shares a kernel", kernel.name);
        parts = &buffer;
    }
    TESSERA_CHECK(parts && parts->memory == movement::MemoryKind::kArena && parts->worker_stride == 0,
                  "{} exchanges what is not in the arena", kernel.name);
    const std::string call =
        fmt::format("step->gather(step->ranks, step->arena + {}, {});\n", parts->position, *bytes);
    if (workers == 1) return indent + call;
    return fmt::format(
        "{0}step->meet(step->team);\n{0}if (step->worker == 0) {1}{0}step->meet(step->team);\n", indent,
        call);
}

}  // namespace tessera::codegen::cpp
