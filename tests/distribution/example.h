#pragma once

#include <string>

#include <fmt/core.h>

#include "distribution/read_problem.h"

/// Graphs that several tests use.
namespace tessera::distribution {

/// Two layers on four devices: the first by columns, the second by rows, one all-reduce.
inline const std::string kLayers = R"(op up(t: 2, f: 64, d*: 16)
in  X f32[t, d], W1 f32[d, f]
out H f32[t, f] = sum(X * W1)

op activate(t: 2, f: 64)
in  H f32[t, f]
out G f32[t, f] = H * sigmoid(1.702 * H)

op down(t: 2, d: 16, f*: 64)
in  G f32[t, f], W2 f32[f, d]
out Y f32[t, d] = sum(G * W2)

devices 4 alpha 1e-7 beta 1e-10
compute flops 4e9 bytes 1e9
memory unlimited
constant W1, W2
input X B
output Y B
)";

/// The text with one part replaced by another.
inline std::string changed(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

/// Layers in a row with a residual around each, on two nodes of two devices.
inline std::string residual_layers(int count) {
    std::string text;
    std::string constants;
    for (int l = 0; l < count; ++l) {
        text += fmt::format(
            "op up{0}(t: 4, f: 32, d*: 16)\nin X{0} f32[t, d], U{0} f32[d, f]\n"
            "out H{0} f32[t, f] = sum(X{0} * U{0})\n"
            "op bend{0}(t: 4, f: 32)\nin H{0} f32[t, f]\nout G{0} f32[t, f] = max(H{0}, 0)\n"
            "op down{0}(t: 4, d: 16, f*: 32)\nin G{0} f32[t, f], D{0} f32[f, d]\n"
            "out Y{0} f32[t, d] = sum(G{0} * D{0})\n"
            "op add{0}(t: 4, d: 16)\nin X{0} f32[t, d], Y{0} f32[t, d]\nout X{1} f32[t, d] = X{0} + Y{0}\n",
            l, l + 1);
        constants += fmt::format("{}U{}, D{}", l == 0 ? "" : ", ", l, l);
    }
    return text + "devices 2 alpha 1e-6 beta 4e-9\ndevices 2 alpha 3e-8 beta 1e-10\n" +
           "compute flops 1e9 bytes 1e9\nmemory unlimited\nconstant " + constants + "\ninput X0 B B\n" +
           fmt::format("output X{} B B\n", count);
}

/// One operator, whose operands are constants and whose results are wanted under B, on these devices.
inline Problem alone(const std::string& op, const std::string& devices, const std::string& constants,
                     const std::string& outputs, const std::string& fills = "") {
    return read_problem(op + devices + "compute flops 1e9 bytes 1e9\nmemory unlimited\nconstant " +
                            constants + "\n" + outputs + fills,
                        "t.dist");
}

}  // namespace tessera::distribution
