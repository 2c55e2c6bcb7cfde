// Activations: functions of each element with parameters.
#include <array>

#include <fmt/format.h>

#include "import/onnx/activation.h"
#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"
#include "ir/ops/elementwise.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

Results of_each(const Call& call, const std::string& body) {
    return {elementwise(call, {call.in(0)}, body)};
}

Results applied_function(const Call& call, ops::ActivationFunction function) {
    return of_each(call, ops::applied(function, "A"));
}

Results celu(const Call& call) {
    const std::string alpha = real_text(call.number("alpha", 1));
    return of_each(call, fmt::format("max(0, A) + min(0, {0} * (exp(A / {0}) - 1))", alpha));
}

Results elu(const Call& call) {
    return of_each(call,
                   fmt::format("select(A < 0, {} * (exp(A) - 1), A)", real_text(call.number("alpha", 1))));
}

Results gelu(const Call& call) {
    const std::string kind = call.text("approximate", "none");
    call.expect(kind == "none" || kind == "tanh",
                fmt::format("is approximated by \"{}\", expected none or tanh", kind));
    return applied_function(
        call, kind == "tanh" ? ops::ActivationFunction::kGeluTanh : ops::ActivationFunction::kGelu);
}

Results hard_sigmoid(const Call& call) {
    return of_each(call, fmt::format("max(0, min(1, {} * A + {}))", real_text(call.number("alpha", 0.2F)),
                                     real_text(call.number("beta", 0.5F))));
}

Results hard_swish(const Call& call) {
    return of_each(call, "A * max(0, min(1, A / 6 + 0.5))");
}

Results leaky_relu(const Call& call) {
    return of_each(call, fmt::format("select(A < 0, {} * A, A)", real_text(call.number("alpha", 0.01F))));
}

Results mish(const Call& call) {
    return of_each(call, fmt::format("A * tanh({})", ops::applied(ops::ActivationFunction::kSoftplus, "A")));
}

/// Before opset 7 a slope of several elements is one of each channel.
Results p_relu(const Call& call) {
    const Operand& x = call.in(0);
    Operand slope = call.in(1);
    if (call.opset() < 7 && slope.rank() == 1 && slope.shape[0] != Dim(1) && x.rank() > 1) {
        std::vector<Dim> shape(x.rank(), Dim(1));
        shape[1] = slope.shape[0];
        slope = call.build.with_shape(slope, shape);
    }
    return {elementwise(call, {x, slope}, wrapped("select(A < 0, B * A, A)", x.type))};
}

Results relu(const Call& call) {
    return of_each(call, "max(A, 0)");
}

Results selu(const Call& call) {
    return of_each(call, fmt::format("select(A > 0, {1} * A, {1} * ({0} * exp(A) - {0}))",
                                     real_text(call.number("alpha", 1.67326319217681884765625)),
                                     real_text(call.number("gamma", 1.05070102214813232421875))));
}

Results shrink(const Call& call) {
    const std::string limit = real_text(call.number("lambd", 0.5)), bias = real_text(call.number("bias", 0));
    return of_each(call, fmt::format("select(A < -{0}, A + {1}, select(A > {0}, A - {1}, 0))", limit, bias));
}

Results sigmoid(const Call& call) {
    return of_each(call, "sigmoid(A)");
}

Results softplus(const Call& call) {
    return applied_function(call, ops::ActivationFunction::kSoftplus);
}

Results softsign(const Call& call) {
    return of_each(call, "A / (1 + abs(A))");
}

Results swish(const Call& call) {
    return of_each(call, fmt::format("A * sigmoid({} * A)", real_text(call.number("alpha", 1))));
}

Results thresholded_relu(const Call& call) {
    return of_each(call, fmt::format("select(A > {}, A, 0)", real_text(call.number("alpha", 1))));
}

/// A lower bound above the upper one gives the upper one.
Results clip(const Call& call) {
    Operand x = call.in(0);
    if (call.opset() < 11) {
        if (call.has_attribute("min"))
            x = elementwise(call, {x}, fmt::format("max(A, {})", real_text(call.number("min", 0))));
        if (call.has_attribute("max"))
            x = elementwise(call, {x}, fmt::format("min(A, {})", real_text(call.number("max", 0))));
        return {x};
    }
    if (call.has(1)) x = elementwise(call, {x, call.in(1)}, "max(A, B)");
    if (call.has(2)) x = elementwise(call, {x, call.in(2)}, "min(A, B)");
    return {x};
}

/// onnxruntime's spellings of GELU: with a bias before it, and its approximations.
Results biased(const Call& call, ops::ActivationFunction function) {
    if (!call.has(1)) return applied_function(call, function);
    const Operand x = elementwise(call, {call.in(0), call.in(1)}, "A + B");
    return {elementwise(call, {x}, ops::applied(function, "A"))};
}
Results bias_gelu(const Call& call) {
    return biased(call, ops::ActivationFunction::kGelu);
}
Results fast_gelu(const Call& call) {
    return biased(call, ops::ActivationFunction::kGeluTanh);
}
Results quick_gelu(const Call& call) {
    return of_each(call, fmt::format("A * sigmoid({} * A)", real_text(call.number("alpha", 1.702F))));
}

}  // namespace

Operand fused_activation(const Call& call, const Operand& y) {
    const std::string kind = call.text("activation", "");
    if (kind.empty()) return y;
    std::vector<double> numbers = call.numbers("activation_params");
    for (const char* name : {"activation_alpha", "activation_beta"})
        if (call.has_attribute(name)) numbers.push_back(call.number(name, 0));
    const auto number = [&](size_t i) {
        call.expect(i < numbers.size(), fmt::format("lacks a parameter of its activation {}", kind));
        return real_text(numbers[i]);
    };
    std::string body;
    if (kind == "Relu") body = "max(A, 0)";
    if (kind == "Tanh") body = "tanh(A)";
    if (kind == "Sigmoid") body = "sigmoid(A)";
    if (kind == "LeakyRelu") body = fmt::format("select(A < 0, {} * A, A)", number(0));
    if (kind == "Clip") body = fmt::format("min(max(A, {}), {})", number(0), number(1));
    if (kind == "HardSigmoid") body = fmt::format("max(0, min(1, {} * A + {}))", number(0), number(1));
    call.expect(!body.empty(), fmt::format("has the activation {}, which is not supported", kind));
    return elementwise(call, {y}, body);
}

std::span<const Operator> activations() {
    static constexpr std::array kOperators = {
        Operator{"BiasGelu", bias_gelu, kMicrosoft},
        Operator{"Celu", celu},
        Operator{"Clip", clip},
        Operator{"Elu", elu},
        Operator{"FastGelu", fast_gelu, kMicrosoft},
        Operator{"Gelu", gelu},
        Operator{"Gelu", gelu, kMicrosoft},
        Operator{"HardSigmoid", hard_sigmoid},
        Operator{"HardSwish", hard_swish},
        Operator{"LeakyRelu", leaky_relu},
        Operator{"Mish", mish},
        Operator{"PRelu", p_relu},
        Operator{"QuickGelu", quick_gelu, kMicrosoft},
        Operator{"Relu", relu},
        Operator{"Selu", selu},
        Operator{"Shrink", shrink},
        Operator{"Sigmoid", sigmoid},
        Operator{"Softplus", softplus},
        Operator{"Softsign", softsign},
        Operator{"Swish", swish},
        Operator{"ThresholdedRelu", thresholded_relu},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
