// Pooling. What lies outside of the input is read as what changes no fold.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"
#include "import/onnx/windows.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

using Pool = std::vector<Windows>;

Pool pool_of(const Call& call) {
    call.expect(call.in(0).rank() >= 3, "needs [n, c, ...]");
    const std::vector<Dim>& shape = call.in(0).shape;
    return windows_of(call, {shape.begin() + 2, shape.end()}, call.integers("kernel_shape"));
}

/// The fold of `value`, in terms of X, over each window.
Operand pooled(const Call& call, const Operand& x, const Pool& pool, const std::string& value, DataType type,
               const Operand* beside = nullptr) {
    OperatorText text = operator_text(call);
    std::vector<Dim> shape = {x.shape[0], x.shape[1]};
    std::vector<std::string> read = {"n", "c"}, written = {"n", "c"};
    text.over("n", x.shape[0]).over("c", x.shape[1]);
    for (size_t a = 0; a < pool.size(); ++a) {
        const std::string o = fmt::format("o{}", a);
        text.over(o, pool[a].count);
        shape.push_back(pool[a].count);
        written.push_back(o);
        read.push_back(element_of_window(pool[a], o, fmt::format("k{}", a)));
    }
    for (size_t a = 0; a < pool.size(); ++a) text.folding(fmt::format("k{}", a), Dim(pool[a].kernel));
    text.read(x, "X", read);
    if (beside) text.read(*beside, "M", written);
    return call.build.add(text.write(type, shape, written, value));
}

/// For each window, how many of its elements lie in the input, or also in the padding but not in what
/// ceil_mode adds.
Operand divisors(const Call& call, const Pool& pool, bool counts_padding, DataType type) {
    std::vector<double> numbers = {1};
    std::vector<int64_t> shape;
    for (size_t a = 0; a < pool.size(); ++a) {
        const Windows& w = pool[a];
        const int64_t before = counts_padding ? w.begin : 0, after = counts_padding ? w.end : 0;
        std::vector<double> all;
        if (w.stay_within(before, after)) {
            for (double& number : numbers) number *= static_cast<double>(w.kernel);
            shape.push_back(1);
            continue;
        }
        const int64_t low = -before, high = call.extent(call.in(0), 2 + a) + after, count = w.count.factor;
        call.expect(count == 0 || (static_cast<int64_t>(numbers.size()) * w.kernel <= kMostKnown / count),
                    "has too many windows");
        for (const double outer : numbers)
            for (int64_t o = 0; o < count; ++o) {
                int64_t inside = 0;
                for (int64_t k = 0; k < w.kernel; ++k) {
                    const int64_t at = o * w.stride + k * w.dilation - w.begin;
                    inside += at >= low && at < high ? 1 : 0;
                }
                all.push_back(outer * static_cast<double>(inside));
            }
        numbers = std::move(all);
        shape.push_back(count);
    }
    return known_numbers(type, shape, numbers);
}

Results average_pool(const Call& call) {
    const Operand& x = call.in(0);
    const Pool pool = pool_of(call);
    const DataType type = sum_type(x.type);
    const Operand sum = pooled(call, x, pool, "sum(X)", type);
    return {elementwise(call, {sum, divisors(call, pool, call.integer("count_include_pad", 0) != 0, type)},
                        "A / B", x.type)};
}

Results lp_pool(const Call& call) {
    const Operand& x = call.in(0);
    const int64_t p = call.integer("p", 2);
    call.expect(p > 0 && p < 64, fmt::format("has the norm {}", p));
    const Pool pool = pool_of(call);
    if (p == 1) return {pooled(call, x, pool, "sum(abs(X))", x.type)};
    if (p == 2) return {pooled(call, x, pool, "sqrt(sum(X * X))", x.type)};
    std::string power = "abs(X)";
    for (int64_t i = 1; i < p; ++i) power += " * abs(X)";
    const Operand sum = pooled(call, x, pool, fmt::format("sum({})", power), sum_type(x.type));
    return {
        elementwise(call, {sum}, fmt::format("pow(A, {})", real_text(1 / static_cast<double>(p))), x.type)};
}

/// Beside the maxima, where they are: the first one of a window, as a row-major position in the input.
Results max_pool(const Call& call) {
    const Operand& x = call.in(0);
    const Pool pool = pool_of(call);
    // NaN is passed over, unless it is alone.
    const std::string number = is_integer(x.type) ? "X" : "select(X == X, X, -inf)";
    Results results = {pooled(call, x, pool, fmt::format("max({})", number), x.type)};
    if (!call.wants(1)) return results;
    const bool is_by_columns = call.integer("storage_order", 0) != 0;
    std::string position = "0", inside;
    int64_t stride = 1;
    const std::vector<int64_t> spatial = call.extents_from(x, 2);
    const size_t axes = pool.size();
    for (size_t i = 0; i < axes; ++i) {
        const size_t a = is_by_columns ? i : axes - 1 - i;
        const std::string at = element_of_window(pool[a], fmt::format("o{}", a), fmt::format("k{}", a));
        position += fmt::format(" + ({}) * {}", at, stride);
        stride *= spatial[a];
    }
    for (size_t a = 0; a < axes; ++a) {
        const std::string at = element_of_window(pool[a], fmt::format("o{}", a), fmt::format("k{}", a));
        inside += fmt::format(" and {0} >= 0 and {0} < {1}", at, spatial[a]);
    }
    const Operand first =
        pooled(call, x, pool, fmt::format("min(select(X == M{}, {}, {}))", inside, position, stride),
               DataType::kInt64, &results.front());
    // The position in the whole input: image and channel come first.
    results.push_back(
        elementwise(call, {first}, fmt::format("A + (x0 * {} + x1) * {}", call.extent(x, 1), stride)));
    return results;
}

Results global_pool(const Call& call, const char* value, bool is_mean) {
    const Operand& x = call.in(0);
    call.expect(x.rank() >= 2, "needs [n, c, ...]");
    std::vector<size_t> axes;
    for (size_t a = 2; a < x.rank(); ++a) axes.push_back(a);
    const Operand folded = reduce(call, x, axes, true, value, is_mean ? sum_type(x.type) : x.type);
    if (!is_mean) return {folded};
    return {elementwise(call, {folded}, fmt::format("A / {}", count_text(x, axes)), x.type)};
}

Results global_average_pool(const Call& call) {
    return global_pool(call, "sum(X)", true);
}
Results global_max_pool(const Call& call) {
    return global_pool(call, "max(X)", false);
}
Results global_lp_pool(const Call& call) {
    const int64_t p = call.integer("p", 2);
    call.expect(p == 1 || p == 2, fmt::format("has the norm {}, expected 1 or 2", p));
    return global_pool(call, p == 1 ? "sum(abs(X))" : "sqrt(sum(X * X))", false);
}

}  // namespace

std::span<const Operator> pooling() {
    static constexpr std::array kOperators = {
        Operator{"AveragePool", average_pool},
        Operator{"GlobalAveragePool", global_average_pool},
        Operator{"GlobalLpPool", global_lp_pool},
        Operator{"GlobalMaxPool", global_max_pool},
        Operator{"LpPool", lp_pool},
        Operator{"MaxPool", max_pool},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
