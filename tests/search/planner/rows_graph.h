#pragma once

#include "ir/graph.h"

namespace tessera::testing {

/// A norm of rows, a map of it, and one of both.
inline Graph rows_graph() {
    Graph graph = parse_graph(R"(graph "rows"
symbol T in 1..64
point prompt weight 1: T = 64
input x: f32[T, 64]
value r: f32[T]
value normed: f32[T, 64]
value doubled: f32[T, 64]
value y: f32[T, 64]

block main
  node r(x) -> r
    op reduce(t: T, d*: 64)
    dim T in 1..64
    in X f32[t, d]
    out R f32[t] = rsqrt(sum(X * X) + 1)
  node normed(x, r) -> normed
    op apply(t: T, d: 64)
    dim T in 1..64
    in X f32[t, d]
    in R f32[t]
    out Y f32[t, d] = X * R
  node doubled(normed) -> doubled
    op double(t: T, d: 64)
    dim T in 1..64
    in X f32[t, d]
    out Y f32[t, d] = X * 2
  node y(normed, doubled) -> y
    op add(t: T, d: 64)
    dim T in 1..64
    in X f32[t, d]
    in Z f32[t, d]
    out Y f32[t, d] = X + Z

output y
)",
                              "rows");
    verify(graph, "rows");
    return graph;
}

}  // namespace tessera::testing
