// Normalisations and softmax.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

/// The mean of `body`, in terms of X.
Operand mean_along(const Call& call, const Operand& x, const std::vector<size_t>& axes, const char* body) {
    const DataType type = sum_type(x.type);
    return elementwise(call, {reduce(call, x, axes, true, fmt::format("sum({})", body), type)},
                       fmt::format("A / {}", count_text(x, axes)));
}

struct Centred {
    Operand difference, mean, inverse_deviation;
};

/// x - mean, and 1 / sqrt(variance + epsilon).
Centred centred(const Call& call, const Operand& x, const std::vector<size_t>& axes, double epsilon) {
    const Operand mean = mean_along(call, x, axes, "X");
    const Operand difference = elementwise(call, {x, mean}, "A - B", sum_type(x.type));
    const Operand variance = mean_along(call, difference, axes, "X * X");
    return {difference, mean,
            elementwise(call, {variance}, fmt::format("1 / sqrt(A + {})", real_text(epsilon)))};
}

/// A vector as long as an axis, beside tensors of a rank.
Operand along(const Call& call, const Operand& vector, size_t axis, size_t rank) {
    std::vector<Dim> shape(rank, Dim(1));
    call.expect(vector.rank() == 1, "has a parameter that is no vector");
    shape[axis] = vector.shape[0];
    return call.build.with_shape(vector, shape);
}

std::vector<size_t> axes_from(size_t first, size_t rank) {
    std::vector<size_t> axes(rank - first);
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

Results batch_normalization(const Call& call) {
    const Operand& x = call.in(0);
    call.expect(call.integer("training_mode", 0) == 0 && !call.wants(1), "computes means, as in training");
    call.expect(call.opset() >= 7 || call.integer("is_test", 0) != 0, "computes means, as in training");
    call.expect(call.integer("spatial", 1) != 0, "has means of each element");
    call.expect(x.rank() >= 2 || call.opset() >= 15, "needs a batch of channels");
    const size_t rank = x.rank(), channels = rank > 1 ? 1 : 0;
    const auto of = [&](size_t i) { return along(call, call.in(i), channels, rank); };
    return {
        elementwise(call, {x, of(1), of(2), of(3), of(4)},
                    fmt::format("(A - D) / sqrt(E + {}) * B + C", real_text(call.number("epsilon", 1e-5F))))};
}

/// Scaled and shifted; then mean and inverse deviation. @param shift null where there is none
Results normalised(const Call& call, const Operand& x, size_t axis, const Operand& scale,
                   const Operand* shift, double epsilon) {
    const Centred c = centred(call, x, axes_from(axis, x.rank()), epsilon);
    std::vector<Operand> operands = {c.difference, c.inverse_deviation, scale};
    if (shift) operands.push_back(*shift);
    return {elementwise(call, operands, shift ? "A * B * C + D" : "A * B * C", x.type), c.mean,
            c.inverse_deviation};
}

Results layer_normalization(const Call& call) {
    const Operand& x = call.in(0);
    return normalised(call, x, call.axis(call.integer("axis", -1), x.rank()), call.in(1), call.given(2),
                      call.number("epsilon", 1e-5F));
}

Results rms_normalization(const Call& call) {
    const Operand& x = call.in(0);
    const size_t axis = call.axis(call.integer("axis", -1), x.rank());
    const Operand square = mean_along(call, x, axes_from(axis, x.rank()), "X * X");
    return {elementwise(call, {x, square, call.in(1)},
                        fmt::format("A / sqrt(B + {}) * C", real_text(call.number("epsilon", 1e-5F))),
                        call.in(1).type)};
}

/// Beside the result 1 / sqrt(mean of squares + epsilon).
Results scaled_by_root(const Call& call, const Operand& x, const Operand& scale, size_t axis,
                       double epsilon) {
    const Operand square = mean_along(call, x, axes_from(axis, x.rank()), "X * X");
    const Operand inverse = elementwise(call, {square}, fmt::format("1 / sqrt(A + {})", real_text(epsilon)));
    return {elementwise(call, {x, inverse, scale}, "A * B * C", x.type), inverse};
}

Results simplified_layer_normalization(const Call& call) {
    const Operand& x = call.in(0);
    return scaled_by_root(call, x, call.in(1), call.axis(call.integer("axis", -1), x.rank()),
                          call.number("epsilon", 1e-5F));
}

/// x + skip + bias, which is the last of four results. @param bias its input
Operand skipped(const Call& call, size_t bias) {
    const Operand sum = elementwise(call, {call.in(0), call.in(1)}, "A + B");
    call.expect(sum.shape == call.in(0).shape && sum.rank() >= 2, "skips to another shape");
    return call.has(bias) ? elementwise(call, {sum, call.in(bias)}, "A + B") : sum;
}

Results skip_layer_normalization(const Call& call) {
    const Operand sum = skipped(call, 4);
    Results results =
        normalised(call, sum, sum.rank() - 1, call.in(2), call.given(3), call.number("epsilon", 1e-12F));
    results.push_back(sum);
    return results;
}

Results skip_simplified_layer_normalization(const Call& call) {
    call.expect(!call.wants(1), "shows a mean, of which it has none");
    const Operand sum = skipped(call, 3);
    const Results scaled =
        scaled_by_root(call, sum, call.in(2), sum.rank() - 1, call.number("epsilon", 1e-12F));
    return {scaled[0], scaled[1], scaled[1], sum};
}

/// Sums of rows of three tables, normalised. Indices are of tokens, places and segments.
Results embed_layer_normalization(const Call& call) {
    const Operand& tokens = call.in(0);
    call.expect(tokens.rank() == 2, "needs tokens of [batch, steps]");
    const auto rows = [&](size_t table, const Operand& numbers, std::vector<std::string> place) {
        const Operand& x = call.in(table);
        call.expect(x.rank() == 2 && call.extent(x, 0) > 0, "has a table that is no matrix");
        OperatorText text = operator_text(call);
        std::vector<Dim> shape = numbers.shape;
        shape.push_back(x.shape[1]);
        const std::vector<std::string> axes = axis_names(shape.size());
        for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], shape[a]);
        if (place.empty()) {
            text.index(numbers, "I", {"x0", "x1"});
            place = {fmt::format("I[x0, x1] mod {}", call.extent(x, 0)), "x2"};
        }
        return call.build.add(text.read(x, "X", place).write(x.type, shape, axes, "X"));
    };
    const Operand words = rows(2, tokens, {});
    call.expect(call.has(8) || call.extent(tokens, 1) <= call.extent(call.in(3), 0), "has too few places");
    const Operand places = call.has(8) ? rows(3, call.in(8), {}) : rows(3, tokens, {"x1", "x2"});
    Operand sum = elementwise(call, {words, places}, "A + B");
    if (call.has(1)) sum = elementwise(call, {sum, rows(4, call.in(1), {})}, "A + B");
    const Results y = normalised(call, sum, 2, call.in(5), &call.in(6), call.number("epsilon", 1e-12F));
    // The number of tokens that the mask lets through.
    const Operand mask =
        call.has(7) ? call.in(7) : expand(call, known_scalar(DataType::kInt32, 0), tokens.shape);
    return {y.front(), reduce(call, mask, {1}, false, "sum(select(X == 1, 1, 0))", DataType::kInt32), sum};
}

Results instance_normalization(const Call& call) {
    const Operand& x = call.in(0);
    call.expect(x.rank() >= 2, "needs a batch of channels");
    const Centred c = centred(call, x, axes_from(2, x.rank()), call.number("epsilon", 1e-5F));
    return {elementwise(call,
                        {c.difference, c.inverse_deviation, along(call, call.in(1), 1, x.rank()),
                         along(call, call.in(2), 1, x.rank())},
                        "A * B * C + D", x.type)};
}

Results group_normalization(const Call& call) {
    const Operand& x = call.in(0);
    const int64_t groups = call.integer("num_groups", 0);
    call.expect(x.rank() >= 2 && groups > 0 && call.extent(x, 1) % groups == 0,
                fmt::format("has {} groups", groups));
    const int64_t channels = call.extent(x, 1);
    std::vector<Dim> split = x.shape;
    split[1] = Dim(channels / groups);
    split.insert(split.begin() + 1, Dim(groups));
    const Operand grouped = call.build.with_shape(x, split);
    const Centred c = centred(call, grouped, axes_from(2, split.size()), call.number("epsilon", 1e-5F));
    // Parameters are of groups before opset 21, and of channels since.
    const int64_t expected = call.opset() < 21 ? groups : channels;
    const auto parameter = [&](size_t i) {
        call.expect(call.in(i).shape == std::vector<Dim>{Dim(expected)},
                    fmt::format("has parameters of another length than {}", expected));
        std::vector<Dim> shape(split.size(), Dim(1));
        shape[1] = Dim(groups);
        if (call.opset() >= 21) shape[2] = split[2];
        return call.build.with_shape(call.in(i), shape);
    };
    const Operand y = elementwise(call, {c.difference, c.inverse_deviation, parameter(1), parameter(2)},
                                  "A * B * C + D", x.type);
    return {call.build.with_shape(y, x.shape)};
}

Results mean_variance_normalization(const Call& call) {
    const Operand& x = call.in(0);
    const std::vector<size_t> axes = call.axes(call.integers("axes", {0, 2, 3}), x.rank());
    const Operand mean = mean_along(call, x, axes, "X");
    const Operand difference = elementwise(call, {x, mean}, "A - B");
    const Operand variance = mean_along(call, difference, axes, "X * X");
    return {elementwise(call, {difference, variance}, "A / (sqrt(B) + 1e-9)")};
}

Results lp_normalization(const Call& call) {
    const Operand& x = call.in(0);
    const size_t axis = call.axis(call.integer("axis", -1), x.rank());
    const int64_t p = call.integer("p", 2);
    call.expect(p == 1 || p == 2, fmt::format("has the norm {}, expected 1 or 2", p));
    const Operand norm =
        reduce(call, x, {axis}, true, p == 1 ? "sum(abs(X))" : "sqrt(sum(X * X))", sum_type(x.type));
    // A norm of 0 leaves zeros.
    return {elementwise(call, {x, norm}, "select(B == 0, 0, A / B)", x.type)};
}

Results local_response_normalization(const Call& call) {
    const Operand& x = call.in(0);
    const int64_t size = call.integer("size", 0);
    call.expect(x.rank() >= 2 && size > 0 && size < (1 << 20),
                fmt::format("has windows of {} channels", size));
    OperatorText text = operator_text(call);
    std::vector<std::string> axes = axis_names(x.rank()), read = axes;
    for (size_t a = 0; a < x.rank(); ++a) text.over(axes[a], x.shape[a]);
    text.folding("j", Dim(size));
    read[1] = fmt::format("{} + j - {}", axes[1], (size - 1) / 2);
    const Operand sum =
        call.build.add(text.read(x, "X", read).write(sum_type(x.type), x.shape, axes, "sum(X * X)"));
    return {elementwise(call, {x, sum},
                        fmt::format("A / pow({} + {} * B, {})", real_text(call.number("bias", 1)),
                                    real_text(call.number("alpha", 1e-4F) / static_cast<double>(size)),
                                    real_text(call.number("beta", 0.75F))),
                        x.type)};
}

/// Before opset 13 the axes from the given one on are one.
Results softmax_of(const Call& call, bool is_log) {
    const Operand& x = call.in(0);
    if (x.rank() == 0) return {softmax(call, call.build.with_shape(x, {Dim(1)}), {0}, is_log)};
    const size_t axis = call.axis(call.integer("axis", call.opset() < 13 ? 1 : -1), x.rank());
    return {
        softmax(call, x, call.opset() < 13 ? axes_from(axis, x.rank()) : std::vector<size_t>{axis}, is_log)};
}

Results softmax_operator(const Call& call) {
    return softmax_of(call, false);
}
Results log_softmax_operator(const Call& call) {
    return softmax_of(call, true);
}

}  // namespace

std::span<const Operator> normalisations() {
    static constexpr std::array kOperators = {
        Operator{"BatchNormalization", batch_normalization},
        Operator{"EmbedLayerNormalization", embed_layer_normalization, kMicrosoft},
        Operator{"GroupNormalization", group_normalization},
        Operator{"InstanceNormalization", instance_normalization},
        Operator{"LRN", local_response_normalization},
        Operator{"LayerNormalization", layer_normalization},
        Operator{"LogSoftmax", log_softmax_operator},
        Operator{"LpNormalization", lp_normalization},
        Operator{"MeanVarianceNormalization", mean_variance_normalization},
        Operator{"RMSNormalization", rms_normalization},
        Operator{"SimplifiedLayerNormalization", simplified_layer_normalization},
        Operator{"SkipLayerNormalization", skip_layer_normalization, kMicrosoft},
        Operator{"SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization, kMicrosoft},
        Operator{"Softmax", softmax_operator},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
