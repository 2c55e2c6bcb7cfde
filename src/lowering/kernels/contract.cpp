// Micro-kernel `contract`: sums of products with lanes along n, as a call of NTT's register-blocked
// contraction. The iterators m, n and k determine which factor is A and which is B.
#include <algorithm>
#include <array>

#include "ir/iterator_use.h"
#include "lowering/kernels/call_text.h"
#include "lowering/kernels/contraction_tile.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_candidates.h"
#include "lowering/kernels/product_meaning.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/register_blocks.h"
#include "lowering/kernels/unit_lanes.h"
#include "lowering/movement/call_fields.h"
#include "lowering/refusal.h"

namespace tessera::kernels::contract {
namespace {

/// C[m, n] (+)= sum_k A[m, k] B[n, k]; strides in elements, n in groups of `lanes`, k in groups of `k_lanes`.
struct ContractCall {
    int64_t lanes = 1, rows = 1, groups = 1;  ///< register block
    int64_t partial_sums = 1;                 ///< of each row and group, which take the groups of k in turns
    int64_t prefetch = 0;                     ///< bytes by which B is fetched ahead
    int64_t streams = 1;       ///< parts of n of which a block has a group each; 1, or `groups`
    int64_t panel_blocks = 0;  ///< blocks of rows for which B is widened by panels; 0: never
    int64_t k_lanes = 1;       ///< B[n, k] of a group lie side by side, those of one n first
    bool dot = false;          ///< the products of a group of k are added by one operation
    bool accumulate = false;
    bool b_is_padded = false;  ///< B's last group may be read whole
    movement::Index m, n, k;   ///< extents
    movement::Address a;
    movement::Index a_m, a_k;
    movement::Factor b;  ///< outer: groups of n; inner: groups of k
    movement::Address c;
    movement::Index c_m, c_group;
    std::vector<OuterSum> sums;  ///< outermost first

    static constexpr auto kFields = std::tuple{movement::field("lanes", &ContractCall::lanes),
                                               movement::field("rows", &ContractCall::rows),
                                               movement::field("groups", &ContractCall::groups),
                                               movement::field("partial_sums", &ContractCall::partial_sums),
                                               movement::field("prefetch", &ContractCall::prefetch),
                                               movement::field("streams", &ContractCall::streams),
                                               movement::field("panel_blocks", &ContractCall::panel_blocks),
                                               movement::field("k_lanes", &ContractCall::k_lanes),
                                               movement::field("dot", &ContractCall::dot),
                                               movement::field("accumulate", &ContractCall::accumulate),
                                               movement::field("b_is_padded", &ContractCall::b_is_padded),
                                               movement::field("m", &ContractCall::m),
                                               movement::field("n", &ContractCall::n),
                                               movement::field("k", &ContractCall::k),
                                               movement::field("a", &ContractCall::a),
                                               movement::field("a_m", &ContractCall::a_m),
                                               movement::field("a_k", &ContractCall::a_k),
                                               movement::field("b", &ContractCall::b),
                                               movement::field("c", &ContractCall::c),
                                               movement::field("c_m", &ContractCall::c_m),
                                               movement::field("c_group", &ContractCall::c_group),
                                               movement::field("sums", &ContractCall::sums)};

    static const movement::CallKind& kind();
};

std::string problem(const ContractCall& c) {
    if (c.k_lanes != 1 && c.k_lanes != 2) return "k_lanes is neither 1 nor 2";
    return lanes_problem(c.lanes);
}

movement::Body meaning(const ContractCall& c) {
    return product_meaning({.lanes = c.lanes,
                            .k_lanes = c.k_lanes,
                            .accumulate = c.accumulate,
                            .m = c.m,
                            .n = c.n,
                            .k = c.k,
                            .a = c.a,
                            .a_m = c.a_m,
                            .a_k = c.a_k,
                            .b = c.b,
                            .c = c.c,
                            .c_m = c.c_m,
                            .c_group = c.c_group,
                            .sums = c.sums});
}

void spell(const ContractCall& c, CallText& out) {
    out.line(fmt::format(
        "ntt::contract<ntt::ContractTile{{.lanes = {}, .rows = {}, .groups = {}, .accumulate "
        "= {}, .b_padded = {}{}{}{}{}{}}}>(",
        c.lanes, c.rows, c.groups, c.accumulate, c.b_is_padded, tile_member("prefetch", c.prefetch),
        tile_member("streams", c.streams, 1), c.dot ? ", .dot = true" : "",
        tile_member("partial_sums", c.partial_sums, 1), tile_member("panel_blocks", c.panel_blocks)));
    out.line(fmt::format("    {}, {}, {},", out.shared_extent(c.m), out.text(c.n), out.text(c.k)));
    out.line(fmt::format("    ntt::rows({}, {}, {}),", out.address(c.a), out.text(c.a_m), out.fixed(c.a_k)));
    out.factor(c.b, c.lanes, c.k_lanes == 2 ? kFactorInLanePairs : kFactorInLanes);
    std::string sums;
    for (const OuterSum& sum : c.sums)
        sums += fmt::format(", ntt::outer_sum({}, {}, {})", out.text(sum.count), out.text(sum.a),
                            out.text(sum.b));
    out.line(fmt::format("    ntt::result({}, {}, {}){});", out.address(c.c), out.text(c.c_m),
                         out.fixed(c.c_group), sums));
}

}  // namespace

const movement::CallKind& ContractCall::kind() {
    static constexpr movement::CallKind kKind =
        movement::make_call_kind<ContractCall, problem, meaning>("contract");
    return kKind;
}

namespace {

/// Neighbouring k in B's lanes, and whether one operation adds their products, as NTT supports it.
struct KLanes {
    int64_t count;
    bool dot;
};

KLanes k_lanes_of(const lowering::LeafScope& scope, const ContractionTile& roles) {
    const int64_t count = scope.leaf.number(parameter::kKLanes), dot = scope.leaf.number(parameter::kDot);
    const auto expect_bf16 = [&](const Read& factor, const char* parameter) {
        const TensorDecl& tensor = scope.node.definition()->tensors[static_cast<size_t>(factor.tensor)];
        if (tensor.type == ElementType::kBF16) return;
        throw lowering::Refused(scope.node.name, tensor.name,
                                fmt::format("is of {}; {}=2 needs bf16", name(tensor.type), parameter),
                                fmt::format("leave {} out", parameter));
    };
    const Read* b = roles.product.b_operand();
    if (dot > 1 && !b)
        throw lowering::Refused(scope.node.name, "dot", "its factor is computed from several operands",
                                "leave dot out");
    if (dot > 1 && count == 1 && scope.leaf.number(parameter::kLanes) == 1)
        throw lowering::Refused(scope.node.name, "dot", "lays lanes into each other, and there are none",
                                "give lanes");
    if (count > 1 && b) expect_bf16(*b, "k_lanes");
    if (dot > 1) {
        expect_bf16(roles.product.a, "dot");
        expect_bf16(*b, "dot");
    }
    return {count, dot > 1};
}

/// @throws Error if panels are asked for where NTT has none.
void expect_panels_possible(const lowering::LeafScope& scope, const ContractionTile& roles) {
    if (scope.leaf.number(parameter::kPanelBlocks) == 0) return;
    const TensorDecl& a = scope.node.definition()->tensors[static_cast<size_t>(roles.product.a.tensor)];
    if (a.type == ElementType::kF32) return;
    throw lowering::Refused(scope.node.name, "panel_blocks",
                            fmt::format("{} is of {}; panels are for rows of f32", a.name, name(a.type)),
                            "leave panel_blocks out");
}

/// NTT sums over all reductions in its registers: B is read as it is stored, and neither it nor A is widened
/// for a part of k.
bool sums_all(const Definition& definition, const plan::Leaf& leaf) {
    if (leaf.number(parameter::kPanelBlocks) > 0 || leaf.number(parameter::kKLanes) > 1 ||
        leaf.number(parameter::kDot) > 1 || definition.where)
        return false;
    const auto is_f32 = [&](const Read& factor) {
        return definition.tensors[static_cast<size_t>(factor.tensor)].type == ElementType::kF32;
    };
    const int n = plan::iterator_of(definition, leaf, parameter::kColumns),
              k = plan::iterator_of(definition, leaf, parameter::kReduction);
    return std::ranges::any_of(contractions_of(definition), [&](const Contraction& product) {
        const Read* b = product.b_operand();
        return contains(product.n, n) && contains(product.k, k) && b && is_f32(product.a) && is_f32(*b);
    });
}

/// Values of the sums as positions inside of the tile.
void set_positions(const lowering::LeafScope& scope, const std::vector<int>& sums,
                   std::vector<movement::Index>& at) {
    for (size_t i = 0; i < sums.size(); ++i) {
        const lowering::Range& range = scope.ranges[static_cast<size_t>(sums[i])];
        at[static_cast<size_t>(sums[i])] = range.begin + position(kSums[i], range.largest);
    }
}

/// The reductions over which the call sums, besides k: those along which both factors have strides, as they
/// must then have along k and n.
std::vector<int> sums_around(const lowering::LeafScope& scope, const ContractionTile& roles) {
    std::vector<int> sums = plan::sums_of_call(*scope.node.definition(), scope.leaf);
    std::erase_if(sums,
                  [&](int x) { return x == roles.k || scope.ranges[static_cast<size_t>(x)].is_single(); });
    if (sums.empty() || sums.size() > kSums.size()) return {};
    std::vector<movement::Index> at = anywhere(scope);
    set_positions(scope, sums, at);
    const int64_t lanes = scope.leaf.number(parameter::kLanes);
    const lowering::Range &k = scope.ranges[static_cast<size_t>(roles.k)],
                          &n = scope.ranges[static_cast<size_t>(roles.n)];
    at[static_cast<size_t>(roles.k)] = k.begin + position(kStep, k.largest);
    at[static_cast<size_t>(roles.n)] = n.begin +
                                       position(kGroup, groups_in(n, lanes)) * movement::Index(lanes) +
                                       position(lowering::kLane, lanes);
    for (const Read* factor : {&roles.product.a, roles.product.b_operand()}) {
        const TileAddress address(scope, factor->tensor, factor->coordinates, at, false);
        bool is_strided = address.is_strided(kStep) && address.is_strided(kGroup);
        for (size_t i = 0; i < sums.size(); ++i) is_strided = is_strided && address.is_strided(kSums[i]);
        if (!is_strided) return {};
    }
    return sums;
}

movement::Body lower(const lowering::LeafScope& scope) {
    const ContractionTile roles = contraction_tile(scope);
    const int64_t lanes = scope.leaf.number(parameter::kLanes);
    const KLanes k_lanes = k_lanes_of(scope, roles);
    expect_panels_possible(scope, roles);
    const std::vector<int> sums = sums_around(scope, roles);
    ProductTile tile = surrounding(scope, roles, sums);
    std::vector<movement::Index> at = tile.loops.values();
    set_positions(scope, sums, at);
    refuse_reads_outside(scope, factors_read(roles));
    const auto range = [&](int x) -> const lowering::Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const lowering::Range row = row_range(scope, roles.m);
    const FactorPositions positions{kGroup, groups_in(range(roles.n), lanes), kStep,
                                    groups_in(range(roles.k), k_lanes.count), k_lanes.count};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.k)] =
        range(roles.k).begin + position(kStep, positions.inner_count) * movement::Index(k_lanes.count) +
        position(kInStep, k_lanes.count);
    at[static_cast<size_t>(roles.n)] = range(roles.n).begin +
                                       position(kGroup, positions.outer_count) * movement::Index(lanes) +
                                       position(lowering::kLane, lanes);

    const Read& left = roles.product.a;
    const TileAddress a(scope, left.tensor, left.coordinates, at, false);
    const TileAddress c(scope, roles.c, scope.node.definition()->tensors[static_cast<size_t>(roles.c)].map,
                        at, true);
    if (lanes > 1) c.expect_stride(lowering::kLane, 1);
    if (k_lanes.count > 1) a.expect_stride(kStep, k_lanes.count * a.stride(kInStep));
    if (k_lanes.dot) a.expect_stride(k_lanes.count > 1 ? kInStep : kStep, 1);
    ContractCall call{.lanes = lanes,
                      .rows = scope.leaf.number(parameter::kRows),
                      .groups = scope.leaf.number(parameter::kGroups),
                      .partial_sums = scope.leaf.number(parameter::kPartialSums),
                      .prefetch = scope.leaf.number(parameter::kPrefetch),
                      .streams = streams_of(scope),
                      .panel_blocks = scope.leaf.number(parameter::kPanelBlocks),
                      .k_lanes = k_lanes.count,
                      .dot = k_lanes.dot,
                      .accumulate = tile.accumulates,
                      .b_is_padded = std::all_of(
                          roles.product.b_reads.begin(), roles.product.b_reads.end(),
                          [&](const Read& read) { return is_padded(scope, read, lanes, k_lanes.count > 1); }),
                      .m = extent(row),
                      .n = extent(range(roles.n)),
                      .k = extent(range(roles.k)),
                      .a = a.start(),
                      .a_m = a.stride(kRow),
                      .a_k = k_lanes.count > 1 ? a.stride(kInStep) : a.stride(kStep),
                      .b = factor_b(scope, roles, at, positions, lanes),
                      .c = c.start(),
                      .c_m = c.stride(kRow),
                      .c_group = c.stride(kGroup),
                      .sums = {}};
    if (!sums.empty()) {
        const Read& right = *roles.product.b_operand();
        const TileAddress b(scope, right.tensor, right.coordinates, at, false);
        for (size_t i = 0; i < sums.size(); ++i)
            call.sums.push_back({extent(range(sums[i])), a.stride(kSums[i]), b.stride(kSums[i])});
    }
    return finished(scope, std::move(tile), {movement::Call(std::move(call))});
}

/// The number of groups of lanes if few rows of A share B, which is read once, at the rate of the memory. A
/// single group reads B in the order of the addresses, which is faster than streams that are short. It needs
/// time for each addition to end before the next: one operation takes a whole line, or the streams would be
/// short anyway.
int64_t groups_of_few_rows(const RegisterBlock& block, bool is_in_pages, int64_t line_bytes,
                           int64_t operation_bits) {
    if (is_in_pages) return 1;
    return block.rows == 1 && operation_bits >= 8 * line_bytes ? 1 : block.columns;
}

/// The candidates with so many lanes along n.
class Offer {
public:
    Offer(const CandidateScope& scope, const ProductReading& product, int64_t lanes,
          std::vector<Candidate>& out)
        : scope_(scope),
          target_(scope.target),
          product_(product),
          b_(product.roles.b_operand()),
          lanes_(lanes),
          out_(out) {}

    /// Every register block.
    void blocks() {
        const int64_t groups = (scope_.extent(product_.n) + lanes_ - 1) / lanes_;
        const bool is_in_pages = b_ && is_found_by_index(*b_);
        bool is_first = true;
        for (RegisterBlock block : offered(register_blocks(target_, product_.rows, true), target_)) {
            if (b_ && block.rows <= kFewRows && is_first)
                block.columns = groups_of_few_rows(block, is_in_pages, target_.line_bytes,
                                                   lanes_ * bits(scope_.type(*b_)));
            if (block.streams > 1 && (groups < block.streams || is_in_pages)) continue;
            plan::Leaf leaf = product_.leaf;
            leaf.set(parameter::kLanes, lanes_)
                .set(parameter::kRows, block.rows)
                .set(parameter::kGroups, std::min(block.columns, groups))
                .set(parameter::kPrefetch, block.prefetch)
                .set(parameter::kStreams, block.streams)
                .set(parameter::kPartialSums, block.partial_sums);
            with_k_lanes(leaf, is_first);
            with_pairs_made(leaf);
            by_panels(leaf);
            add(std::move(leaf));
            is_first = false;
        }
    }

private:
    void add(plan::Leaf leaf) { out_.push_back({std::move(leaf), lanes_, kTurn, product_.index}); }

    void by_panels(const plan::Leaf& leaf) {
        if (!has_panels(scope_, product_.roles)) return;
        if (auto found = with_panels(leaf, leaf.number(parameter::kRows), product_.rows))
            add(std::move(*found));
    }

    /// Multiplied by a vector unit for pairs, which are made of B as it is read.
    void with_pairs_made(plan::Leaf leaf) {
        if (!b_ || scope_.type(*b_) != scope_.type(product_.roles.a) ||
            !adds_products(target_, scope_.type(*b_)) || lanes_ == 1)
            return;
        add(leaf.set(parameter::kDot, k_lanes(target_, scope_.type(*b_))));
    }

    /// B in pairs of k, as the machine's units want it: multiplied by such a unit, or widened. `is_first`: of
    /// the blocks.
    void with_k_lanes(plan::Leaf leaf, bool is_first) {
        if (!b_) return;
        const ElementType type = scope_.type(*b_);
        const int64_t neighbours = k_lanes(target_, type);
        if (neighbours == 1) return;
        leaf.set(parameter::kKLanes, neighbours);
        if (scope_.type(product_.roles.a) == type && adds_products(target_, type)) {
            plan::Leaf by_unit = leaf;
            by_unit.set(parameter::kDot, neighbours);
            if (is_first && leaf.number(parameter::kRows) == 1)
                by_unit.set(parameter::kGroups,
                            groups_of_few_rows({1, leaf.number(parameter::kGroups)}, is_found_by_index(*b_),
                                               target_.line_bytes, lanes_ * neighbours * bits(type)));
            add(std::move(by_unit));
        }
        by_panels(leaf);
        add(std::move(leaf));
    }

    static constexpr int kTurn = 1;

    const CandidateScope& scope_;
    const KernelTarget& target_;
    const ProductReading& product_;
    const Read* b_;
    int64_t lanes_;
    std::vector<Candidate>& out_;
};

void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    for (int64_t lanes = scope.target.lanes; lanes > 1; lanes /= 2)
        for_each_reading(scope,
                         [&](const ProductReading& product) { Offer(scope, product, lanes, out).blocks(); });
}
constexpr std::array kParameters = {parameter::kRowsOfA,     parameter::kColumns, parameter::kReduction,
                                    parameter::kLanes,       parameter::kRows,    parameter::kGroups,
                                    parameter::kPrefetch,    parameter::kStreams, parameter::kPanelBlocks,
                                    parameter::kPartialSums, parameter::kKLanes,  parameter::kDot};
constexpr std::array kResults = {ElementType::kF32};

}  // namespace
}  // namespace tessera::kernels::contract

namespace tessera::kernels {

extern const plan::MicroKernel kContract;
constinit const plan::MicroKernel kContract{
    .name = "contract",
    .summary = "register-blocked C[m,n] = sum_k A[m,k] B[n,k], lanes along n",
    .implements = "sums of products",
    .parameters = contract::kParameters,
    .results = contract::kResults,
    .tiles_reductions = true,
    .weight_tile = plan::WeightTile::kInLastCache,
    .product = {&parameter::kRowsOfA, &parameter::kColumns, &parameter::kReduction},
    .lanes = {&parameter::kColumns, &parameter::kLanes},
    .why_not = why_no_contraction,
    .candidates = contract::candidates,
    .lower = contract::lower,
    .call = contract::ContractCall::kind,
    .spell = spelled<contract::ContractCall, contract::spell>,
    .types = product_types,
    .factors = factors_in_pairs,
    .streamed = streamed_factor,
    .sums_all = contract::sums_all};
}  // namespace tessera::kernels
