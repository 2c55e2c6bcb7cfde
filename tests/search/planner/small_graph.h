#pragma once

#include <string>

/// A graph small enough to be planned by hand in which there is something of every kind: a block that repeats
/// and carries, a state, views (one of which shows elements twice), a chain, a product, a predicate, and
/// several blocks that read one value.
namespace tessera::testing {

inline const std::string kPlannedGraph = R"(graph "planned"
symbol T in 1..8
point decode weight 1: T = 1
point prefill weight 1: T = 8

input x: f32[T, 16]
input slot: i32[T]
constant w: f32[16, 16] from "w"
state rows: f32[8, 16]
value begin: f32[T, 16]
value aside: f32[T, 16]
value norm: f32[T]
value scaled: f32[T, 16]
value product: f32[T, 16]
value turned: f32[16, T]
value few: f32[T, 16]
value rows_new: f32[8, 16]
value again: f32[T, 16]
value shown: f32[T, 16]
value out: f32[T, 16]
value sum: f32[T, 16]
value result: f32[T, 16]
value other: f32[T, 16]
value back: f32[T, 16]
value both: f32[T, 16]
value far: f32[T, 16]

block first
  node begin(x) -> begin
    op copy(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[t, n] = X * 2
  node aside(x) -> aside
    op copy(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[t, n] = X * 3

block layer repeat 2 carry begin -> out
  update rows -> rows_new
  node norm(begin) -> norm
    op reduce(t: T, n*: 16)
    dim T in 1..8
    in X f32[t, n]
    out R f32[t] = sum(X * X) + 1
  node scaled(begin, norm) -> scaled
    op apply(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    in R f32[t]
    out Y f32[t, n] = X / R
  node product(scaled, w) -> product
    op matmul(t: T, n: 16, k*: 16)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node turned(product) -> turned
    op transpose(n: 16, t: T)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[n, t] = X
  node few(turned) -> few
    op few(t: T, n: 16)
    dim T in 1..8
    in X f32[n, t]
    out Y f32[t, n] = X + 1
    where n < t
  node update(slot, scaled) over rows -> rows_new
    op store_rows(t: T, n: 16)
    dim T in 1..8
    index slot i32[t]
    in X f32[t, n]
    update C f32[slot[t], n] of [8, 16] = X
  node again(few, rows_new) -> again
    op add(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    in C f32[t, n] of [8, 16]
    out Y f32[t, n] = X + C
  node shown(again) -> shown
    op repeat(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n mod 4] of [T, 16]
    out Y f32[t, n] = X
  node out(begin, shown, aside) -> out
    op add(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    in Y f32[t, n]
    in A f32[t, n]
    out Z f32[t, n] = X + Y * 0.5 + A

block last
  node sum(out, aside) -> sum
    op add(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    in A f32[t, n]
    out Y f32[t, n] = X + A
  node result(sum) -> result
    op copy(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[t, n] = X - 1
  node other(x) -> other
    op copy(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[t, n] = X * 4

  node back(sum) -> back
    op reverse(t: T, n: 16)
    dim T in 1..8
    in X f32[t, 15 - n] of [T, 16]
    out Y f32[t, n] = X
  node both(sum, back) -> both
    op add(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    in A f32[t, n]
    out Y f32[t, n] = X + A
  node far(both, both) -> far
    op add(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    in A f32[t, 15 - n] of [T, 16]
    out Y f32[t, n] = X + A

output result, other
)";

}  // namespace tessera::testing
