#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph_interpreter.h"
#include "lowering/plan/plan.h"

/// Attention over a paged cache as the models have it, with one cache head: q -> g (rows by sequence),
/// scores, (M, L, A) of `attend`, y.
namespace tessera::testing {

Graph divided_attention_graph(int64_t heads);
/// The same over a cache of bf16, to which queries and the weights of the softmax are rounded; a score is ln
/// 2 times the product.
Graph rounded_attention_graph(int64_t heads);

/// The nests, each behind a barrier. Only tiles exist of g, of the scores and of the combined results; parts
/// are laid out so that the rows of a head lie side by side.
plan::Plan divided_attention_plan(const Graph& graph, const std::vector<std::string>& nests, int64_t workers);

/// Two sequences: one that begins at `start` and has `rows` new rows, and one at half of that with a row
/// less.
GraphCall divided_attention_call(const Graph& graph, int64_t start, int64_t rows);
/// The same with whole numbers as queries and keys, so that weights are powers of two and bf16 holds them, of
/// whatever maximum; or with any numbers of bf16.
GraphCall rounded_attention_call(const Graph& graph, int64_t start, int64_t rows, bool are_whole);

}  // namespace tessera::testing
