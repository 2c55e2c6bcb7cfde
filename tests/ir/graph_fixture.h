#pragma once

#include <string>

namespace tessera::testing {

/// Two blocks, the first one repeated with a state: running sums of the input, scaled, with a table of each
/// repetition.
inline const std::string kSmallGraph = R"(graph "small \"one\""
symbol T in 1..8
symbol P in 2..6 multiple of 2
point one weight 2.5: P = 2, T = 1
point many weight 1: P = 6, T = 8

input x: f32[T, 3]
input id: i32[T]
constant scale: f32[3] from "layers.*.scale" for 0..4 step 2
constant table: f32[5, 3] from "table", "other" then "more", "rest" along 0 of 2, 3
state sums: f32[P, 3]
value sums_new: f32[P, 3]
value scaled: f32[T, 3]
value picked: f32[T, 3]
value normed: f32[T, 3] order [1, 0] lanes <1:4> acc i32

block layer repeat 3 carry x -> scaled
  update sums -> sums_new
  node scaled(x, scale) -> scaled
    op scaled(t: T, d: 3)
    dim T in 1..8
    in X f32[t, d]
    in W f32[d]
    out Y f32[t, d] = X * W
  node add(scaled) over sums -> sums_new
    op add(p: P, d: 3, t*: T)
    dim P in 2..6 multiple of 2, T in 1..8
    in X f32[t, d]
    update Y f32[p, d] = sum(X)

block tail
  node picked(id, scaled) -> picked
    op picked(t: T, d: 3)
    dim T in 1..8
    index id i32[t]
    in X f32[id[t], d] of [T, 3]
    out Y f32[t, d] = X
  node normed(picked) -> normed
    composite norm: count = 3, epsilon = 1e-06, name = "a \"b\"", width = 2.0

output normed, picked
)";

}  // namespace tessera::testing
