#include "kernels/product_meaning.h"

#include <algorithm>

namespace tessera {

std::string lanes_problem(int64_t lanes) {
    return is_number_of_lanes(lanes) ? "" : "lanes are no power of two that a vector has";
}

Variable meaning_variable(const char* name, const Index& count, int64_t multiple_of) {
    return {std::string("call.") + name,
            {0, std::max<int64_t>(count.bounds().high - 1, 0) / multiple_of * multiple_of},
            multiple_of};
}

ValuePtr load_value(Address at, int64_t lane_stride) {
    Load load;
    load.from = std::move(at);
    load.lane_stride = lane_stride;
    return std::make_shared<const ValueExpr>(ValueExpr{std::move(load)});
}

ValuePtr accumulator_value(const char* name, bool fold_lanes) {
    return std::make_shared<const ValueExpr>(ValueExpr{AccumulatorRef{name, fold_lanes}});
}

Address moved(const Address& address, const Index& by) {
    return {address.buffer, address.offset + by, address.element};
}

ValuePtr factor_value(const Factor& factor, const Index& outer, const Index& inner, int64_t lane_stride) {
    if (const auto* strided = std::get_if<StridedFactor>(&factor))
        return load_value(moved(strided->start, strided->outer * outer + strided->inner * inner),
                          lane_stride);
    const auto& computed = std::get<ComputedFactor>(factor);
    return substitute(substitute(computed.value, computed.outer.name, outer), computed.inner.name, inner);
}

ResultLoops::ResultLoops(Index rows, Index columns, int64_t group)
    : m(meaning_variable("m", rows)),
      n(meaning_variable("n", columns, group)),
      m_extent(std::move(rows)),
      n_extent(std::move(columns)),
      lanes(group) {}

Body ResultLoops::around(Body body) const {
    return {{For{m, Index(0), m_extent, 1, {{VectorFor{n, Index(0), n_extent, lanes, std::move(body)}}}}}};
}

Body product_meaning(const Product& p) {
    constexpr const char* kSum = "call.sum";
    const ResultLoops loops(p.m, p.n, p.lanes);
    const Variable k = meaning_variable("k", p.k);
    const Index at_k = Index::variable(k);
    const Address c = moved(p.c, loops.row() * p.c_m + loops.group() * p.c_group);
    const ValuePtr a = load_value(moved(p.a, loops.row() * p.a_m + at_k * p.a_k));
    Factor b = p.b;
    if (auto* strided = std::get_if<StridedFactor>(&b))
        strided->start.offset = strided->start.offset + mod(at_k, p.k_lanes);
    const ValuePtr of_b = factor_value(b, loops.group(), floor_div(at_k, p.k_lanes), p.k_lanes);
    Body body = {{Declare{kSum, Monoid::kSum, p.lanes}}};
    if (p.accumulate) body.push_back({Accumulate{kSum, Monoid::kSum, load_value(c, 1), nullptr}});
    body.push_back(
        {For{k,
             Index(0),
             p.k,
             1,
             {{Accumulate{kSum, Monoid::kSum, apply_value(Function::kMul, {a, of_b}), nullptr}}}}});
    body.push_back({Store{c, 1, accumulator_value(kSum)}});
    return loops.around(std::move(body));
}

}  // namespace tessera
