#pragma once

#include <vector>

#include "lowering/movement/call_fields.h"
#include "lowering/movement/program.h"

/// The meaning of calls for sums of products, in plain statements.
namespace tessera::kernels {

/// A fault in a number of lanes; empty if there is none.
std::string lanes_problem(int64_t lanes);

/// A variable of a meaning: its name is none that a program can have. `count` values from 0.
movement::Variable meaning_variable(const char* name, const movement::Index& count, int64_t multiple_of = 1);

movement::ValuePtr load_value(movement::Address at, int64_t lane_stride = 0);
movement::ValuePtr accumulator_value(const char* name, bool fold_lanes = false);
/// The element `by` elements behind.
movement::Address moved(const movement::Address& address, const movement::Index& by);

/// A group of lanes of the factor at two positions; a strided one's lanes are `lane_stride` apart.
movement::ValuePtr factor_value(const movement::Factor& factor, const movement::Index& outer,
                                const movement::Index& inner, int64_t lane_stride = 1);

/// A sum around that over k, with the strides of the factors.
struct OuterSum {
    movement::Index count, a, b;

    static constexpr auto kFields =
        std::tuple{movement::field("count", &OuterSum::count), movement::field("a", &OuterSum::a),
                   movement::field("b", &OuterSum::b)};
};

/// C[m, n] (+)= sum_k A[m, k] B[n, k], with lanes along n.
struct Product {
    int64_t lanes, k_lanes;
    bool accumulate;
    movement::Index m, n, k;
    movement::Address a;
    movement::Index a_m, a_k;
    movement::Factor b;  ///< outer: groups of n; inner: groups of `k_lanes` of k
    movement::Address c;
    movement::Index c_m, c_group;
    std::vector<OuterSum> sums = {};  ///< outermost first; B is strided if there are any
};
///     for m: for lanes n: { sum = 0 or C[m, n]; for k: sum += A[m, k] * B[n, k]; C[m, n] = sum }
///
/// with the loops of `sums` around that over k.
movement::Body product_meaning(const Product& product);

/// for m: for lanes n: body, with `m` and `n` as variables of the body.
struct ResultLoops {
    movement::Variable m, n;
    movement::Index m_extent, n_extent;
    int64_t lanes;

    ResultLoops(movement::Index rows, movement::Index columns, int64_t group);
    movement::Index row() const { return movement::Index::variable(m); }
    movement::Index group() const { return movement::floor_div(movement::Index::variable(n), lanes); }
    movement::Body around(movement::Body body) const;
};

}  // namespace tessera::kernels
