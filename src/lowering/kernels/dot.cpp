// Micro-kernel `dot`: sums of products with lanes along k, which are folded at the end.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lowering/kernels/call_text.h"
#include "lowering/kernels/contraction_tile.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_candidates.h"
#include "lowering/kernels/product_meaning.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/register_blocks.h"
#include "lowering/movement/call_fields.h"

namespace tessera::kernels::dot {
namespace {

/// C[m, n] (+)= sum_k A[m, k] B[n, k] with lanes along k, folded at the end.
struct DotCall {
    int64_t lanes = 1, rows = 1, columns = 1;
    bool accumulate = false;
    movement::Index m, n, k;
    movement::Address a;
    movement::Index a_m, a_group;  ///< `group`: from one group of lanes along k to the next
    movement::Factor b;            ///< outer: n; inner: groups of k
    movement::Address c;
    movement::Index c_m, c_n;

    static constexpr auto kFields = std::tuple{movement::field("lanes", &DotCall::lanes),
                                               movement::field("rows", &DotCall::rows),
                                               movement::field("columns", &DotCall::columns),
                                               movement::field("accumulate", &DotCall::accumulate),
                                               movement::field("m", &DotCall::m),
                                               movement::field("n", &DotCall::n),
                                               movement::field("k", &DotCall::k),
                                               movement::field("a", &DotCall::a),
                                               movement::field("a_m", &DotCall::a_m),
                                               movement::field("a_group", &DotCall::a_group),
                                               movement::field("b", &DotCall::b),
                                               movement::field("c", &DotCall::c),
                                               movement::field("c_m", &DotCall::c_m),
                                               movement::field("c_n", &DotCall::c_n)};

    static const movement::CallKind& kind();
};

std::string problem(const DotCall& c) {
    return lanes_problem(c.lanes);
}

/// for m: for n: { sum = 0; for lanes k: sum += A[m, k] * B[n, k]; C[m, n] (+)= fold(sum) }
movement::Body meaning(const DotCall& c) {
    constexpr const char* kSum = "call.sum";
    const movement::Variable m = meaning_variable("m", c.m), n = meaning_variable("n", c.n),
                             k = meaning_variable("k", c.k, c.lanes);
    const movement::Index row = movement::Index::variable(m), column = movement::Index::variable(n),
                          group = movement::floor_div(movement::Index::variable(k), c.lanes);
    const int64_t stride = c.lanes > 1 ? 1 : 0;
    const movement::ValuePtr product = movement::apply_value(
        Function::kMul, {load_value(moved(c.a, row * c.a_m + group * c.a_group), stride),
                         factor_value(c.b, column, group, stride)});
    const movement::Address to = moved(c.c, row * c.c_m + column * c.c_n);
    movement::ValuePtr total = accumulator_value(kSum, c.lanes > 1);
    if (c.accumulate) total = movement::apply_value(Function::kAdd, {load_value(to), total});
    movement::Body body = {
        {movement::Declare{kSum, Monoid::kSum, c.lanes}},
        {movement::VectorFor{k,
                             movement::Index(0),
                             c.k,
                             c.lanes,
                             {{movement::Accumulate{kSum, Monoid::kSum, product, nullptr}}}}},
        {movement::Store{to, 0, total}}};
    return {{movement::For{
        m, movement::Index(0), c.m, 1, {{movement::For{n, movement::Index(0), c.n, 1, std::move(body)}}}}}};
}

void spell(const DotCall& c, CallText& out) {
    out.line(
        fmt::format("ntt::contract_k<ntt::ContractKTile{{.lanes = {}, .rows = {}, .columns = {}, "
                    ".accumulate = {}}}>(",
                    c.lanes, c.rows, c.columns, c.accumulate));
    out.line(fmt::format("    {}, {}, {},", out.shared_extent(c.m), out.text(c.n), out.text(c.k)));
    out.line(fmt::format("    ntt::k_lanes({}, {}, {}),", out.address(c.a), out.text(c.a_m),
                         out.fixed(c.a_group)));
    out.factor(c.b, c.lanes, kFactorInKLanes);
    out.line(
        fmt::format("    ntt::elements({}, {}, {}));", out.address(c.c), out.text(c.c_m), out.fixed(c.c_n)));
}

}  // namespace

const movement::CallKind& DotCall::kind() {
    static constexpr movement::CallKind kKind = movement::make_call_kind<DotCall, problem, meaning>("dot");
    return kKind;
}

namespace {

movement::Body lower(const lowering::LeafScope& scope) {
    const ContractionTile roles = contraction_tile(scope);
    const int64_t lanes = scope.leaf.number(parameter::kLanes);
    ProductTile tile = surrounding(scope, roles);
    std::vector<movement::Index> at = tile.loops.values();
    refuse_reads_outside(scope, factors_read(roles));
    const auto range = [&](int x) -> const lowering::Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const lowering::Range row = row_range(scope, roles.m);
    const FactorPositions positions{kColumn, range(roles.n).largest, kGroup,
                                    groups_in(range(roles.k), lanes)};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.n)] = range(roles.n).begin + position(kColumn, positions.outer_count);
    at[static_cast<size_t>(roles.k)] = range(roles.k).begin +
                                       position(kGroup, positions.inner_count) * movement::Index(lanes) +
                                       position(lowering::kLane, lanes);

    const Read& left = roles.product.a;
    const TileAddress a(scope, left.tensor, left.coordinates, at, false);
    const TileAddress c(scope, roles.c, scope.node.definition()->tensors[static_cast<size_t>(roles.c)].map,
                        at, true);
    if (lanes > 1) a.expect_stride(lowering::kLane, 1);
    DotCall call{.lanes = lanes,
                 .rows = scope.leaf.number(parameter::kRows),
                 .columns = scope.leaf.number(parameter::kColumnsInRegisters),
                 .accumulate = tile.accumulates,
                 .m = extent(row),
                 .n = extent(range(roles.n)),
                 .k = extent(range(roles.k)),
                 .a = a.start(),
                 .a_m = a.stride(kRow),
                 .a_group = a.stride(kGroup),
                 .b = factor_b(scope, roles, at, positions, lanes),
                 .c = c.start(),
                 .c_m = c.stride(kRow),
                 .c_n = c.stride(kColumn)};
    return finished(scope, std::move(tile), {movement::Call(std::move(call))});
}

void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    constexpr int kTurn = 2;
    for (int64_t lanes = scope.target.lanes; lanes > 1; lanes /= 2)
        for_each_reading(scope, [&](const ProductReading& product) {
            for (const RegisterBlock& block :
                 offered(register_blocks(scope.target, product.rows, false), scope.target)) {
                plan::Leaf leaf = product.leaf;
                leaf.set(parameter::kLanes, lanes)
                    .set(parameter::kRows, block.rows)
                    .set(parameter::kColumnsInRegisters, block.columns);
                out.push_back({std::move(leaf), lanes, kTurn, product.index});
            }
        });
}
constexpr std::array kParameters = {parameter::kRowsOfA,
                                    parameter::kColumns,
                                    parameter::kReduction,
                                    parameter::kLanes,
                                    parameter::in_registers("rows", "rows in registers", 16),
                                    parameter::kColumnsInRegisters};
constexpr std::array kResults = {ElementType::kF32};

}  // namespace
}  // namespace tessera::kernels::dot

namespace tessera::kernels {

extern const plan::MicroKernel kDot;
constinit const plan::MicroKernel kDot{
    .name = "dot",
    .summary = "register-blocked C[m,n] = sum_k A[m,k] B[n,k], lanes along k",
    .implements = "sums of products",
    .parameters = dot::kParameters,
    .results = dot::kResults,
    .tiles_reductions = true,
    .product = {&parameter::kRowsOfA, &parameter::kColumns, &parameter::kReduction},
    .lanes = {&parameter::kColumns, &parameter::kLanes},
    .why_not = why_no_contraction,
    .candidates = dot::candidates,
    .lower = dot::lower,
    .call = dot::DotCall::kind,
    .spell = spelled<dot::DotCall, dot::spell>,
    .types = product_types,
    .streamed = streamed_factor};
}  // namespace tessera::kernels
