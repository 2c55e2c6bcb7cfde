// Reductions along axes, arg-reductions, running sums.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

struct Reduction {
    std::vector<size_t> axes;
    bool keeps = true;
    bool does_nothing = false;  ///< no axes, and that means none: the function of each element remains
};

/// The axes are an attribute in old versions, and an input in new ones.
Reduction reduction_of(const Call& call) {
    const size_t rank = call.in(0).rank();
    std::vector<int64_t> numbers = call.integers("axes");
    if (call.has(1)) numbers = call.known_integers(1);
    Reduction reduction{.axes = call.axes(numbers, rank), .keeps = call.integer("keepdims", 1) != 0};
    if (!numbers.empty()) return reduction;
    reduction.does_nothing = call.integer("noop_with_empty_axes", 0) != 0;
    reduction.axes.resize(reduction.does_nothing ? 0 : rank);
    std::iota(reduction.axes.begin(), reduction.axes.end(), size_t{0});
    return reduction;
}

/// Folds `before` of each element, then applies `after`, in which `A` is the fold.
Operand reduced(const Call& call, const Operand& x, const Reduction& how, const char* monoid,
                const char* before, const char* after) {
    const DataType type = x.type, wide = sum_type(type);
    if (how.does_nothing) {
        const std::string value = fmt::format("({})", before);
        std::string body;
        for (const char* c = after; *c != '\0'; ++c) body += *c == 'F' ? value : std::string(1, *c);
        for (char& c : body) c = c == 'X' ? 'A' : c;
        return elementwise(call, {x}, wrapped(body, type));
    }
    std::string body;
    for (const char* c = after; *c != '\0'; ++c)
        body += *c == 'F' ? fmt::format("{}({})", monoid, before) : std::string(1, *c);
    return cast(call, reduce(call, x, how.axes, how.keeps, wrapped(body, type), wide), type);
}

template <int kKind>
Results reduce_operator(const Call& call) {
    struct Form {
        const char *monoid, *before, *after;
    };
    constexpr std::array<Form, 8> kForms = {{{"sum", "X", "F"},
                                             {"prod", "X", "F"},
                                             {"max", "X", "F"},
                                             {"min", "X", "F"},
                                             {"sum", "abs(X)", "F"},
                                             {"sum", "X * X", "sqrt(F)"},
                                             {"sum", "X * X", "F"},
                                             {"sum", "X", "log(F)"}}};
    const Form& form = kForms[kKind];
    const bool has_roots = form.after[1] != '\0';
    if (has_roots && is_integer(call.in(0).type)) {
        // Roots and logarithms of integers are truncated floats.
        const Operand real = cast(call, call.in(0), DataType::kDouble);
        return {cast(call, reduced(call, real, reduction_of(call), form.monoid, form.before, form.after),
                     call.in(0).type)};
    }
    return {reduced(call, call.in(0), reduction_of(call), form.monoid, form.before, form.after)};
}

Results reduce_mean(const Call& call) {
    const Operand& x = call.in(0);
    const Reduction how = reduction_of(call);
    const Operand sum = reduced(call, x, how, "sum", "X", "F");
    if (how.does_nothing) return {sum};
    if (!is_integer(x.type))
        return {elementwise(call, {sum}, fmt::format("A / {}", count_text(x, how.axes)))};
    int64_t count = 1;
    for (const size_t axis : how.axes) count *= call.extent(x, axis);
    if (count == 0) call.refuse(fmt::format("takes the mean of no elements of {}", name(x.type)));
    return {elementwise(call, {sum}, fmt::format("select(A < 0, -(-A div {0}), A div {0})", count))};
}

/// The largest element is taken out of the exponents, unless it is infinite.
Results reduce_log_sum_exp(const Call& call) {
    const Operand& x = call.in(0);
    const DataType type = is_integer(x.type) ? DataType::kDouble : x.type;
    const Operand real = cast(call, x, type);
    const Reduction how = reduction_of(call);
    if (how.does_nothing) return {cast(call, elementwise(call, {real}, "log(exp(A))"), x.type)};
    const Operand largest = elementwise(call, {reduce(call, real, how.axes, true, "max(X)", type)},
                                        "select(abs(A) == inf, 0, A)");
    const Operand power = elementwise(call, {real, largest}, "exp(A - B)");
    const Operand sum = reduce(call, power, how.axes, true, "sum(X)", type);
    const Operand result = elementwise(call, {sum, largest}, "log(A) + B");
    if (how.keeps) return {cast(call, result, x.type)};
    std::vector<Dim> shape;
    for (size_t axis = 0; axis < x.rank(); ++axis)
        if (!std::ranges::binary_search(how.axes, axis)) shape.push_back(x.shape[axis]);
    return {cast(call, call.build.with_shape(result, shape), x.type)};
}

/// The first place of the extreme element, or the last one; a NaN counts as extreme.
Results arg_reduce(const Call& call, const char* monoid) {
    const Operand& x = call.in(0);
    const size_t axis = call.axis(call.integer("axis", 0), x.rank());
    const bool takes_last = call.integer("select_last_index", 0) != 0;
    const Operand extreme = reduce(call, x, {axis}, true, fmt::format("{}(X)", monoid), x.type);
    OperatorText text = operator_text(call);
    std::vector<std::string> axes = axis_names(x.rank()), at = axes, written;
    std::vector<Dim> shape;
    at[axis] = "0";
    for (size_t a = 0; a < x.rank(); ++a) {
        if (a == axis) {
            text.folding(axes[a], x.shape[a]);
            if (call.integer("keepdims", 1) == 0) continue;
            shape.emplace_back(1);
            written.emplace_back("0");
        } else {
            text.over(axes[a], x.shape[a]);
            shape.push_back(x.shape[a]);
            written.push_back(axes[a]);
        }
    }
    const std::string beyond = form_text(linear_form(x.shape[axis]));
    const std::string is_it = "X == M or X != X";
    return {call.build.add(
        text.read(x, "X", axes)
            .read(extreme, "M", at)
            .write(DataType::kInt64, shape, written,
                   takes_last ? fmt::format("max(select({}, {}, 0))", is_it, axes[axis])
                              : fmt::format("min(select({}, {}, {}))", is_it, axes[axis], beyond)))};
}

Results arg_max(const Call& call) {
    return arg_reduce(call, "max");
}
Results arg_min(const Call& call) {
    return arg_reduce(call, "min");
}

Results cumulative_sum(const Call& call) {
    const Operand& x = call.in(0);
    const size_t axis = call.axis(call.known_integer(1), x.rank());
    const bool excludes = call.integer("exclusive", 0) != 0, reverses = call.integer("reverse", 0) != 0;
    OperatorText text = operator_text(call);
    std::vector<std::string> axes = axis_names(x.rank()), read = axes;
    for (size_t a = 0; a < x.rank(); ++a) text.over(axes[a], x.shape[a]);
    text.folding("j", x.shape[axis]);
    read[axis] = "j";
    text.where(fmt::format("{}", reverses ? fmt::format("j {} {}", excludes ? ">" : ">=", axes[axis])
                                          : fmt::format("j {} {}", excludes ? "<" : "<=", axes[axis])));
    return {
        cast(call,
             call.build.add(
                 text.read(x, "X", read).write(sum_type(x.type), x.shape, axes, wrapped("sum(X)", x.type))),
             x.type)};
}

}  // namespace

std::span<const Operator> reductions() {
    static constexpr std::array kOperators = {
        Operator{"ArgMax", arg_max},
        Operator{"ArgMin", arg_min},
        Operator{"CumSum", cumulative_sum},
        Operator{"ReduceL1", reduce_operator<4>},
        Operator{"ReduceL2", reduce_operator<5>},
        Operator{"ReduceLogSum", reduce_operator<7>},
        Operator{"ReduceLogSumExp", reduce_log_sum_exp},
        Operator{"ReduceMax", reduce_operator<2>},
        Operator{"ReduceMean", reduce_mean},
        Operator{"ReduceMin", reduce_operator<3>},
        Operator{"ReduceProd", reduce_operator<1>},
        Operator{"ReduceSum", reduce_operator<0>},
        Operator{"ReduceSumSquare", reduce_operator<6>},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
