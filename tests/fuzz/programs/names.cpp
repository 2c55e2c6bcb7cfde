#include "fuzz/programs/names.h"

#include <algorithm>
#include <set>

#include "ir/definition.h"

namespace tessera::fuzz {
namespace {

const std::vector<std::string>& nasty_names() {
    static const std::vector<std::string> kNames = {
        "lane",
        "lanes",
        "step",
        "symbols",
        "inputs",
        "outputs",
        "constants",
        "states",
        "arena",
        "worker",
        "meet",
        "team",
        "group",
        "ntt",
        "tessera",
        "valid",
        "repetition",
        "at",
        "float_",
        "float",
        "double",
        "int",
        "auto",
        "this",
        "std",
        "main",
        "errno",
        "NULL",
        "EOF",
        "INT64_MAX",
        "M_PI",
        "linux",
        "unix",
        "assert",
        "printf",
        "template",
        "class",
        "new",
        "delete",
        "_",
        "__",
        "_x",
        "x_",
        "x__",
        "X",
        "x",
        "x0",
        "v",
        "vx",
        "value_",
        "graph",
        "node",
        "block",
        "output",
        "input",
        "value",
        "state",
        "constant",
        "symbol",
        "point",
        "repeat",
        "carry",
        "order",
        "rounded",
        "from",
        "then",
        "along",
        "Factor",
        "Factor0",
        "A_lanes",
        "n_body",
        "int64_t",
        "t0",
        "i",
        "j",
        "k",
        "n",
        "m",
        "acc",
        "result",
        "begin",
        "end",
        "size",
        "data",
        "rows",
        "columns",
        "tile",
        "i_lane",
        "i0_lane",
        "lane_0",
        "worker_0",
        "kernel",
        "buffer",
        "pack",
        "unpack",
        "load",
        "store",
        "move",
        "copy",
        "copy_",
        "mask",
        "width",
        "offset",
        "stride",
        "first",
        "last",
        "count",
        "length",
        "id",
        "page",
        "sum_",
        "Y",
        "y",
        "Yy",
        "yY",
        "exp_",
        "select_",
        "sizeof",
        "register",
        "volatile",
        "and_eq",
        "xor",
        "bitand",
        "decltype",
        "nullptr",
        "true",
        "false",
        "char",
        "nan",
        "NAN",
        "INFINITY",
        "isnan",
        "signbit",
        "uint8_t",
        "float16",
        "bfloat16",
        "vector",
        "Vector",
        "vec",
        "simd",
        "memcpy",
        "restrict",
        "__restrict",
        "asm",
        "con",
        "nul",
        "aux",
        "prn",
        "default_",
        "decode",
        "prefill",
        "all",
        "a_very_long_name_of_a_value_that_somebody_made_by_a_tool_which_puts_the_whole_path_of_a_module_into_"
        "it_"
        "model_layers_0_self_attention_query_projection_weight_transposed"};
    return kNames;
}

/// Names that nothing of a scope has yet.
class Scope {
public:
    Scope(Choices& choices, std::set<std::string> taken) : choices_(choices), taken_(std::move(taken)) {}

    void rename(std::string& name) {
        if (!choices_.chance(40)) return;
        const std::string& wanted = choices_.pick(nasty_names());
        if (!taken_.insert(wanted).second) return;
        taken_.erase(name);
        name = wanted;
    }

private:
    Choices& choices_;
    std::set<std::string> taken_;
};

/// Words that the notation of operators has a meaning for.
const std::set<std::string>& words_of_notation() {
    static const std::set<std::string> kWords = {
        "op",   "dim",  "in",      "index", "out",   "update", "where",       "acc",      "weights", "test",
        "bind", "fill", "tile",    "lanes", "unit",  "of",     "div",         "mod",      "and",     "or",
        "not",  "inf",  "sum",     "prod",  "max",   "min",    "exp",         "log",      "sqrt",    "rsqrt",
        "tanh", "erf",  "sigmoid", "abs",   "round", "select", "softmax_sum", "multiple", "at"};
    return kWords;
}

void rename_parts(Choices& choices, const Graph& graph, Definition& definition) {
    std::set<std::string> taken = words_of_notation();
    taken.insert(definition.name);
    for (const DimSymbol& symbol : graph.symbols) taken.insert(symbol.name);
    for (const Iterator& iterator : definition.iterators) taken.insert(iterator.name);
    for (const TensorDecl& tensor : definition.tensors) taken.insert(tensor.name);
    Scope scope(choices, std::move(taken));
    for (Iterator& iterator : definition.iterators) scope.rename(iterator.name);
    for (TensorDecl& tensor : definition.tensors) scope.rename(tensor.name);
}

void rename_key(std::map<std::string, TensorData>& contents, const std::string& before,
                const std::string& behind) {
    auto entry = contents.extract(before);
    if (entry.empty()) return;
    entry.key() = behind;
    contents.insert(std::move(entry));
}

}  // namespace

void give_names(Choices& choices, Program& program) {
    if (!choices.chance(50)) return;
    Graph& graph = program.graph;
    Block& block = graph.blocks.front();
    std::set<std::string> values, nodes;
    for (const Value& value : graph.values) values.insert(value.name);
    for (const Node& node : block.nodes) nodes.insert(node.name);
    Scope of_values(choices, std::move(values)), of_nodes(choices, std::move(nodes));
    for (Value& value : graph.values) {
        const std::string before = value.name;
        of_values.rename(value.name);
        if (value.kind == ValueKind::kInput) rename_key(program.inputs, before, value.name);
        if (value.kind == ValueKind::kState) rename_key(program.states, before, value.name);
    }
    for (Node& node : block.nodes) {
        of_nodes.rename(node.name);
        auto definition = std::make_shared<Definition>(*node.definition());
        rename_parts(choices, graph, *definition);
        node.op = DefinitionPtr(std::move(definition));
    }
    Scope(choices, {}).rename(block.name);
    Scope(choices, {}).rename(graph.name);
}

}  // namespace tessera::fuzz
