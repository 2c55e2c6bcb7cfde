// Names come from checkpoints, folders and files of graphs: whatever they are, the emitted C++ compiles,
// computes the same as the interpreter, and contains no part of them outside identifiers and comments.
#include <cctype>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "backend/cpp/emit.h"
#include "search/planner/default_planner.h"
#include "search/planner/usual_machine.h"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A product of weights in blocks of bits, a product of floats, and maps, in a block that repeats.
constexpr const char* kNamedGraph = R"(graph "names"
symbol T in 1..23
point decode weight 1: T = 1
input x: f32[T, 24]
constant up_weight: bf16[37, 24] from "up.*" for 0..2
constant down_weight: bf16[24, 37] from "down.*" for 0..2
value z: f32[T, 24]
value h: f32[T, 24]
value up: f32[T, 37]
value norm: f32[T]
value down: f32[T, 24]
value y: f32[T, 24]
block start
  node h(x) -> h
    op half(t: T, n: 24)
    dim T in 1..23
    in X f32[t, n]
    out Y f32[t, n] = X * 0.5
block layer repeat 3 carry h -> y
  node up(h, up_weight) -> up
    op matmul(t: T, n: 37, k*: 24)
    dim T in 1..23
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
  node norm(up) -> norm
    op most(t: T, k*: 37)
    dim T in 1..23
    in X f32[t, k]
    out Y f32[t] = max(X)
  node down(up, down_weight) -> down
    op matmul(t: T, n: 24, k*: 37)
    dim T in 1..23
    in X f32[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
  node y(h, down, norm) -> y
    op add(t: T, n: 24)
    dim T in 1..23
    in A f32[t, n]
    in B f32[t, n]
    in G f32[t]
    out Y f32[t, n] = A + B * G
block end
  node z(y) -> z
    op twice(t: T, n: 24)
    dim T in 1..23
    in X f32[t, n]
    out Y f32[t, n] = X * 2
output z
)";

const std::vector<std::string> kSlots = {"x", "up_weight", "down_weight", "z", "h",   "up", "norm",
                                         "y", "down",      "start",       "n", "end", "t",  "layer",
                                         "k", "T",         "X",           "W", "Y",   "A",  "B"};

/// The first slots are values, nodes and blocks.
constexpr size_t kSlotsOutsideDefinitions = 10;

/// Words of C++, macros of its headers, and names that emitted code has for itself.
const std::vector<std::string> kNames = {
    "NULL",        "int8_t",     "INT64_MAX",   "errno",       "assert",
    "std",         "ntt",        "group",       "step",        "worker",
    "size_t",      "valid",      "n_lanes",     "t_lanes",     "h_body",
    "float",       "float_",     "_Bool",       "__x",         "EOF",
    "main",        "this",       "uint8_t",     "TesseraStep", "NAN",
    "tessera",     "CHAR_BIT",   "stdin",       "Factor1",     "int32_t",
    "fma",         "step0",      "p0",          "k_lanes",     "n_tile",
    "t_end",       "repetition", "memcpy",      "_",           "decode_up_body",
    "at",          "M_PI",       "_mm_pause",   "UINT8_C",     "decode",
    "linux",       "t_2",        "parts_of_up", "alignas",     "static_cast",
    "co_await",    "tile_body",  "INFINITY",    "a_b",         "offsetof",
    "lane",        "lane_2",     "v_x",         "i_t",         "s_T",
    "x_0",         "i0",         "X",           "part",        "gap",
    "kernel_y",    "body_y",     "outer",       "sum_2",       "lane_",
    "i_lane_end",  "v_",         "parts",       "t_tile",      "__amd64_",
    "lanes_of_i_t"};

/// Words of definitions, which only values, nodes and blocks may have as names.
const std::vector<std::string> kOfDefinitions = {"max", "sum", "select", "index", "where", "in",
                                                 "out", "f32", "op",     "min",   "lanes"};

/// Every slot has another of the names, from the one at `first`; every other time, some have words of
/// definitions.
std::map<std::string, std::string> names_from(size_t first) {
    std::map<std::string, std::string> names;
    for (size_t i = 0; i < kSlots.size(); ++i) names[kSlots[i]] = kNames[(first + i) % kNames.size()];
    if (first % 2 == 1)
        for (size_t i = 0; i < kSlotsOutsideDefinitions; ++i)
            names[kSlots[i]] = kOfDefinitions[(first + i) % kOfDefinitions.size()];
    return names;
}

std::string renamed(const std::map<std::string, std::string>& names) {
    const std::string_view text = kNamedGraph;
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::string result;
    bool is_quoted = false;
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && is_part(text[end])) ++end;
        if (end == at || is_quoted) {
            is_quoted ^= text[at] == '"';
            result += text[at++];
            continue;
        }
        const std::string word(text.substr(at, end - at));
        const auto found = names.find(word);
        result += found == names.end() ? word : found->second;
        at = end;
    }
    return result;
}

GraphCall call_of(const Graph& graph, const std::map<std::string, std::string>& names, int64_t tokens) {
    const auto values = [](int64_t count) {
        std::vector<double> result;
        for (int64_t i = 0; i < count; ++i) result.push_back(static_cast<double>(i * 37 % 64 - 31) / 128);
        return result;
    };
    GraphCall call;
    call.symbols = {{names.at("T"), tokens}};
    call.inputs[names.at("x")] = {{tokens, 24}, values(tokens * 24)};
    call.constant = [values](const Value& constant, int64_t) {
        const std::vector<int64_t> shape = evaluate(constant.type.shape, {});
        return TensorData{shape, values(shape[0] * shape[1])};
    };
    call.states = zero_states(graph, call.symbols);
    return call;
}

class HostileNamesIn : public ::testing::TestWithParam<std::string> {
protected:
    static const backend::Backend& backend() { return *backend::find_backend(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Code, HostileNamesIn, ::testing::ValuesIn(backend_names()), name_of_test);

TEST_P(HostileNamesIn, OfGraphsComputeTheSame) {
    const int64_t lanes = host_lanes().front();
    CompiledPlans compiled(lanes, backend());
    std::vector<Graph> graphs;
    for (size_t first = 0; first < kNames.size(); first += 5) {
        SCOPED_TRACE(first);
        graphs.push_back(parse_graph(renamed(names_from(first)), "renamed"));
        const Graph& graph = graphs.back();
        verify(graph, "renamed");
        planner::PlannerOptions options{.machine = "test", .lanes = lanes, .vector_registers = 32};
        options.workers = first % 2 == 0 ? 1 : 2;
        options = testing::on_usual_machine(options);
        compiled.add(graph, planner::complete_plan(graph, planner::initial_plan(graph, options), options));
    }
    compiled.compile();
    for (size_t g = 0; g < graphs.size(); ++g) {
        const GraphCall call = call_of(graphs[g], names_from(g * 5), 7);
        const Difference worst = difference(compiled.run(g, call), interpret_graph(graphs[g], call));
        EXPECT_LE(worst.relative, kTolerance) << worst.where << "\n" << print(graphs[g]);
    }
}

/// One name for a symbol, a value, a block and a node, whose iterators have those of variables.
TEST_P(HostileNamesIn, MayBeTheSameForEverything) {
    const int64_t lanes = host_lanes().front();
    CompiledPlans compiled(lanes, backend());
    std::vector<Graph> graphs;
    for (const std::string name : {"lane", "step", "team", "int64_t", "s_", "kernel"}) {
        const auto put = [&](std::string text) {
            for (size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, name);
            return text;
        };
        graphs.push_back(parse_graph(put(R"(graph "same"
symbol $ in 1..23
input X: f32[$, 37]
value $: f32[$, 37]
value Y: f32[$]
block $
  node $(X) -> $
    op map(worker: $, group: 37)
    dim $ in 1..23
    in X f32[worker, group]
    out Y f32[worker, group] = X * 2
  node Y($) -> Y
    op fold(valid: $, repetition*: 37)
    dim $ in 1..23
    in X f32[valid, repetition]
    out Y f32[valid] = max(X)
output $, Y
)")
                                         .c_str(),
                                     name));
        verify(graphs.back(), name);
        const planner::PlannerOptions options =
            testing::on_usual_machine({.machine = "test", .lanes = lanes, .vector_registers = 32});
        compiled.add(graphs.back(), planner::default_plan(graphs.back(), options));
    }
    compiled.compile();
    for (size_t g = 0; g < graphs.size(); ++g) {
        GraphCall call{.symbols = {{graphs[g].symbols.front().name, 5}}, .inputs = {}, .constant = {}};
        TensorData& x = call.inputs["X"] = {{5, 37}, {}};
        for (int i = 0; i < 5 * 37; ++i) x.values.push_back(i % 11 - 5);
        EXPECT_EQ(difference(compiled.run(g, call), interpret_graph(graphs[g], call)).relative, 0)
            << print(graphs[g]);
    }
}

TEST_P(HostileNamesIn, OfAModelStayInOneComment) {
    const auto emitted = [](const std::string& model) { return backend().emit(model, {}, {}).text; };
    const std::string plain = emitted("model"), rest = plain.substr(plain.find('\n'));
    for (const std::string name : {"a\n#error", "a\r#error", "a\\", "a?\?/", "*/ #error", "a\v\f#error",
                                   "\xe2\x80\xa8#error", "\xff\xfe", "\x1b[2J", "", "a\\\n#error"}) {
        const std::string code = emitted(name);
        const std::string line = code.substr(0, code.find('\n'));
        EXPECT_EQ(code.substr(line.size()), rest) << line;
        EXPECT_THAT(line, ::testing::StartsWith("// "));
        EXPECT_THAT(line, Not(HasSubstr("\\")));
        for (const char c : line) EXPECT_TRUE(' ' <= c && c <= '~') << line;
    }
}

/// Two pairs of names that join to one: `one_a` `b_c`, `one` `a_b_c`.
TEST(HostileNames, ThatJoinToOneAreTwoFunctions) {
    const auto kernel = [](const std::string& name, int64_t tile) {
        return movement::Kernel{.name = name, .body = {{movement::LocalTile{"tile", tile}}}};
    };
    const movement::Program program{
        .specialisation = "one",
        .blocks = {{"a_b", 1, {kernel("c", 1)}}, {"a", 1, {kernel("b_c", 2)}}, {"a_b", 1, {kernel("c", 3)}}}};
    const std::string code = backend::cpp::emit("model", {program}).text;
    for (const std::string name : {"one_a_b_c", "one_a_b_c_2", "one_a_b_c_3"})
        EXPECT_THAT(code, HasSubstr("void kernel_" + name + "([[maybe_unused]] const TesseraStep& step"))
            << code;
}

}  // namespace
}  // namespace tessera::testing
