#include "movement/calls/dot_call.h"

#include "movement/call_text.h"
#include "movement/calls/product_meaning.h"
#include "support/error.h"

namespace tessera {
namespace {

std::string problem(const DotCall& c) {
    return lanes_problem(c.lanes);
}

/// for m: for n: { sum = 0; for lanes k: sum += A[m, k] * B[n, k]; C[m, n] (+)= fold(sum) }
Body meaning(const DotCall& c) {
    constexpr const char* kSum = "call.sum";
    const Variable m = meaning_variable("m", c.m), n = meaning_variable("n", c.n),
                   k = meaning_variable("k", c.k, c.lanes);
    const Index row = Index::variable(m), column = Index::variable(n),
                group = floor_div(Index::variable(k), c.lanes);
    const int64_t stride = c.lanes > 1 ? 1 : 0;
    const ValuePtr product =
        apply_value(Function::kMul, {load_value(moved(c.a, row * c.a_m + group * c.a_group), stride),
                                     factor_value(c.b, column, group, stride)});
    const Address to = moved(c.c, row * c.c_m + column * c.c_n);
    ValuePtr total = accumulator_value(kSum, c.lanes > 1);
    if (c.accumulate) total = apply_value(Function::kAdd, {load_value(to), total});
    Body body = {{Declare{kSum, Monoid::kSum, c.lanes}},
                 {VectorFor{k, Index(0), c.k, c.lanes, {{Accumulate{kSum, Monoid::kSum, product, nullptr}}}}},
                 {Store{to, 0, total}}};
    return {{For{m, Index(0), c.m, 1, {{For{n, Index(0), c.n, 1, std::move(body)}}}}}};
}

void spell(const DotCall& c, CallText& out) {
    out.line(
        fmt::format("ntt::contract_k<ntt::ContractKTile{{.lanes = {}, .rows = {}, .columns = {}, "
                    ".accumulate = {}}}>(",
                    c.lanes, c.rows, c.columns, c.accumulate));
    out.line(fmt::format("    {}, {}, {},", shared_extent(c.m), c.n.text(), c.k.text()));
    out.line(fmt::format("    ntt::k_lanes({}, {}, {}),", out.address(c.a), c.a_m.text(), fixed(c.a_group)));
    out.factor(c.b, c.lanes, kFactorInKLanes);
    out.line(fmt::format("    ntt::elements({}, {}, {}));", out.address(c.c), c.c_m.text(), fixed(c.c_n)));
}

}  // namespace

template <>
const CallKind& call_kind<DotCall>() {
    static constexpr CallKind kKind = make_call_kind<DotCall, problem, meaning, spell>("dot");
    return kKind;
}

}  // namespace tessera
