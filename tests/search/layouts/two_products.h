#pragma once

#include "search/layouts/described_machines.h"

/// A small search, on a machine whose tiles agree: values between products stay in tiles.
namespace tessera::layouts::testing {

/// The graph; its name is markup.
inline Graph two_products() {
    return parse_graph(R"(graph "<b>x & y"
input X: f32[256, 256]
constant W: f32[256, 256] from "W"
constant V: f32[256, 256] from "V"
value H: f32[256, 256]
value Y: f32[256, 256]

block main
  node first(X, W) -> H
    op matmul(m: 256, n: 256, k*: 256)
    in A f32[m, k]
    in B f32[n, k]
    out C f32[m, n] = sum(A * B)
  node second(H, V) -> Y
    op matmul(m: 256, n: 256, k*: 256)
    in A f32[m, k]
    in B f32[n, k]
    out C f32[m, n] = sum(A * B)
output Y
)",
                       "two products");
}

struct Searched {
    Graph graph = two_products();
    plan::Plan initial{.graph = graph.name, .machine = "described", .specialisations = {{.name = "all"}}};
    Search search = layouts::testing::search(graph, machine_with({})).search;
};

}  // namespace tessera::layouts::testing
