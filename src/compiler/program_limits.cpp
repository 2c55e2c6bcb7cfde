#include "compiler/program_limits.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "import/npy/npy_file.h"
#include "ir/body_value.h"
#include "ir/injectivity.h"
#include "ir/ops/exchange.h"
#include "ir/quasi_affine.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/leaf.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

/// Inputs, constants, states and outputs: what lies in files.
void expect_array(const Value& value, const std::string& where) {
    if (import::npy_type(value.type.element).empty())
        throw Error(
            where, value.name,
            fmt::format("is {} {} of {}, which NumPy files cannot hold",
                        value.kind == ValueKind::kInput ? "an" : "a", name(value.kind),
                        name(value.type.element)),
            "inputs, outputs, constants and states may be floats, integers and truths of whole bytes");
    if (!value.type.layout.is_row_major())
        throw Error(where, value.name, fmt::format("has the layout {}", print(value.type.layout)),
                    "arrays are row-major; the plan chooses how constants and states are stored");
}

/// True if no element of this index operand leads outside: it is a rest, `I mod 8`, or the like.
bool stays_inside(const Graph& graph, const Definition& definition, int index, const std::string& where) {
    std::map<std::string, int64_t> lowest;
    for (const DimSymbol& symbol : graph.symbols) lowest[symbol.name] = symbol.low;
    const BoundExtents extents = bound_extents(definition, dims_of(definition, lowest), where);
    for (size_t tensor = 0; tensor < definition.tensors.size(); ++tensor)
        for (const std::vector<ExprPtr>& coordinates : accesses(definition, static_cast<int>(tensor)))
            for (size_t axis = 0; axis < coordinates.size(); ++axis) {
                const std::vector<Read> reads = reads_in({coordinates[axis]});
                if (std::ranges::find(reads, index, &Read::tensor) == reads.end()) continue;
                // The places of results must be known, too: two iterations could write one element.
                if (definition.tensors[tensor].is_result() ||
                    may_leave(extents, tensor, axis, coordinates[axis], where))
                    return false;
            }
    return true;
}

/// Indices that a call hands over can be checked before it runs; computed ones could lead anywhere.
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
        const int number = static_cast<int>(&tensor - definition->tensors.data());
        if ((!is_given || (block.repeat > 1 && block.carried_in == id)) &&
            !stays_inside(graph, *definition, number, where))
            throw Error(
                where, node.name,
                fmt::format("takes {}, which changes while the program runs, for its index `{}`", value.name,
                            tensor.name),
                "an index is an input or a constant, which are checked before a call, or a rest, such as "
                "`I mod 8`, that leads nowhere else");
        const ElementType type = value.type.element;
        if (bits(type) < 8 || type == ElementType::kU64)
            throw Error(where, node.name,
                        fmt::format("takes {} of {} for its index `{}`, expected i8 to i64 or u8 to u32",
                                    value.name, name(value.type.element), tensor.name),
                        "cast it to i64");
    }
}

/// If two iterations wrote one element, the order of execution would decide which of them counts; in a fold,
/// if they differ in more than its reductions. If an index chooses the element, its contents are checked
/// before a call (compiler/programs/check_indices.h).
void expect_single_writes(const Graph& graph, const Node& node, const std::string& where) {
    const Definition* definition = node.definition();
    if (definition == nullptr) return;
    const TensorDecl& result = definition->tensors[static_cast<size_t>(definition->results().back())];
    if (std::ranges::any_of(result.map, [](const ExprPtr& c) { return is_indirect(c); })) return;
    const bool is_map = definition->monoid == Monoid::kNone;
    const bool is_asked = definition->where && !reads_in({definition->where}).empty();
    if (is_map && is_asked) return;
    for (const bool is_high : {false, true}) {
        std::map<std::string, int64_t> symbols;
        for (const DimSymbol& symbol : graph.symbols)
            symbols[symbol.name] = is_high ? symbol.high : symbol.low;
        StoredPart part =
            stored_part(*definition, bound_extents(*definition, dims_of(*definition, symbols), where));
        if (is_asked) part.definition.where = nullptr;
        const std::vector<TensorData> unread(definition->tensors.size());
        BodyValue point(part.definition, part.extents, unread, where);
        if (find_store_collision(part.definition, part.extents, point, where) != StoreCollision::kFound)
            continue;
        throw Error(where, node.name,
                    fmt::format("writes an element of `{}` twice, again {}", result.name, point.iteration()),
                    is_map ? "an operator without a reduction writes every element once"
                           : "only iterators that are marked as reductions fold: give the map all others");
    }
}

}  // namespace

bool may_leave(const BoundExtents& extents, size_t tensor, size_t axis, const ExprPtr& component,
               const std::string& where) {
    const IntegerInterval range = enclosing_range(
        quasi_affine(component, extents.dims, extents.iterators, where), extents.iterators, where);
    return range.low < 0 || range.high >= extents.shapes[tensor][axis];
}

void expect_program(const Graph& graph, const std::string& where) {
    if (graph.outputs.empty())
        throw Error(where, "output", "is missing: nothing would be computed", "name the results: output Y");
    for (const ValueId id : graph.outputs) {
        const Value& output = graph[id];
        expect_array(output, where);
        if (output.kind != ValueKind::kIntermediate)
            throw Error(where, output.name,
                        fmt::format("is an output and no result of an operator, but {} {}",
                                    output.kind == ValueKind::kInput ? "an" : "a", name(output.kind)),
                        "let an operator copy it to a value of another name");
    }
    for (const Value& value : graph.values)
        if (value.kind != ValueKind::kIntermediate) expect_array(value, where);
    for (const Block& block : graph.blocks) {
        for (const Node& node : block.nodes) {
            if (node.definition() && ops::is_exchange(*node.definition()))
                throw Error(where, node.name,
                            fmt::format("is `{}`, at which ranks meet", node.definition()->name),
                            "give the operator another name: compiling a model with --ranks makes these");
            // Lowering checks both again, but by then rewriting may have renamed the node.
            if (node.definition()) {
                const plan::MicroKernel& plain = kernels::plain_micro_kernel();
                if (const std::string why = plain.why_not(*node.definition()); !why.empty())
                    throw Error(where, node.name, why);
                lowering::check_types(node, plain);
            }
            expect_known_indices(graph, block, node, where);
            expect_single_writes(graph, node, where);
        }
    }
}

}  // namespace tessera::compiler
