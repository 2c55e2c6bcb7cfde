#include "lowering/movement/example_plans.h"

#include <random>
#include <set>

#include "lowering/kernels/micro_kernels.h"
#include "search/planner/place_buffers.h"
#include "search/planner/verify_plan.h"

namespace tessera::testing {
namespace {

TensorData drawn(ElementType type, std::vector<int64_t> shape, uint64_t seed) {
    TensorData data{std::move(shape), {}};
    size_t count = 1;
    for (const int64_t extent : data.shape) count *= static_cast<size_t>(extent);
    std::mt19937_64 random(seed);
    for (size_t i = 0; i < count; ++i) {
        const double unit = std::uniform_real_distribution<double>(0, 1)(random);
        const double low = is_integer(type) ? static_cast<double>(range(type).low) : -1;
        const double high = is_integer(type) ? static_cast<double>(range(type).high) : 1;
        data.values.push_back(round_to(type, low + unit * (high - low)));
    }
    return data;
}

}  // namespace

const std::map<std::string, Example>& examples() {
    static const std::string products = R"(graph "products"
symbol T in 1..64
input x: f32[T, 48]
constant w: f32[40, 48] from "w"
constant bias: f32[40] from "bias"
value y: f32[T, 40]

block main
  node y(x, w, bias) -> y
    op linear(t: T, n: 40, k*: 48)
    dim T in 1..64
    in X f32[t, k]
    in W f32[n, k]
    in b f32[n]
    out Y f32[t, n] = sum(X * W) + b

output y
)";
    static const std::string attention = R"(graph "attention"
symbol T in 1..64
input position: i32[T]
input q: f32[T, 32]
constant k: f32[128, 32] from "k"
constant v: f32[128, 32] from "v"
value scores: f32[T, 128]
value largest: f32[T]
value weights: f32[T]
value weighted: f32[T, 32]
value y: f32[T, 32]

block main
  node scores(position, q, k) -> scores
    op scores(t: T, s: 128, e*: 32)
    dim T in 1..64
    index position i32[t]
    in Q f32[t, e]
    in K f32[s, e]
    out P f32[t, s] = sum(Q * K) * 0.1767767
    where s <= position[t]
  node attend(position, scores, v) -> largest, weights, weighted
    op attend(t: T, d: 32, s*: 128)
    dim T in 1..64
    index position i32[t]
    in P f32[t, s]
    in V f32[s, d]
    out M f32[t], L f32[t], A f32[t, d] = softmax_sum(P, V)
    where s <= position[t]
  node y(weighted, weights) -> y
    op normalise(t: T, d: 32)
    dim T in 1..64
    in A f32[t, d]
    in L f32[t]
    out Y f32[t, d] = A / L

output y
)";
    static const std::string rounded = [] {
        std::string text = attention;
        const auto replace = [&](const std::string& from, const std::string& to) {
            text.replace(text.find(from), from.size(), to);
        };
        replace("constant v: f32", "constant v: bf16");
        replace("in V f32", "in V bf16");
        const std::string where = "where s <= position[t]\n";
        text.insert(text.rfind(where) + where.size(), "    weights bf16\n");
        return text;
    }();
    static const std::map<std::string, plan::TensorPlan> in_tiles = {
        {"scores", {.place = plan::Place::kTile}},
        {"largest", {.place = plan::Place::kTile}},
        {"weights", {.place = plan::Place::kTile}},
        {"weighted", {.place = plan::Place::kTile}}};
    static const std::map<std::string, Example> all = {
        {"loops",
         {R"(graph "rms_norm"
symbol T in 1..64
input x: f32[T, 50]
constant w: f32[50] from "w"
value norm: f32[T]
value y: f32[T, 50]

block main
  node norm(x) -> norm
    op rms_reduce(t: T, d*: 50)
    dim T in 1..64
    in X f32[t, d]
    out R f32[t] = rsqrt(sum(X * X) / 50 + 1e-06)
  node y(x, norm, w) -> y
    op rms_apply(t: T, d: 50)
    dim T in 1..64
    in X f32[t, d]
    in R f32[t]
    in W f32[d]
    out Y f32[t, d] = X * R * W

output y
)",
          {"t:1 { norm[loops lanes=8 x=d]; y[loops lanes=8 x=d] }"},
          {},
          {{"norm", {.place = plan::Place::kTile}}}}},
        {"contract",
         {products,
          {"n:16 { y[contract groups=2 k=k lanes=8 m=t n=n partial_sums=2 rows=4] }"},
          {{"w", {{}, {{0, 8}}}}},
          {}}},
        {"convolution",
         {R"(graph "convolution"
symbol T in 1..64
input x: f32[T, 6, 10, 14]
constant w: f32[12, 6, 3, 5] from "w"
value y: f32[T, 8, 10, 12]

block main
  node y(x, w) -> y
    op convolution(t: T, n: 12, o: 8, p: 10, c*: 6, r*: 3, s*: 5)
    dim T in 1..64
    in X f32[t, c, o + r, p + s] of [T, 6, 10, 14]
    in W f32[n, c, r, s]
    out Y f32[t, o, p, n] = sum(X * W)

output y
)",
          {"t:1 o:3 { y[contract groups=1 k=c lanes=8 m=p n=n rows=4] }"},
          {{"w", {{}, {{0, 8}}}}},
          {}}},
        {"contract_blocks",
         {R"(graph "blocks"
symbol T in 1..64
input x: i8[T, 64]
input low: i8[T, 64]
input scales: f32[T, 2]
constant w_q: u4[40, 64] from "w#q"
constant w_d: f16[40, 2] from "w#d"
constant w_m: f16[40, 2] from "w#m"
value y: f32[T, 40]

block main
  node y(x, low, scales, w_q, w_d, w_m) -> y
    op product(t: T, n: 40, k*: 64)
    dim T in 1..64
    in X i8[t, k]
    in L i8[t, k]
    in S f32[t, k div 32]
    in q u4[n, k]
    in d f16[n, k div 32]
    in m f16[n, k div 32]
    out Y f32[t, n] = sum((X * 256 + L) * S * (q * d + m))

output y
)",
          {"n:16 { y[contract_blocks groups=2 k=k lanes=8 m=t n=n prefetch=512 rows=4 streams=2] }"},
          {{"w_q", {{}, {{0, 8}, {1, 4}}}}, {"w_d", {{}, {{0, 8}}}}, {"w_m", {{}, {{0, 8}}}}},
          {}}},
        {"contract_block_tiles",
         {R"(graph "blocks"
symbol T in 1..64
input x: i8[T, 64]
input low: i8[T, 64]
input scales: f32[T, 1]
constant w_q: i8[40, 64] from "w#q"
constant w_d: f16[40, 2] from "w#d"
value y: f32[T, 40]

block main
  node y(x, low, scales, w_q, w_d) -> y
    op product(t: T, n: 40, k*: 64)
    dim T in 1..64
    in X i8[t, k]
    in L i8[t, k]
    in S f32[t, k div 64]
    in q i8[n, k]
    in d f16[n, k div 32]
    out Y f32[t, n] = sum((X * 128 + L) * S * (q * d))

output y
)",
          {"n:16 { y[contract_block_tiles depth=32 groups=2 k=k lanes=8 m=t n=n tile_rows=16] }"},
          {{"w_q", {{}, {{0, 8}, {1, 4}}}}, {"w_d", {{}, {{0, 8}}}}},
          {}}},
        {"contract_tiles",
         {R"(graph "tiles"
symbol T in 1..64
constant table: bf16[64, 48] from "table"
constant w: bf16[40, 48] from "w"
value x: bf16[T, 48] rounded
value y: f32[T, 40]

block main
  node x(table) -> x
    op rows(t: T, k: 48)
    dim T in 1..64
    in E bf16[t, k] of [64, 48]
    out X bf16[t, k] = E
  node y(x, w) -> y
    op linear(t: T, n: 40, k*: 48)
    dim T in 1..64
    in X bf16[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)

output y
)",
          {"x[loops lanes=8 x=k]",
           "n:16 { y[contract_tiles depth=32 groups=2 k=k lanes=8 m=t n=n rows=2 tile_rows=16] }"},
          {{"w", {{}, {{0, 8}, {1, 2}}}}},
          {{"x", {}}}}},
        {"dot", {products, {"y[dot columns=4 k=k lanes=8 m=t n=n rows=2]"}, {}, {}}},
        {"stream",
         {attention,
          {"t:1 { s:32 { scores[contract groups=4 k=e lanes=8 n=s]; attend[stream d=d groups=4 lanes=8] }; "
           "y[loops lanes=8 x=d] }"},
          {{"k", {{1, 0}, {}}}},
          in_tiles}},
        {"stream_tiles",
         {rounded,
          {"t:16 { s:32 { scores[contract groups=4 k=e lanes=8 m=t n=s]; attend[stream_tiles d=d depth=32 "
           "groups=2 lanes=8 m=t rows=2 tile_rows=8] }; y[loops lanes=8 x=d] }"},
          {{"k", {{1, 0}, {}}}},
          in_tiles}},
        {"chunk",
         {R"(graph "state_space"
symbol T in 1..64
input k: f32[T, 12]
input v: f32[T, 2, 16]
input a: f32[T, 2]
state s: f32[2, 12, 16]
value s_new: f32[2, 12, 16]
value y: f32[T, 2, 16]

block main
  update s -> s_new
  node scan(k, v, a) over s -> s_new, y
    op state_space(h: 2, n*: 12, p: 16, i>: T)
    dim T in 1..64
    in K f32[i, n] of [T, 12]
    in V f32[i, h, p] of [T, 2, 16]
    in A f32[i, h] of [T, 2]
    carry S f32[h, n, p] of [2, 12, 16]
    carry S = S * exp(-abs(A)) + A * K * V
    out Y f32[i, h, p] of [T, 2, 16] = sum(S * K) + V
    regrouped

output y
)",
          {"scan[chunk lanes=8 steps=4 x=p]"},
          {},
          {{"s_new", {.place = plan::Place::kInPlace, .of = "s"}}}}},
        {"combine",
         {attention,
          {"t:1 { s:32@worker { scores[contract groups=4 k=e lanes=8 n=s]; attend[stream d=d groups=4 "
           "lanes=8] } }",
           "d:8@worker { attend[combine lanes=8 x=d]; y[loops lanes=8 x=d] }"},
          {{"k", {{1, 0}, {}}}},
          {{"scores", {.place = plan::Place::kTile}},
           {"largest", {.place = plan::Place::kTile}},
           {"weights", {.place = plan::Place::kTile}},
           {"weighted", {.place = plan::Place::kTile}},
           {"parts of largest", {.each_worker = true}},
           {"parts of weights", {.each_worker = true}},
           {"parts of weighted", {.each_worker = true}}},
          3}},
    };
    return all;
}

std::vector<std::string> example_names() {
    std::set<std::string> names;
    for (const auto& [name, example] : examples()) names.insert(name);
    for (const plan::MicroKernel* kernel : kernels::micro_kernels()) names.emplace(kernel->name);
    return {names.begin(), names.end()};
}

Graph Example::parsed() const {
    Graph parsed = parse_graph(graph, "example");
    verify(parsed, "example");
    return parsed;
}

GraphCall Example::call(int64_t tokens) const {
    const Graph of = parsed();
    GraphCall call;
    call.symbols = {{"T", tokens}};
    uint64_t seed = 1;
    for (const Value& value : of.values) {
        if (value.kind != ValueKind::kInput) continue;
        TensorData data = drawn(value.type.element, evaluate(value.type.shape, call.symbols), ++seed);
        if (value.type.element == ElementType::kI32) {
            for (size_t i = 0; i < data.values.size(); ++i) data.values[i] = static_cast<double>(7 * i % 128);
        }
        call.inputs[value.name] = std::move(data);
    }
    call.states = zero_states(of, call.symbols);
    call.constant = [](const Value& constant, int64_t) {
        return drawn(constant.type.element, evaluate(constant.type.shape, {}), constant.name.back());
    };
    return call;
}

plan::Plan Example::planned() const {
    const Graph of = parsed();
    plan::SpecialisationPlan s{.name = "all", .bounds = {}, .tensors = tensors, .kernels = {}};
    for (const DimSymbol& symbol : of.symbols) s.bounds[symbol.name] = {symbol.low, symbol.high};
    for (const std::string& nest : nests) {
        const bool barrier = workers > 1 && !s.kernels.empty();
        s.kernels.push_back({"main", plan::parse_nest(nest, "example", kernels::micro_kernels()), barrier});
    }
    plan::Plan plan{
        .graph = of.name, .machine = "test", .workers = workers, .stored = stored, .specialisations = {s}};
    plan = planner::place_buffers(of, std::move(plan));
    planner::verify_plan(of, plan, "example");
    return plan;
}

}  // namespace tessera::testing
