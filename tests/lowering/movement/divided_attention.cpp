#include "lowering/movement/divided_attention.h"

#include <cmath>
#include <random>

#include <fmt/core.h>

#include "ir/element_type.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/parts.h"

namespace tessera::testing {
namespace {

constexpr int64_t kPage = 16;
constexpr int64_t kTable = 6;  ///< pages of a sequence
constexpr int64_t kWidth = 9;  ///< of a head: no multiple of any lanes

constexpr const char* kGraph = R"(graph "divided"
symbol T in 1..6
symbol B in 1..2
symbol I in 1..3
symbol S in 16..96 multiple of 16
input first: i32[B]
input length: i32[B]
input start: i32[B]
input page: i32[B, 6]
input q: f32[T, {heads}, 9]
constant k: f32[12, 16, 1, 9] from "k"
constant v: f32[12, 16, 1, 9] from "v"
value g: f32[B, I, {heads}, 9]
value p: f32[B, {heads}, I, S]
value m: f32[B, I, {heads}]
value l: f32[B, I, {heads}]
value a: f32[B, I, {heads}, 9]
value y: f32[T, {heads}, 9]

block main
  node g(first, length, q) -> g
    op gather(b: B, i: I, h: {heads}, e: 9)
    dim T in 1..6
    dim B in 1..2
    dim I in 1..3
    dim S in 16..96 multiple of 16
    index first i32[b]
    index length i32[b]
    in Q f32[first[b] + i, h, e] of [T, {heads}, 9]
    out G f32[b, i, h, e] = Q
    where i < length[b]
  node scores(length, start, page, g, k) -> p
    op scores(b: B, i: I, h: {heads}, s: S, e*: 9)
    dim T in 1..6
    dim B in 1..2
    dim I in 1..3
    dim S in 16..96 multiple of 16
    index length i32[b]
    index start i32[b]
    index page i32[b, s div 16] of [B, 6]
    in G f32[b, i, h, e]
    in K f32[page[b, s div 16], s mod 16, 0, e] of [12, 16, 1, 9]
    out P f32[b, h, i, s] = sum(G * K) * 2
    where i < length[b] and s <= start[b] + i
  node attend(length, start, page, p, v) -> m, l, a
    op attend(b: B, i: I, h: {heads}, d: 9, s*: S)
    dim T in 1..6
    dim B in 1..2
    dim I in 1..3
    dim S in 16..96 multiple of 16
    index length i32[b]
    index start i32[b]
    index page i32[b, s div 16] of [B, 6]
    in P f32[b, h, i, s]
    in V f32[page[b, s div 16], s mod 16, 0, d] of [12, 16, 1, 9]
    out M f32[b, i, h], L f32[b, i, h], A f32[b, i, h, d] = softmax_sum(P, V)
    where i < length[b] and s <= start[b] + i
  node y(first, length, a, l) -> y
    op scatter(b: B, i: I, h: {heads}, d: 9)
    dim T in 1..6
    dim B in 1..2
    dim I in 1..3
    dim S in 16..96 multiple of 16
    index first i32[b]
    index length i32[b]
    in A f32[b, i, h, d]
    in L f32[b, i, h]
    out Y f32[first[b] + i, h, d] of [T, {heads}, 9] = A / L
    where i < length[b]

output y
)";

TensorData drawn(std::vector<int64_t> shape, uint64_t seed) {
    TensorData data{std::move(shape), {}};
    int64_t count = 1;
    for (const int64_t extent : data.shape) count *= extent;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < count; ++i) data.values.push_back(uniform(random));
    return data;
}

}  // namespace

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

Graph graph_of(const std::string& text, int64_t heads) {
    Graph graph = parse_graph(replaced(text, "{heads}", std::to_string(heads)), "divided");
    verify(graph, "divided");
    return graph;
}

}  // namespace

Graph divided_attention_graph(int64_t heads) {
    return graph_of(kGraph, heads);
}

Graph rounded_attention_graph(int64_t heads) {
    std::string text = kGraph;
    for (const char* of_bf16 :
         {"value g: ", "constant k: ", "constant v: ", "out G ", "in G ", "in K ", "in V "})
        text = replaced(text, std::string(of_bf16) + "f32", std::string(of_bf16) + "bf16");
    text = replaced(text, "value g: bf16[B, I, {heads}, 9]", "value g: bf16[B, I, {heads}, 9] rounded");
    text = replaced(text, "sum(G * K) * 2", "sum(G * K) * 0.6931471805599453");
    const std::string last = "= softmax_sum(P, V)\n    where i < length[b] and s <= start[b] + i\n";
    return graph_of(replaced(text, last, last + "    weights bf16\n"), heads);
}

plan::Plan divided_attention_plan(const Graph& graph, const std::vector<std::string>& nests,
                                  int64_t workers) {
    plan::SpecialisationPlan s{.name = "all", .bounds = {}, .tensors = {}, .kernels = {}};
    for (const DimSymbol& symbol : graph.symbols) s.bounds[symbol.name] = {symbol.low, symbol.high};
    for (const char* value : {"g", "p", "m", "l", "a"}) s.tensors[value].place = plan::Place::kTile;
    for (const char* value : {"m", "l", "a"}) s.tensors[plan::parts_of(value)].each_worker = true;
    for (const char* value : {"m", "l"}) s.tensors[plan::parts_of(value)].layout.order = {0, 2, 1};
    for (const std::string& nest : nests)
        s.kernels.push_back(
            {"main", plan::parse_nest(nest, "nest", kernels::micro_kernels()), !s.kernels.empty()});
    return {.graph = graph.name, .machine = "test", .workers = workers, .stored = {}, .specialisations = {s}};
}

GraphCall divided_attention_call(const Graph& graph, int64_t start, int64_t rows) {
    const int64_t behind = start / 2, fewer = std::max<int64_t>(rows - 1, 1);
    const auto up_to_page = [](int64_t positions) { return (positions + kPage - 1) / kPage * kPage; };
    GraphCall call;
    call.symbols = {{"T", rows + fewer}, {"B", 2}, {"I", rows}, {"S", up_to_page(start + rows)}};
    const auto numbers = [](std::vector<double> values) {
        return TensorData{{static_cast<int64_t>(values.size())}, values};
    };
    call.inputs["first"] = numbers({0, static_cast<double>(rows)});
    call.inputs["length"] = numbers({static_cast<double>(rows), static_cast<double>(fewer)});
    call.inputs["start"] = numbers({static_cast<double>(start), static_cast<double>(behind)});
    call.inputs["page"] = {{2, kTable}, {7, 2, 11, 0, 5, 9, 1, 10, 3, 8, 4, 6}};
    call.inputs["q"] =
        drawn({rows + fewer, evaluate(graph[*graph.find("q")].type.shape, call.symbols)[1], kWidth}, 3);
    call.constant = [](const Value& value, int64_t) {
        return drawn(evaluate(value.type.shape, {}), value.name == "k" ? 4 : 5);
    };
    return call;
}

GraphCall rounded_attention_call(const Graph& graph, int64_t start, int64_t rows, bool are_whole) {
    GraphCall call = divided_attention_call(graph, start, rows);
    const auto rounded = [](TensorData data, bool to_whole) {
        for (double& x : data.values) x = to_whole ? std::round(x) : round_to(ElementType::kBF16, x);
        return data;
    };
    call.inputs["q"] = rounded(call.inputs["q"], are_whole);
    call.constant = [drawn = call.constant, rounded, are_whole](const Value& value, int64_t repetition) {
        return rounded(drawn(value, repetition), are_whole && value.name == "k");
    };
    return call;
}

}  // namespace tessera::testing
