// Numbers of bodies, maps and predicates, by loops with lanes and without: the graph's interpreter, that of
// the lowered program and the compiled code agree to the bit, zeros by their signs, NaN as NaN.
#include <cmath>
#include <random>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/plan_variation.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

constexpr int64_t kWidth = 37;
constexpr int64_t kRows = 3;

/// Operators of one graph, each with the micro-kernels by which it is tried.
class Programs {
public:
    explicit Programs(int64_t lanes) : lanes_(lanes) {}

    /// `operands` beside those of the declarations; `along`: the iterator of the lanes, or "".
    void add(const std::string& declarations, const std::string& shape, const std::string& operands,
             const std::string& type, const std::string& along) {
        const std::string name = fmt::format("y{}", count_++);
        values_ += fmt::format("value {}: {}[{}]\n", name, type, shape);
        nodes_ += fmt::format("  node {}({}) -> {}\n{}", name, operands, name, declarations);
        outputs_ += (outputs_.empty() ? "" : ", ") + name;
        along_.push_back(along);
        what_.push_back(declarations);
    }
    /// A map of rows of f32, X and Z, and of the index operand `id` of the row.
    void map(const std::string& body, const std::string& type = "f32", const std::string& along = "d") {
        const Operands operands = operands_in(body);
        add(fmt::format("    op map(t: 3, d: 37)\n{}    out Y {}[t, d] = {}\n", operands.declarations, type,
                        body),
            "3, 37", operands.values, type, along);
    }
    /// Folds rows of the same.
    void fold(const std::string& body, const std::string& where, const std::string& along = "d") {
        const Operands operands = operands_in(body + " " + where);
        add(fmt::format("    op fold(t: 3, d*: 37)\n{}    out Y f32[t] = {}\n{}", operands.declarations, body,
                        where.empty() ? "" : "    where " + where + "\n"),
            "3", operands.values, "f32", along);
    }

    /// @param has_one_zero integers have no -0.0
    void expect_equal(const std::vector<GraphCall>& calls, bool has_one_zero = false) const {
        const Graph graph =
            parse_graph("graph \"numbers\"\ninput id: i32[3]\ninput x: f32[3, 37]\ninput z: f32[3, 37]\n" +
                            values_ + "block main\n" + nodes_ + "output " + outputs_ + "\n",
                        "numbers");
        verify(graph, "numbers");
        for (const backend::Backend& backend : backend::backends()) {
            SCOPED_TRACE(backend.name);
            CompiledPlans compiled(lanes_, backend);
            for (const bool has_lanes : {true, false}) compiled.add(graph, plan_of(graph, has_lanes));
            compiled.compile();
            for (const GraphCall& call : calls) {
                const GraphResult expected = interpret_graph(graph, call);
                for (size_t p = 0; p < 2; ++p) compare(compiled.run(p, call), expected, p == 0, has_one_zero);
            }
        }
    }

private:
    struct Operands {
        std::string declarations, values;
    };
    static Operands operands_in(const std::string& text) {
        Operands found;
        const auto add = [&](const char* name, const char* value, const char* declaration) {
            if (!std::regex_search(text, std::regex(fmt::format("\\b{}\\b", name)))) return;
            found.values += (found.values.empty() ? "" : ", ") + std::string(value);
            found.declarations += declaration;
        };
        add("id", "id", "    index id i32[t]\n");
        add("X", "x", "    in X f32[t, d]\n");
        add("Z", "z", "    in Z f32[t, d]\n");
        return found;
    }

    plan::Plan plan_of(const Graph& graph, bool has_lanes) const {
        plan::SpecialisationPlan s{.name = "all", .bounds = {}, .tensors = {}, .kernels = {}};
        for (size_t i = 0; i < along_.size(); ++i) {
            const std::string lanes =
                has_lanes && !along_[i].empty() ? fmt::format(" lanes={} x={}", lanes_, along_[i]) : "";
            s.kernels.push_back(
                {"main",
                 plan::parse_nest(fmt::format("y{}[loops{}]", i, lanes), "nest", kernels::micro_kernels()),
                 false});
        }
        return placed_and_verified(
            graph, {.graph = graph.name, .machine = "test", .stored = {}, .specialisations = {s}});
    }

    void compare(const GraphResult& got, const GraphResult& expected, bool has_lanes,
                 bool has_one_zero) const {
        for (size_t o = 0; o < expected.outputs.size(); ++o) {
            for (size_t i = 0; i < expected.outputs[o].values.size(); ++i) {
                const double a = got.outputs[o].values[i], b = expected.outputs[o].values[i];
                const bool both_nan = std::isnan(a) && std::isnan(b);
                // An operation of f32 for each operation of the notation.
                const bool is_near = a == b || std::abs(a - b) <= 3e-7 * std::abs(b);
                ASSERT_TRUE(both_nan ||
                            (is_near && (b != 0 || has_one_zero || std::signbit(a) == std::signbit(b))))
                    << what_[o] << (has_lanes ? "in lanes" : "scalar") << ", element " << i << ": " << a
                    << ", expected " << b;
            }
        }
    }

    int64_t lanes_;
    int count_ = 0;
    std::string values_, nodes_, outputs_;
    std::vector<std::string> along_, what_;
};

TensorData numbers(std::mt19937_64& random) {
    const float special[] = {NAN,   INFINITY, -INFINITY, 0.0F, -0.0F, 1.0F, -1.0F, 2.5F, -2.5F,
                             3e38F, -127.5F,  128.5F,    1e9F, -1e9F, 7.0F, -7.0F, 0.5F, 1e-40F};
    TensorData data{{kRows, kWidth}, {}};
    for (int64_t i = 0; i < kRows * kWidth; ++i) {
        const auto pick = static_cast<size_t>(random() % 36);
        data.values.push_back(pick < std::size(special)
                                  ? special[pick]
                                  : static_cast<float>(static_cast<int64_t>(random() % 2001) - 1000) / 16);
    }
    return data;
}

GraphCall call_of(const std::vector<double>& id, std::mt19937_64& random) {
    GraphCall call;
    call.inputs["id"] = {{kRows}, id};
    call.inputs["x"] = numbers(random);
    call.inputs["z"] = numbers(random);
    return call;
}

std::vector<GraphCall> calls() {
    std::mt19937_64 random(5);
    return {call_of({-7, 0, 9}, random), call_of({INT32_MAX, INT32_MIN, -1}, random),
            call_of({36, 2147483646, 100}, random)};
}

class Numbers : public ::testing::TestWithParam<int64_t> {};

TEST_P(Numbers, NanStaysAndZerosKeepTheirPlace) {
    Programs programs(GetParam());
    for (const char* body :
         {"max(X, 0)", "min(max(X, -1), 1)", "max(0, X)", "min(0, X)", "max(X, Z)", "min(X, Z)",
          "min(-0.0, X)", "abs(X)", "round(X)", "select(X > Z, X, Z)", "select(X == X, 1, Z)", "X <= Z",
          "not (X < Z)", "max(abs(X), abs(Z))", "-max(X, -Z)", "X / Z", "max(X * Z, X - Z)"})
        programs.map(body);
    for (const char* monoid : {"max(X)", "min(X)", "max(abs(X)) / 127", "-min(X * Z)"})
        for (const char* where : {"", "d <= id", "X > -3", "d != 5 and Z == Z"}) programs.fold(monoid, where);
    programs.expect_equal(calls());
}

TEST_P(Numbers, DivAndModOfFloatsAreThoseOfTheNotation) {
    Programs programs(GetParam());
    for (const char* body :
         {"X div Z", "X mod Z", "X div 3", "X mod 3", "X mod -0.75", "X div id", "d mod X", "(X < 1) mod 2"})
        programs.map(body);
    programs.expect_equal(calls());
}

TEST_P(Numbers, IntegersAreExact) {
    Programs programs(GetParam());
    for (const char* body : {"d * 100000000",
                             "-d * 100000000",
                             "abs(d - 7) * 300000000",
                             "d < 3000000000",
                             "d > -3000000000",
                             "d * 100000001 == 1700000017",
                             "id + d",
                             "d - id",
                             "id * 3",
                             "abs(id)",
                             "-id",
                             "id mod 8",
                             "id div 3",
                             "id mod -8",
                             "id div -3",
                             "7 mod (d + 1)",
                             "id div (d + 1)",
                             "id mod (d - 3)",
                             "100 div (d - 3)",
                             "d <= id",
                             "d <= id + 1",
                             "d >= id - 1",
                             "d - 3 == id",
                             "select(d < 3, d * 1000000000, id)",
                             "select(X > 0, d, 36 - d) * 1000000007 mod 1000",
                             "round(d * 1000000000)",
                             "not d",
                             "d and id",
                             "X + d * 100000000",
                             "i8(d * 100)",
                             "i8(id)",
                             "u8(X)",
                             "i8(X)",
                             "i4(X) + 1",
                             "sqrt(d * 1000000)"})
        programs.map(body);
    // Not of one step a lane.
    for (const char* body : {"(id + d) mod 5", "(d - 20) div 6", "(d - 20) mod 6", "max(d * 1000000000, id)",
                             "min(d, 5) * id", "d * (id + 2147483647)"})
        programs.map(body, "f32", "");
    for (const char* body : {"id", "id - 1", "d * 100000000", "d * 1000000", "abs(id) mod 1000003"})
        programs.map(body, "i32");
    for (const char* where : {"d <= id + 1", "d < id", "d * 100000000 <= 2000000000", "id - d >= 0",
                              "abs(d - 9) <= 4 or d == id"})
        programs.fold("sum(d)", where);
    for (const char* where : {"d mod 3 == 1 or d == id", "d * id > 5"}) programs.fold("sum(d)", where, "");
    programs.expect_equal(calls(), true);
}

/// Integers that may be negative choose the elements that a map reads; all of these exist.
TEST_P(Numbers, NegativeElementsOfIndexOperandsFloor) {
    Programs programs(GetParam());
    std::mt19937_64 random(11);
    const auto pick = [&](int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    const auto add = [&](const std::string& at) {
        programs.add(fmt::format("    op choose(t: 3, d: 37)\n    index id i32[t]\n"
                                 "    in X f32[{}, d] of [3, 37]\n    out Y f32[t, d] = X\n",
                                 at),
                     "3, 37", "id, x", "f32", "d");
    };
    for (int i = 0; i < 16; ++i) {
        const int64_t a = pick(-3, 3), b = pick(-40, 40), c = pick(1, 9) * (pick(0, 2) == 0 ? -1 : 1);
        const std::string linear = fmt::format("{} * id[t] + {} * t + {}", a, pick(-5, 5), b);
        switch (pick(0, 3)) {
            case 0:
                add(fmt::format("({}) mod 3", linear));
                break;
            case 1:
                add(fmt::format("(({}) div {}) mod 3", linear, c));
                break;
            case 2:
                add(fmt::format("(({}) mod {} + 20) mod 3", linear, c));
                break;
            default:
                add(fmt::format("2 + ({}) mod -3", linear));
        }
    }
    programs.expect_equal(calls());
}

/// Rows of which nothing is executed have an index that points nowhere.
TEST_P(Numbers, IndicesOfWhatIsNotExecutedPointAnywhere) {
    Programs programs(GetParam());
    for (const char* monoid : {"min(X)", "max(X)", "max(select(d < 9, X, 1))"})
        programs.add(fmt::format("    op chosen(t: 3, d*: 37)\n    index id i32[t]\n"
                                 "    in X f32[id[t], d] of [3, 37]\n    out Y f32[t] = {}\n"
                                 "    where d > id - 5 and d + 2147483600 > id and id >= 0\n",
                                 monoid),
                     "3", "id, x", "f32", "d");
    std::mt19937_64 random(3);
    programs.expect_equal({call_of({-7, 2, INT32_MAX}, random), call_of({1000000, 0, INT32_MIN}, random)});
}

INSTANTIATE_TEST_SUITE_P(Lanes, Numbers, ::testing::ValuesIn(host_lanes()));

constexpr const char* kSumOfBytes = R"(graph "sums"
input x: i8[3, {0}]
value y: i32[3]
block main
  node y(x) -> y
    op total(t: 3, d*: {0})
    in X i8[t, d]
    out Y i32[t] = sum(X * X)
output y
)";

plan::Plan loops_of(const Graph& graph) {
    plan::SpecialisationPlan s{.name = "all", .bounds = {}, .tensors = {}, .kernels = {}};
    s.kernels = {{"main", plan::parse_nest("y[loops]", "nest", kernels::micro_kernels()), false}};
    return placed_and_verified(
        graph, {.graph = graph.name, .machine = "test", .stored = {}, .specialisations = {s}});
}

TEST(WholeSums, BeyondF32AreRefused) {
    const Graph small = parse_graph(fmt::format(kSumOfBytes, 1024), "sums");
    CompiledPlans compiled(4);
    compiled.add(small, loops_of(small));
    compiled.compile();
    GraphCall call;
    call.inputs["x"] = {{3, 1024}, std::vector<double>(3 * 1024, -128)};
    EXPECT_EQ(compiled.run(0, call).outputs[0].values[2], 1024 * 16384);
    const Graph large = parse_graph(fmt::format(kSumOfBytes, 1025), "sums");
    try {
        CompiledPlans(4).add(large, loops_of(large));
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("`Y`: is a sum of integers that may exceed 2^24"),
                  std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace tessera::testing
