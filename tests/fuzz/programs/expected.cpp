// Tolerances.
//
// An element that was only moved, chosen, compared or computed in integers is exact. Any other may differ by
// 3e-6 (F32), 1e-3 (F16) or 8e-3 (BF16) of the larger of itself and the root mean square of its tensor: sums
// have no order, and functions have last bits. The effect downstream depends on the program: a difference
// of near numbers, a comparison, a cast to integers. So the program is interpreted again with every operand
// and result of nodes that round changed by up to 2^-21, with a pattern of signs and with its opposite, and
// with every operation rounded to F32. Where results move by more than the tolerance, they may; where they
// turn from one of finite, NaN and infinities to another, anything may come out.
#include "fuzz/programs/expected.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "ir/result_type.h"
#include "support/error.h"

namespace tessera::fuzz {
namespace {

constexpr double kDisturbance = 0x1p-21;
constexpr uint64_t kPatterns = 3;
/// Disturbed results show less than the worst case.
constexpr double kMargin = 4;
constexpr double kLargestExactF32 = 0x1p24;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Below the normal range digits are lost (docs/rewriting.md).
constexpr double kSmallestNormal = std::numeric_limits<float>::min();

double tolerance_of(ElementType type) {
    if (is_integer(type)) return 0;
    if (type == ElementType::kF16) return 1e-3;
    return type == ElementType::kBF16 ? 8e-3 : 3e-6;
}

/// The arithmetic of an expression: in integers alone or not, with rounding or without.
struct Arithmetic {
    bool is_whole;
    bool rounds;
};

Arithmetic arithmetic_of(const Definition& d, const ExprPtr& expr) {
    if (const auto* read = std::get_if<Read>(&expr->node))
        return {is_integer(d.tensors[static_cast<size_t>(read->tensor)].type), false};
    if (const auto* number = std::get_if<Number>(&expr->node)) return {number->is_integer, false};
    if (std::holds_alternative<Folded>(expr->node)) return {false, false};
    if (const auto* cast = std::get_if<Cast>(&expr->node))
        return {is_integer(cast->to), arithmetic_of(d, cast->argument).rounds};
    const auto* apply = std::get_if<Apply>(&expr->node);
    if (!apply) return {!std::holds_alternative<Infinity>(expr->node), false};
    Arithmetic all{true, false};
    for (size_t i = 0; i < apply->arguments.size(); ++i) {
        const Arithmetic one = arithmetic_of(d, apply->arguments[i]);
        const bool is_condition = apply->function == Function::kSelect && i == 0;
        all.is_whole = all.is_whole && (one.is_whole || is_condition);
        all.rounds = all.rounds || one.rounds;
    }
    switch (apply->function) {
        case Function::kNegate:
        case Function::kMin:
        case Function::kMax:
        case Function::kAbs:
        case Function::kRound:
        case Function::kSelect:
            return all;
        case Function::kAdd:
        case Function::kSub:
        case Function::kMul:
        case Function::kFloorDiv:
        case Function::kMod:
            return {all.is_whole, all.rounds || !all.is_whole};
        default:
            if (is_comparison(apply->function) || arity(apply->function) == 0) return {true, all.rounds};
            if (apply->function == Function::kAnd || apply->function == Function::kOr ||
                apply->function == Function::kNot)
                return {true, all.rounds};
            return {false, true};
    }
}

bool rounds(const Definition& d) {
    bool is_whole = true;
    for (const ExprPtr& expr : d.body) {
        const Arithmetic body = arithmetic_of(d, expr);
        is_whole = is_whole && body.is_whole;
        if (body.rounds) return true;
    }
    if (d.post && (arithmetic_of(d, d.post).rounds)) return true;
    if (d.monoid == Monoid::kSoftmaxSum) return true;
    const bool adds = d.monoid == Monoid::kSum || d.monoid == Monoid::kProd;
    return adds && !(is_whole && is_integer(d.accumulator));
}

ExprPtr with_rounded_steps(const Definition& d, const ExprPtr& expr) {
    if (const auto* cast = std::get_if<Cast>(&expr->node))
        return tessera::cast(cast->to, with_rounded_steps(d, cast->argument));
    const auto* apply = std::get_if<Apply>(&expr->node);
    if (!apply) return expr;
    std::vector<ExprPtr> arguments;
    for (const ExprPtr& argument : apply->arguments) arguments.push_back(with_rounded_steps(d, argument));
    const bool is_whole = arithmetic_of(d, expr).is_whole;
    ExprPtr step = tessera::apply(apply->function, std::move(arguments));
    return is_whole ? step : tessera::cast(ElementType::kF32, std::move(step));
}

/// Every operation of the expressions rounds to F32: where large numbers cancel, this shows.
Definition with_rounded_steps(const Definition& d) {
    Definition rounded = d;
    for (ExprPtr& expr : rounded.body) expr = with_rounded_steps(d, expr);
    if (d.post) rounded.post = with_rounded_steps(d, d.post);
    return rounded;
}

/// Changes numbers by up to a fraction of themselves, the same way for the same seed.
class Disturbance {
public:
    /// `sign`: 0 changes nothing.
    Disturbance(uint64_t seed, double sign) : engine_(seed), sign_(sign) {}
    bool is_any() const { return sign_ != 0; }
    TensorData of(TensorData data, ElementType type) {
        if (sign_ == 0) return data;
        for (double& v : data.values) {
            const double uniform = static_cast<double>(engine_() >> 11) * 0x1p-52 - 1;
            // An integer is disturbed where F32 does not hold it.
            if (is_integer(type) && std::abs(v) <= kLargestExactF32) continue;
            if (std::isfinite(v)) v *= 1 + sign_ * kDisturbance * uniform;
        }
        return data;
    }

    /// Reductions by `min` and `max` have no order either: which of two zeros they give is open.
    TensorData of_extremes(TensorData data) const {
        if (sign_ < 0)
            for (double& v : data.values)
                if (v == 0) v = -v;
        return data;
    }

private:
    std::mt19937_64 engine_;
    double sign_;
};

struct Run {
    std::vector<TensorData> values;  ///< as the graph's
    std::vector<bool> is_exact;
};

Run run(const Program& program, Disturbance disturbance) {
    const Graph& graph = program.graph;
    const bool is_disturbed = disturbance.is_any();
    Run made{std::vector<TensorData>(graph.values.size()), std::vector<bool>(graph.values.size(), true)};
    const auto at = [&](ValueId id) { return static_cast<size_t>(id.index); };
    for (size_t i = 0; i < graph.values.size(); ++i) {
        const Value& value = graph.values[i];
        if (value.kind == ValueKind::kInput) made.values[i] = program.inputs.at(value.name);
        if (value.kind == ValueKind::kConstant) made.values[i] = constant_of(program, value, 0);
        if (value.kind == ValueKind::kState) made.values[i] = program.states.at(value.name);
    }
    for (const Node& node : graph.blocks.front().nodes) {
        const Definition& d = *node.definition();
        const bool is_rounding = rounds(d);
        bool is_exact = !is_rounding;
        std::vector<TensorData> operands(d.tensors.size());
        size_t next = 0;
        for (size_t i = 0; i < operands.size(); ++i) {
            const Role role = d.tensors[i].role;
            if (role == Role::kOut) continue;
            const ValueId id = role == Role::kUpdate ? node.previous.value() : node.operands.at(next++);
            operands[i] = made.values[at(id)];
            is_exact = is_exact && made.is_exact[at(id)];
            if (is_rounding && role == Role::kIn)
                operands[i] = disturbance.of(std::move(operands[i]), d.tensors[i].type);
        }
        const BoundExtents extents = bound_extents(d, dims_of(d, program.symbols), node.name);
        std::vector<TensorData> results = interpret(is_disturbed ? with_rounded_steps(d) : d, extents,
                                                    operands, node.name, /*round_results=*/false,
                                                    /*held=*/nullptr, InfiniteScores::kNothing);
        for (size_t r = 0; r < results.size(); ++r) {
            const ElementType type = d.tensors[static_cast<size_t>(d.results()[r])].type;
            if (is_rounding) results[r] = disturbance.of(std::move(results[r]), ElementType::kF32);
            if (d.monoid == Monoid::kMin || d.monoid == Monoid::kMax)
                results[r] = disturbance.of_extremes(std::move(results[r]));
            for (double& v : results[r].values) v = round_to(type, v);
            made.values[at(node.results[r])] = std::move(results[r]);
            made.is_exact[at(node.results[r])] = is_exact;
        }
    }
    return made;
}

double root_mean_square(const TensorData& data) {
    double sum = 0, count = 0;
    for (const double v : data.values) {
        if (!std::isfinite(v)) continue;
        sum += v * v;
        ++count;
    }
    return count == 0 ? 0 : std::sqrt(sum / count);
}

bool is_alike(double a, double b) {
    if (std::isfinite(a) && std::isfinite(b)) return true;
    return a == b || (std::isnan(a) && std::isnan(b));
}

ExpectedTensor expected_tensor(const std::string& name, ElementType type, ValueId id, const Run& made,
                               const std::vector<Run>& disturbed) {
    const auto at = static_cast<size_t>(id.index);
    ExpectedTensor expected{name, type, made.values[at], {}};
    const double size = root_mean_square(expected.data);
    for (size_t i = 0; i < expected.data.values.size(); ++i) {
        const double v = expected.data.values[i];
        double tolerance = 0;
        if (!made.is_exact[at] && !is_integer(type))
            tolerance = std::max(tolerance_of(type) * std::max(std::abs(v), size), kSmallestNormal);
        for (const Run& other : disturbed) {
            const double w = other.values[at].values[i];
            if (!is_alike(v, w))
                tolerance = kInfinity;
            else if (std::isfinite(v) && v != w)
                tolerance = std::max(tolerance, kMargin * std::abs(v - w));
            else if (v == 0 && std::signbit(v) != std::signbit(w))
                tolerance = std::max(tolerance, kSmallestNormal);
        }
        expected.tolerance.push_back(tolerance);
    }
    return expected;
}

std::string difference(const ExpectedTensor& expected, const TensorData& got) {
    if (got.values.size() != expected.data.values.size())
        return fmt::format("{} has {} elements, expected {}", expected.name, got.values.size(),
                           expected.data.values.size());
    for (size_t i = 0; i < got.values.size(); ++i) {
        const double a = got.values[i], b = expected.data.values[i], tolerance = expected.tolerance[i];
        if (tolerance == kInfinity || (std::isnan(a) && std::isnan(b))) continue;
        const bool is_equal =
            tolerance == 0 ? a == b && (is_integer(expected.type) || std::signbit(a) == std::signbit(b))
                           : a == b || std::abs(a - b) <= tolerance;
        if (!is_equal)
            return fmt::format("{}, element {}: {} instead of {}, tolerance {:.3g}", expected.name, i, a, b,
                               tolerance);
    }
    return "";
}

}  // namespace

Expected expected_of(const Program& program) {
    const Graph& graph = program.graph;
    const Run made = run(program, Disturbance(0, 0));
    std::vector<Run> disturbed;
    for (uint64_t pattern = 1; pattern <= kPatterns; ++pattern)
        for (const double sign : {1.0, -1.0}) disturbed.push_back(run(program, Disturbance(pattern, sign)));
    Expected expected;
    for (const ValueId id : graph.outputs)
        expected.outputs.push_back(
            expected_tensor(graph[id].name, graph[id].type.element, id, made, disturbed));
    for (const StateUpdate& update : graph.blocks.front().states)
        expected.states.push_back(expected_tensor(
            graph[update.before].name, graph[update.before].type.element, update.after, made, disturbed));
    const std::string wrong = difference(expected, interpret_graph(graph, program.call()));
    TESSERA_CHECK(wrong.empty(), "the interpreter of graphs contradicts that of its nodes: {}", wrong);
    return expected;
}

std::vector<TensorData> values_of(const Program& program) {
    return run(program, Disturbance(0, 0)).values;
}

std::string difference(const Expected& expected, const GraphResult& got) {
    if (got.outputs.size() != expected.outputs.size())
        return fmt::format("there are {} outputs, expected {}", got.outputs.size(), expected.outputs.size());
    for (size_t o = 0; o < expected.outputs.size(); ++o) {
        const std::string wrong = difference(expected.outputs[o], got.outputs[o]);
        if (!wrong.empty()) return "output " + wrong;
    }
    for (const ExpectedTensor& state : expected.states) {
        const auto found = got.states.find(state.name);
        if (found == got.states.end()) return fmt::format("state {} is gone", state.name);
        const std::string wrong = difference(state, found->second.at(0));
        if (!wrong.empty()) return "state " + wrong;
    }
    return "";
}

Strictness strictness_of(const Expected& expected) {
    Strictness all;
    for (const auto* tensors : {&expected.outputs, &expected.states}) {
        for (const ExpectedTensor& tensor : *tensors) {
            for (const double tolerance : tensor.tolerance)
                ++(tolerance == 0 ? all.exact : tolerance == kInfinity ? all.open : all.rounded);
        }
    }
    return all;
}

}  // namespace tessera::fuzz
