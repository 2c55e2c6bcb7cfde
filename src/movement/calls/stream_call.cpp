#include "movement/calls/stream_call.h"

#include "movement/call_text.h"
#include "movement/calls/product_meaning.h"
#include "support/error.h"

namespace tessera {
namespace {

std::string problem(const StreamCall& c) {
    return lanes_problem(c.lanes);
}

/// for m: {
///     largest = max(max[m], scores[m, s]); origin = largest, 0 where everything is masked
///     factor = e^(max[m] - origin); max[m] = largest
///     for s: scores[m, s] = e^(scores[m, s] - origin)
///     sum[m] = sum[m] * factor + sum of scores[m, s]
///     for lanes d: result[m, d] = result[m, d] * factor + sum of rounded(scores[m, s]) * V[s, d] }
Body meaning(const StreamCall& c) {
    constexpr const char *kLargest = "call.max", *kOrigin = "call.origin", *kFactor = "call.factor",
                         *kSum = "call.sum", *kValues = "call.values";
    const Variable m = meaning_variable("m", c.m), s = meaning_variable("s", c.s),
                   d = meaning_variable("d", c.d, c.lanes);
    const Index row = Index::variable(m), group = floor_div(Index::variable(d), c.lanes);
    const Address max = moved(c.max, row), sum = moved(c.sum, row);
    const Address result = moved(c.result, row * c.result_m + group * c.result_group);
    const Address score = moved(c.scores, row * Index(c.scores_stride) + Index::variable(s));
    const auto over_s = [&](Statement statement) {
        return Statement{For{s, Index(0), c.s, 1, {std::move(statement)}}};
    };
    const auto accumulated = [](const char* name, Monoid monoid, ValuePtr value) {
        return Statement{Accumulate{name, monoid, std::move(value), nullptr}};
    };
    const auto product = [](ValuePtr a, ValuePtr b) {
        return apply_value(Function::kMul, {std::move(a), std::move(b)});
    };
    const auto below_origin = [&](ValuePtr value) {
        return apply_value(Function::kExp,
                           {apply_value(Function::kSub, {std::move(value), accumulator_value(kOrigin)})});
    };
    const ValuePtr masked =
        apply_value(Function::kNegate, {std::make_shared<const ValueExpr>(ValueExpr{Infinity{}})});
    const ValuePtr origin =
        apply_value(Function::kSelect, {apply_value(Function::kEqual, {accumulator_value(kLargest), masked}),
                                        number_value(0), accumulator_value(kLargest)});
    Body rows = {{Declare{kLargest, Monoid::kMax}},
                 accumulated(kLargest, Monoid::kMax, load_value(max)),
                 over_s(accumulated(kLargest, Monoid::kMax, load_value(score))),
                 {Declare{kOrigin, Monoid::kSum}},
                 accumulated(kOrigin, Monoid::kSum, origin),
                 {Declare{kFactor, Monoid::kSum}},
                 accumulated(kFactor, Monoid::kSum, below_origin(load_value(max))),
                 {Store{max, 0, accumulator_value(kLargest)}},
                 over_s({Store{score, 0, below_origin(load_value(score))}}),
                 {Declare{kSum, Monoid::kSum}},
                 accumulated(kSum, Monoid::kSum, product(load_value(sum), accumulator_value(kFactor))),
                 over_s(accumulated(kSum, Monoid::kSum, load_value(score))),
                 {Store{sum, 0, accumulator_value(kSum)}}};
    Body values = {
        {Declare{kValues, Monoid::kSum, c.lanes}},
        accumulated(kValues, Monoid::kSum, product(load_value(result, 1), accumulator_value(kFactor))),
        over_s(accumulated(kValues, Monoid::kSum,
                           product(rounded_value(c.weights, load_value(score)),
                                   factor_value(c.v, group, Index::variable(s))))),
        {Store{result, 1, accumulator_value(kValues)}}};
    rows.push_back({VectorFor{d, Index(0), c.d, c.lanes, std::move(values)}});
    return {{For{m, Index(0), c.m, 1, std::move(rows)}}};
}

void spell(const StreamCall& c, CallText& out) {
    if (c.depth > 0) {
        out.line(fmt::format(
            "ntt::softmax_step_tiles<ntt::ContractTilesTile{{.tile_rows = {}, .lanes = {}, .depth = "
            "{}, .rows = {}, .groups = {}}}>(",
            c.tile_rows, c.lanes, c.depth, c.rows, c.groups));
    } else {
        const std::string weights =
            c.weights == ElementType::kF32 ? "" : fmt::format(", ntt::{}", name(c.weights));
        out.line(fmt::format(
            "ntt::softmax_step<ntt::ContractTile{{.lanes = {}, .rows = {}, .groups = {}{}{}{}}}{}>(", c.lanes,
            c.rows, c.groups, tile_member("prefetch", c.prefetch), c.dot ? ", .dot = true" : "",
            tile_member("panel_blocks", c.panel_blocks), weights));
    }
    out.line(fmt::format("    {}, {}, {}, {}, {},", shared_extent(c.m), c.s.text(), shared_extent(c.d),
                         out.address(c.scores), fixed(Index(c.scores_stride))));
    out.factor(c.v, c.lanes, kFactorInLanes);
    out.line(fmt::format("    ntt::softmax_state({}, {}, {}, {}, {}));", out.address(c.max),
                         out.address(c.sum), out.address(c.result), fixed(c.result_m),
                         fixed(c.result_group)));
}

}  // namespace

template <>
const CallKind& call_kind<StreamCall>() {
    static constexpr CallKind kKind = make_call_kind<StreamCall, problem, meaning, spell>("stream");
    return kKind;
}

}  // namespace tessera
