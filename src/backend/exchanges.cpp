#include "backend/exchanges.h"

#include <span>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ir/ops/exchange.h"
#include "support/error.h"

namespace tessera::backend {
namespace {

/// Elements of some axes: "INT64_C(64) * step->symbols[0]".
std::string elements(const Graph& graph, std::span<const Dim> axes, int64_t factor = 1) {
    std::string symbols;
    for (const Dim& dim : axes) {
        factor *= dim.factor;
        if (!dim.symbol) continue;
        for (size_t s = 0; s < graph.symbols.size(); ++s)
            if (graph.symbols[s].name == *dim.symbol) symbols += fmt::format(" * step->symbols[{}]", s);
    }
    return fmt::format("INT64_C({}){}", factor, symbols);
}

ExchangeText call_of(const Graph& graph, const Node& node, const ops::ExchangeCall& call) {
    const TensorType& type = graph[node.results.front()].type;
    const int bits = tessera::bits(type.element);
    TESSERA_CHECK(bits % 8 == 0, "parts of {} bits cannot be exchanged", bits);
    using Kind = ops::ExchangeCall::Kind;
    if (call.kind != Kind::kPlace) {
        const std::span<const Dim> part(type.shape.begin() + 1, type.shape.end());  // axis 0 counts the ranks
        const bool is_gather = call.kind == Kind::kGather;
        return {.before = fmt::format("step->{}(step->ranks, ", is_gather ? "gather" : "transpose"),
                .after = fmt::format(", {});\n", elements(graph, part, bits / 8)),
                .start = is_gather ? fmt::format("step->rank * ({})", elements(graph, part)) : ""};
    }
    // The axis of which the rank has a part.
    const TensorType& own = graph[node.operands.front()].type;
    size_t axis = 0;
    while (own.shape[axis] == type.shape[axis]) ++axis;
    int64_t inner = 1;
    for (size_t a = axis + 1; a < type.shape.size(); ++a) {
        TESSERA_CHECK(type.shape[a].is_constant(), "{} has an inner axis of no constant size", node.name);
        inner *= type.shape[a].factor;
    }
    std::vector<int64_t> starts, bytes;
    for (const int64_t start : call.starts) {
        starts.push_back(start * inner);
        bytes.push_back(starts.back() * bits / 8);
    }
    const std::span<const Dim> outer(type.shape.data(), axis);
    return {.before = fmt::format("{{ static const int64_t starts[] = {{{}}}; step->place(step->ranks, ",
                                  fmt::join(bytes, ", ")),
            .after = fmt::format(", {}, starts); }}\n", elements(graph, outer)),
            .start = "starts[step->rank]",
            .tables = fmt::format("static const int64_t starts[] = {{{}}};", fmt::join(starts, ", "))};
}

}  // namespace

Exchanges exchanges_of(const Graph& graph) {
    Exchanges exchanges;
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            if (node.definition())
                if (const auto call = ops::exchange_call(*node.definition()))
                    exchanges[node.name] = call_of(graph, node, *call);
    return exchanges;
}

std::optional<KernelExchange> exchange_of(const movement::Kernel& kernel, const Exchanges& exchanges) {
    for (const movement::WorkerAccess& access : kernel.accesses) {
        const auto found = exchanges.find(access.node);
        if (!access.is_write || found == exchanges.end()) continue;
        for (const movement::ProgramBuffer& buffer : kernel.buffers)
            if (buffer.is_written && buffer.value == access.value)
                return KernelExchange{found->second, buffer};
        TESSERA_CHECK(false, "{} does not write {}", kernel.name, access.value);
    }
    return std::nullopt;
}

std::string exchange_text(const movement::Kernel& kernel, int64_t workers, const Exchanges& exchanges,
                          const std::string& indent) {
    const std::optional<KernelExchange> exchange = exchange_of(kernel, exchanges);
    if (!exchange) return "";
    const movement::ProgramBuffer& parts = exchange->parts;
    const bool is_output = parts.memory == movement::MemoryKind::kOutput;
    TESSERA_CHECK((is_output || parts.memory == movement::MemoryKind::kArena) && parts.worker_stride == 0,
                  "{} exchanges what is neither in the arena nor an output", kernel.name);
    const std::string address = is_output ? fmt::format("(unsigned char*)step->outputs[{}]", parts.position)
                                          : fmt::format("step->arena + {}", parts.position);
    const std::string call = exchange->text.before + address + exchange->text.after;
    if (workers == 1) return indent + call;
    return fmt::format(
        "{0}step->meet(step->team);\n{0}if (step->worker == 0) {1}{0}step->meet(step->team);\n", indent,
        call);
}

}  // namespace tessera::backend
