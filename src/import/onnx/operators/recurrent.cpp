// Recurrent layers of a known number of steps, each of which becomes operators of its own.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"
#include "ir/ops/elementwise.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

constexpr int64_t kMostSteps = 512;

/// An activation of a text, by its name and parameters.
struct Activation {
    std::string name;
    double alpha, beta;
};

std::string activated(const Call& call, const Activation& f, const std::string& x) {
    const std::string alpha = real_text(f.alpha), beta = real_text(f.beta);
    if (f.name == "sigmoid") return fmt::format("sigmoid({})", x);
    if (f.name == "tanh") return fmt::format("tanh({})", x);
    if (f.name == "relu") return fmt::format("max({}, 0)", x);
    if (f.name == "affine") return fmt::format("({} * ({}) + {})", alpha, x, beta);
    if (f.name == "leakyrelu") return fmt::format("select({0} < 0, {1} * ({0}), {0})", x, alpha);
    if (f.name == "thresholdedrelu") return fmt::format("select({0} > {1}, {0}, 0)", x, alpha);
    if (f.name == "scaledtanh") return fmt::format("({} * tanh({} * ({})))", alpha, beta, x);
    if (f.name == "hardsigmoid") return fmt::format("max(0, min(1, {} * ({}) + {}))", alpha, x, beta);
    if (f.name == "elu") return fmt::format("select({0} < 0, {1} * (exp({0}) - 1), {0})", x, alpha);
    if (f.name == "softsign") return fmt::format("(({0}) / (1 + abs({0})))", x);
    if (f.name == "softplus") return ops::applied(ops::ActivationFunction::kSoftplus, fmt::format("({})", x));
    call.refuse(fmt::format("has the activation \"{}\"", f.name));
}

std::vector<Activation> activations_of(const Call& call, const std::vector<std::string>& usual,
                                       size_t directions) {
    std::vector<std::string> names;
    if (const Attribute* given = call.attribute("activations")) names = given->texts;
    if (names.empty())
        for (size_t d = 0; d < directions; ++d) names.insert(names.end(), usual.begin(), usual.end());
    call.expect(names.size() == usual.size() * directions, fmt::format("has {} activations", names.size()));
    const std::vector<double> alphas = call.numbers("activation_alpha"),
                              betas = call.numbers("activation_beta");
    std::vector<Activation> all;
    size_t next_alpha = 0, next_beta = 0;
    for (std::string name : names) {
        for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const bool has_beta = name == "affine" || name == "scaledtanh" || name == "hardsigmoid";
        const bool has_alpha = has_beta || name == "leakyrelu" || name == "thresholdedrelu" || name == "elu";
        Activation f{name,
                     name == "leakyrelu"     ? 0.01
                     : name == "hardsigmoid" ? 0.2
                                             : 1.0,
                     name == "hardsigmoid" ? 0.5
                     : name == "affine"    ? 0.0
                                           : 1.0};
        if (has_alpha && next_alpha < alphas.size()) f.alpha = alphas[next_alpha++];
        if (has_beta && next_beta < betas.size()) f.beta = betas[next_beta++];
        all.push_back(f);
    }
    return all;
}

/// The parts that the three kinds of layers share.
class Layer {
public:
    Layer(const Call& c, int64_t gates_, const std::vector<std::string>& usual) : call(c), gates(gates_) {
        is_batch_first = call.integer("layout", 0) != 0;
        x = is_batch_first ? transpose(call, call.in(0), {1, 0, 2}) : call.in(0);
        const std::vector<int64_t> of_r = call.extents(call.in(2));
        call.expect(x.rank() == 3 && of_r.size() == 3,
                    "needs [steps, batch, width] and weights of three axes");
        steps = call.extent(x, 0);
        batch = x.shape[1];
        hidden = of_r[2];
        const std::string direction = call.text("direction", "forward");
        directions = direction == "bidirectional" ? 2 : 1;
        is_reversed = direction == "reverse";
        call.expect(direction == "forward" || is_reversed || directions == 2,
                    fmt::format("has the direction \"{}\"", direction));
        call.expect(of_r[0] == directions && of_r[1] == gates * hidden && steps > 0,
                    "has weights of another shape");
        call.expect(
            steps * directions <= kMostSteps,
            fmt::format("has {} steps, and at most {} are supported", steps * directions, kMostSteps));
        functions = activations_of(call, usual, static_cast<size_t>(directions));
        clip = call.number("clip", 0);
    }

    /// The products of all inputs with the weights, plus the biases of the inputs: [steps, batch, gates *
    /// hidden].
    Operand inputs(int64_t d) const {
        OperatorText text = operator_text(call);
        text.over("t", Dim(steps)).over("b", batch).over("g", Dim(gates * hidden)).folding("k", x.shape[2]);
        text.read(x, "X", {"t", "b", "k"}).read(call.in(1), "W", {fmt::to_string(d), "g", "k"});
        Operand y =
            call.build.add(text.write(x.type, {steps, batch, gates * hidden}, {"t", "b", "g"}, "sum(X * W)"));
        if (!call.has(3)) return y;
        OperatorText biased = operator_text(call);
        biased.over("t", Dim(steps)).over("b", batch).over("g", Dim(gates * hidden));
        biased.read(y, "A", {"t", "b", "g"}).read(call.in(3), "B", {fmt::to_string(d), "g"});
        return call.build.add(biased.write(x.type, y.shape, {"t", "b", "g"}, "A + B"));
    }

    /// The product of a state with `count` gates of the recurrent weights from gate `first` on.
    Operand recurrent(const Operand& h, int64_t d, int64_t first, int64_t count) const {
        OperatorText text = operator_text(call);
        text.over("b", batch).over("g", Dim(count * hidden)).folding("k", Dim(hidden));
        text.read(h, "H", {"b", "k"});
        text.read(call.in(2), "R",
                  {fmt::to_string(d), first == 0 ? "g" : fmt::format("g + {}", first * hidden), "k"});
        Operand y = call.build.add(text.write(x.type, {batch, count * hidden}, {"b", "g"}, "sum(H * R)"));
        if (!call.has(3)) return y;
        OperatorText biased = operator_text(call);
        biased.over("b", batch).over("g", Dim(count * hidden));
        biased.read(y, "A", {"b", "g"})
            .read(call.in(3), "B", {fmt::to_string(d), fmt::format("g + {}", (gates + first) * hidden)});
        return call.build.add(biased.write(x.type, y.shape, {"b", "g"}, "A + B"));
    }

    Operand initial(size_t input, int64_t d) const {
        if (!call.has(input)) return expand(call, known_scalar(x.type, 0), {batch, hidden});
        const Operand states = is_batch_first ? transpose(call, call.in(input), {1, 0, 2}) : call.in(input);
        return call.build.with_shape(slice(call, states, {number_range(0, d, 1, 1)}), {batch, hidden});
    }

    /// A gate's argument, clipped.
    std::string clipped(const std::string& value) const {
        return clip > 0 ? fmt::format("max(-{0}, min({0}, {1}))", real_text(clip), value) : value;
    }
    std::string gate(int64_t d, size_t function, const std::string& value) const {
        const size_t each = functions.size() / static_cast<size_t>(directions);
        return activated(call, functions[static_cast<size_t>(d) * each + function], clipped(value));
    }
    /// An element of a gate of [batch, gates * hidden].
    std::string of_gate(const std::string& tensor, int64_t number) const {
        return number == 0 ? tensor + "[b, j]" : fmt::format("{}[b, j + {}]", tensor, number * hidden);
    }
    OperatorText over_state() const {
        OperatorText text = operator_text(call);
        return text.over("b", batch).over("j", Dim(hidden));
    }
    Operand written(OperatorText text, const std::string& value) const {
        return call.build.add(text.write(x.type, {batch, hidden}, {"b", "j"}, value));
    }
    /// Beyond the end of its sequence a state stays.
    Operand kept(const Operand& before, const Operand& after, int64_t t) const {
        if (!call.has(4)) return after;
        const Operand lengths = call.build.with_shape(call.in(4), {batch, Dim(1)});
        return elementwise(call, {before, after, lengths}, fmt::format("select({} < C, B, A)", t), x.type);
    }

    /// Runs `step(direction, t, states)` over all steps; the first state is the output.
    template <typename Step>
    Results run(const std::vector<size_t>& initials, Step&& step) const {
        std::vector<std::vector<Operand>> outputs(static_cast<size_t>(steps));
        std::vector<std::vector<Operand>> last(initials.size());
        for (int64_t d = 0; d < directions; ++d) {
            const Operand all = inputs(d);
            std::vector<Operand> states;
            for (const size_t input : initials) states.push_back(initial(input, d));
            const bool goes_back = is_reversed || d == 1;
            for (int64_t i = 0; i < steps; ++i) {
                const int64_t t = goes_back ? steps - 1 - i : i;
                const Operand now = call.build.with_shape(slice(call, all, {number_range(0, t, 1, 1)}),
                                                          {batch, gates * hidden});
                const std::vector<Operand> next = step(d, now, states);
                Operand shown = next.front();
                if (call.has(4)) shown = kept(expand(call, known_scalar(x.type, 0), shown.shape), shown, t);
                outputs[static_cast<size_t>(t)].push_back(
                    call.build.with_shape(shown, {1, 1, batch, hidden}));
                for (size_t s = 0; s < states.size(); ++s) states[s] = kept(states[s], next[s], t);
            }
            for (size_t s = 0; s < states.size(); ++s)
                last[s].push_back(call.build.with_shape(states[s], {1, batch, hidden}));
        }
        Results results(1 + initials.size());
        if (call.wants(0)) {
            std::vector<Operand> rows;
            for (const std::vector<Operand>& row : outputs) rows.push_back(concat(call, row, 1));
            results[0] = concat(call, rows, 0);
            if (is_batch_first) results[0] = transpose(call, results[0], {2, 0, 1, 3});
        }
        for (size_t s = 0; s < last.size(); ++s) {
            results[1 + s] = concat(call, last[s], 0);
            if (is_batch_first) results[1 + s] = transpose(call, results[1 + s], {1, 0, 2});
        }
        return results;
    }

    const Call& call;
    int64_t gates;
    Operand x;
    int64_t steps = 0, hidden = 0, directions = 1;
    Dim batch = 0;
    bool is_reversed = false, is_batch_first = false;
    std::vector<Activation> functions;
    double clip = 0;
};

/// Gates i, o, f, c; peepholes i, o, f.
Results lstm(const Call& call) {
    const Layer layer(call, 4, {"sigmoid", "tanh", "tanh"});
    const bool couples = call.integer("input_forget", 0) != 0;
    return layer.run({5, 6}, [&](int64_t d, const Operand& x, const std::vector<Operand>& states) {
        const Operand &h = states[0], &c = states[1];
        const Operand sums = elementwise(call, {x, layer.recurrent(h, d, 0, 4)}, "A + B");
        const auto peephole = [&](int64_t number, const char* cell) {
            if (!call.has(7)) return std::string();
            return fmt::format(" + P[{}, j + {}] * {}", d, number * layer.hidden, cell);
        };
        const auto add_operands = [&](OperatorText text, const Operand& cell) {
            text.read(sums, "G", {"b", "j"}).read(cell, "C", {"b", "j"});
            if (call.has(7)) text.read(call.in(7), "P", {fmt::to_string(d), "j"});
            return text;
        };
        const std::string in = layer.gate(d, 0, layer.of_gate("G", 0) + peephole(0, "C"));
        const std::string forget = couples ? fmt::format("(1 - {})", in)
                                           : layer.gate(d, 0, layer.of_gate("G", 2) + peephole(2, "C"));
        const Operand cell = layer.written(
            add_operands(layer.over_state(), c),
            fmt::format("{} * C + {} * {}", forget, in, layer.gate(d, 1, layer.of_gate("G", 3))));
        const std::string out = layer.gate(d, 0, layer.of_gate("G", 1) + peephole(1, "C"));
        const size_t each = layer.functions.size() / static_cast<size_t>(layer.directions);
        const Operand hidden = layer.written(
            add_operands(layer.over_state(), cell),
            fmt::format("{} * {}", out,
                        activated(call, layer.functions[static_cast<size_t>(d) * each + 2], "C")));
        return std::vector<Operand>{hidden, cell};
    });
}

/// Gates z, r, h.
Results gru(const Call& call) {
    const Layer layer(call, 3, {"sigmoid", "tanh"});
    const bool resets_behind = call.integer("linear_before_reset", 0) != 0;
    return layer.run({5}, [&](int64_t d, const Operand& x, const std::vector<Operand>& states) {
        const Operand& h = states[0];
        const Operand r = layer.recurrent(h, d, 0, resets_behind ? 3 : 2);
        const std::string reset = layer.gate(d, 0, layer.of_gate("G", 1) + " + " + layer.of_gate("R", 1));
        const std::string update = layer.gate(d, 0, layer.of_gate("G", 0) + " + " + layer.of_gate("R", 0));
        Operand inner;
        if (resets_behind) {
            OperatorText text = layer.over_state();
            text.read(x, "G", {"b", "j"}).read(r, "R", {"b", "j"});
            inner = layer.written(
                text, fmt::format("{} + {} * {}", layer.of_gate("G", 2), reset, layer.of_gate("R", 2)));
        } else {
            OperatorText text = layer.over_state();
            text.read(x, "G", {"b", "j"}).read(r, "R", {"b", "j"}).read(h, "H", {"b", "j"});
            const Operand left = layer.written(text, fmt::format("{} * H", reset));
            OperatorText sum = layer.over_state();
            sum.read(x, "G", {"b", "j"}).read(layer.recurrent(left, d, 2, 1), "R", {"b", "j"});
            inner = layer.written(sum, fmt::format("{} + R", layer.of_gate("G", 2)));
        }
        OperatorText text = layer.over_state();
        text.read(x, "G", {"b", "j"})
            .read(r, "R", {"b", "j"})
            .read(h, "H", {"b", "j"})
            .read(inner, "N", {"b", "j"});
        return std::vector<Operand>{
            layer.written(text, fmt::format("(1 - {0}) * {1} + {0} * H", update, layer.gate(d, 1, "N")))};
    });
}

Results rnn(const Call& call) {
    const Layer layer(call, 1, {"tanh"});
    return layer.run({5}, [&](int64_t d, const Operand& x, const std::vector<Operand>& states) {
        OperatorText text = layer.over_state();
        text.read(x, "G", {"b", "j"}).read(layer.recurrent(states[0], d, 0, 1), "R", {"b", "j"});
        return std::vector<Operand>{layer.written(text, layer.gate(d, 0, "(G + R)"))};
    });
}

}  // namespace

std::span<const Operator> recurrent() {
    static constexpr std::array kOperators = {
        Operator{"GRU", gru},
        Operator{"LSTM", lstm},
        Operator{"RNN", rnn},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
