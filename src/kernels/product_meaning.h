#pragma once

#include "movement/program.h"

/// What calls for sums of products compute, in plain statements.
namespace tessera {

/// What is wrong with a number of lanes; empty if nothing is.
std::string lanes_problem(int64_t lanes);

/// A variable of a meaning: its name is none that a program can have. `count` values from 0.
Variable meaning_variable(const char* name, const Index& count, int64_t multiple_of = 1);

ValuePtr load_value(Address at, int64_t lane_stride = 0);
ValuePtr accumulator_value(const char* name, bool fold_lanes = false);
/// The element `by` elements behind.
Address moved(const Address& address, const Index& by);

/// A group of lanes of the factor at two positions; a strided one's lanes are `lane_stride` apart.
ValuePtr factor_value(const Factor& factor, const Index& outer, const Index& inner, int64_t lane_stride = 1);

/// C[m, n] (+)= sum_k A[m, k] B[n, k], with lanes along n.
struct Product {
    int64_t lanes, k_lanes;
    bool accumulate;
    Index m, n, k;
    Address a;
    Index a_m, a_k;
    Factor b;  ///< outer: groups of n; inner: groups of `k_lanes` of k
    Address c;
    Index c_m, c_group;
};
///     for m: for lanes n: { sum = 0 or C[m, n]; for k: sum += A[m, k] * B[n, k]; C[m, n] = sum }
Body product_meaning(const Product& product);

/// for m: for lanes n: body, with `m` and `n` as variables of the body.
struct ResultLoops {
    Variable m, n;
    Index m_extent, n_extent;
    int64_t lanes;

    ResultLoops(Index rows, Index columns, int64_t group);
    Index row() const { return Index::variable(m); }
    Index group() const { return floor_div(Index::variable(n), lanes); }
    Body around(Body body) const;
};

}  // namespace tessera
