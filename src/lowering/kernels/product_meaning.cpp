#include "lowering/kernels/product_meaning.h"

#include <algorithm>

namespace tessera::kernels {

std::string lanes_problem(int64_t lanes) {
    return movement::is_number_of_lanes(lanes) ? "" : "lanes are no power of two that a vector has";
}

movement::Variable meaning_variable(const char* name, const movement::Index& count, int64_t multiple_of) {
    return {std::string("call.") + name,
            {0, std::max<int64_t>(count.bounds().high - 1, 0) / multiple_of * multiple_of},
            multiple_of};
}

movement::ValuePtr load_value(movement::Address at, int64_t lane_stride) {
    movement::Load load;
    load.from = std::move(at);
    load.lane_stride = lane_stride;
    return std::make_shared<const movement::ValueExpr>(movement::ValueExpr{std::move(load)});
}

movement::ValuePtr accumulator_value(const char* name, bool fold_lanes) {
    return std::make_shared<const movement::ValueExpr>(
        movement::ValueExpr{movement::AccumulatorRef{name, fold_lanes}});
}

movement::Address moved(const movement::Address& address, const movement::Index& by) {
    return {address.buffer, address.offset + by, address.element};
}

movement::ValuePtr factor_value(const movement::Factor& factor, const movement::Index& outer,
                                const movement::Index& inner, int64_t lane_stride) {
    if (const auto* strided = std::get_if<movement::StridedFactor>(&factor))
        return load_value(moved(strided->start, strided->outer * outer + strided->inner * inner),
                          lane_stride);
    const auto& computed = std::get<movement::ComputedFactor>(factor);
    return movement::substitute(movement::substitute(computed.value, computed.outer.name, outer),
                                computed.inner.name, inner);
}

ResultLoops::ResultLoops(movement::Index rows, movement::Index columns, int64_t group)
    : m(meaning_variable("m", rows)),
      n(meaning_variable("n", columns, group)),
      m_extent(std::move(rows)),
      n_extent(std::move(columns)),
      lanes(group) {}

movement::Body ResultLoops::around(movement::Body body) const {
    return {
        {movement::For{m,
                       movement::Index(0),
                       m_extent,
                       1,
                       {{movement::VectorFor{n, movement::Index(0), n_extent, lanes, std::move(body)}}}}}};
}

movement::Body product_meaning(const Product& p) {
    constexpr const char* kSum = "call.sum";
    const ResultLoops loops(p.m, p.n, p.lanes);
    const movement::Variable k = meaning_variable("k", p.k);
    const movement::Index at_k = movement::Index::variable(k);
    const movement::Address c = moved(p.c, loops.row() * p.c_m + loops.group() * p.c_group);
    std::vector<movement::Variable> around;
    movement::Index a_offset = loops.row() * p.a_m + at_k * p.a_k, b_offset = movement::mod(at_k, p.k_lanes);
    for (const OuterSum& sum : p.sums) {
        around.push_back(meaning_variable(("sum" + std::to_string(around.size())).c_str(), sum.count));
        const movement::Index at = movement::Index::variable(around.back());
        a_offset = a_offset + at * sum.a;
        b_offset = b_offset + at * sum.b;
    }
    const movement::ValuePtr a = load_value(moved(p.a, a_offset));
    movement::Factor b = p.b;
    if (auto* strided = std::get_if<movement::StridedFactor>(&b))
        strided->start.offset = strided->start.offset + b_offset;
    const movement::ValuePtr of_b =
        factor_value(b, loops.group(), movement::floor_div(at_k, p.k_lanes), p.k_lanes);
    movement::Body body = {{movement::Declare{kSum, Monoid::kSum, p.lanes}}};
    if (p.accumulate) body.push_back({movement::Accumulate{kSum, Monoid::kSum, load_value(c, 1), nullptr}});
    movement::Statement sum{
        movement::For{k,
                      movement::Index(0),
                      p.k,
                      1,
                      {{movement::Accumulate{kSum, Monoid::kSum,
                                             movement::apply_value(Function::kMul, {a, of_b}), nullptr}}}}};
    for (size_t i = p.sums.size(); i-- > 0;)
        sum = {movement::For{around[i], movement::Index(0), p.sums[i].count, 1, {std::move(sum)}}};
    body.push_back(std::move(sum));
    body.push_back({movement::Store{c, 1, accumulator_value(kSum)}});
    return loops.around(std::move(body));
}

}  // namespace tessera::kernels
