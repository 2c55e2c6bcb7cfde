#include "compiler/program_limits.h"

#include <algorithm>

#include <fmt/format.h>

#include "import/npy/npy_file.h"
#include "ops/exchange.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

/// Inputs, constants, states and outputs: what lies in files.
void expect_array(const Value& value, const std::string& where) {
    if (import::npy_type(value.type.element).empty())
        throw Error(where, value.name,
                    fmt::format("is {} {} of {}, which NumPy files cannot hold",
                                value.kind == ValueKind::kInput ? "an" : "a", name(value.kind),
                                name(value.type.element)),
                    "inputs, outputs, constants and states may be f32, f16, bf16, i32, i8 and u8");
    if (!value.type.layout.is_row_major())
        throw Error(where, value.name, fmt::format("has the layout {}", print(value.type.layout)),
                    "arrays are row-major; the plan chooses how constants and states are stored");
}

/// What a call hands over can be checked before it; what the code computes could lead it anywhere.
void expect_known_indices(const Graph& graph, const Block& block, const Node& node,
                          const std::string& where) {
    const Definition* definition = node.definition();
    if (definition == nullptr) return;
    size_t operand = 0;
    for (const TensorDecl& tensor : definition->tensors) {
        if (tensor.role != Role::kIndex && tensor.role != Role::kIn) continue;
        const ValueId id = node.operands[operand++];
        if (tensor.role != Role::kIndex) continue;
        const Value& value = graph[id];
        const bool is_given = value.kind == ValueKind::kInput || value.kind == ValueKind::kConstant;
        if (!is_given || (block.repeat > 1 && block.carried_in == id))
            throw Error(where, node.name,
                        fmt::format("takes {}, which changes while the program runs, for its index `{}`",
                                    value.name, tensor.name),
                        "an index is an input or a constant, which are checked before a call");
    }
}

}  // namespace

void expect_program(const Graph& graph, const std::string& where) {
    if (graph.outputs.empty())
        throw Error(where, "output", "is missing: nothing would be computed", "name the results: output Y");
    for (size_t o = 0; o < graph.outputs.size(); ++o) {
        const Value& output = graph[graph.outputs[o]];
        expect_array(output, where);
        if (output.kind != ValueKind::kIntermediate)
            throw Error(where, output.name,
                        fmt::format("is an output and no result of an operator, but {} {}",
                                    output.kind == ValueKind::kInput ? "an" : "a", name(output.kind)));
        if (std::count(graph.outputs.begin(), graph.outputs.end(), graph.outputs[o]) > 1)
            throw Error(where, output.name, "is an output twice");
    }
    for (const Value& value : graph.values)
        if (value.kind != ValueKind::kIntermediate) expect_array(value, where);
    for (const Block& block : graph.blocks) {
        if (block.repeat > 1 && block.carried_in) {
            const bool is_output = std::find(graph.outputs.begin(), graph.outputs.end(),
                                             *block.carried_out) != graph.outputs.end();
            const Value& in = graph[*block.carried_in];
            if (in.kind != ValueKind::kIntermediate || is_output)
                throw Error(where, block.name,
                            fmt::format("is repeated and carries {}, {}",
                                        is_output ? graph[*block.carried_out].name : in.name,
                                        is_output ? "an output" : "which no operator makes"),
                            "repetitions overwrite what is carried: let an operator before or after the "
                            "block copy it");
        }
        for (const Node& node : block.nodes) {
            if (node.definition() && ops::is_exchange(*node.definition()))
                throw Error(where, node.name,
                            fmt::format("is `{}`, at which ranks meet", node.definition()->name),
                            "give the operator another name: compiling a model with --ranks makes these");
            expect_known_indices(graph, block, node, where);
        }
    }
}

}  // namespace tessera::compiler
