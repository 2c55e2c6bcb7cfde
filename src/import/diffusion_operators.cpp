#include "import/diffusion_operators.h"

#include <cmath>

#include <fmt/core.h>

#include "ir/ops/define.h"

namespace tessera::import {
namespace {

/// `pattern` with {rows}, {patches}, ... replaced by the extents.
DefinitionPtr define_patches(const DiffusionShape& shape, fmt::string_view pattern, int64_t width = 0,
                             int64_t first = 0, int64_t second = 0) {
    const DiffusionConfig& config = shape.config;
    const int64_t rows = shape.rows(), patches = config.patches(), hidden = config.hidden(),
                  across = config.patches_of_side();
    const std::string weight(name(shape.weight));
    const double scale = 1 / std::sqrt(static_cast<double>(config.head_width));
    return ops::define(
        {},
        fmt::format(fmt::runtime(pattern), fmt::arg("rows", rows), fmt::arg("images", shape.images),
                    fmt::arg("patches", patches), fmt::arg("hidden", hidden), fmt::arg("heads", config.heads),
                    fmt::arg("head", config.head_width), fmt::arg("patch", config.patch),
                    fmt::arg("side", config.side), fmt::arg("across", across),
                    fmt::arg("inputs", config.in_channels), fmt::arg("outputs", config.out_channels),
                    fmt::arg("weight", weight), fmt::arg("scale", scale), fmt::arg("width", width),
                    fmt::arg("first", first), fmt::arg("second", second)));
}

}  // namespace

DefinitionPtr patch_embedding(const DiffusionShape& shape) {
    return define_patches(
        shape, R"(op patch_embedding(t: {rows}, n: {hidden}, c*: {inputs}, y*: {patch}, x*: {patch})
in  P f32[t div {patches}, c, (t mod {patches}) div {across} * {patch} + y, t mod {across} * {patch} + x] of [{images}, {inputs}, {side}, {side}]
in  W {weight}[n, c, y, x]
in  bias {weight}[n]
out Y f32[t, n] = sum(P * W) + bias
)");
}

DefinitionPtr add_patch_positions(const DiffusionShape& shape) {
    return define_patches(shape, R"(op add_patch_positions(t: {rows}, k: {hidden})
in  X f32[t, k]
in  E {weight}[t mod {patches}, k] of [{patches}, {hidden}]
out Y f32[t, k] = X + E
)");
}

DefinitionPtr modulated_norm(const DiffusionShape& shape, int64_t width, int64_t shift, int64_t scale) {
    return define_patches(shape, R"(op modulated_norm(t: {rows}, d: {hidden})
in  X f32[t, d]
in  mean f32[t]
in  reciprocal f32[t]
in  shift f32[t div {patches}, {first} + d] of [{images}, {width}]
in  scale f32[t div {patches}, {second} + d] of [{images}, {width}]
out Y f32[t, d] = (X - mean) * reciprocal * (1 + scale) + shift
)",
                          width, shift, scale);
}

DefinitionPtr gated_residual(const DiffusionShape& shape, int64_t width, int64_t gate) {
    return define_patches(shape, R"(op gated_residual(t: {rows}, d: {hidden})
in  X f32[t, d]
in  gate f32[t div {patches}, {first} + d] of [{images}, {width}]
in  branch f32[t, d]
out Y f32[t, d] = X + gate * branch
)",
                          width, gate);
}

DefinitionPtr patch_scores(const DiffusionShape& shape) {
    return define_patches(shape,
                          R"(op patch_scores(b: {images}, h: {heads}, i: {patches}, s: {patches}, e*: {head})
in  Q f32[b * {patches} + i, h * {head} + e] of [{rows}, {hidden}]
in  K f32[b * {patches} + s, h * {head} + e] of [{rows}, {hidden}]
out scores f32[b, h, i, s] = sum(Q * K) * {scale}
)");
}

DefinitionPtr patch_attend(const DiffusionShape& shape) {
    return define_patches(shape,
                          R"(op patch_attend(b: {images}, h: {heads}, i: {patches}, d: {head}, s*: {patches})
in  scores f32[b, h, i, s]
in  V f32[b * {patches} + s, h * {head} + d] of [{rows}, {hidden}]
out M f32[b, h, i], L f32[b, h, i], A f32[b, h, i, d] = softmax_sum(scores, V)
)");
}

DefinitionPtr patch_attended(const DiffusionShape& shape) {
    return define_patches(shape, R"(op patch_attended(b: {images}, h: {heads}, i: {patches}, d: {head})
in  A f32[b, h, i, d]
in  L f32[b, h, i]
out Y f32[b * {patches} + i, h * {head} + d] of [{rows}, {hidden}] = A / L
)");
}

DefinitionPtr unpatched(const DiffusionShape& shape) {
    return define_patches(shape, R"(op unpatched(t: {rows}, y: {patch}, x: {patch}, c: {outputs})
in  X f32[t, (y * {patch} + x) * {outputs} + c]
out Y f32[t div {patches}, c, (t mod {patches}) div {across} * {patch} + y, t mod {across} * {patch} + x] of [{images}, {outputs}, {side}, {side}] = X
)");
}

}  // namespace tessera::import
