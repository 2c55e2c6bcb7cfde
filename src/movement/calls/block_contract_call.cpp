#include "movement/calls/block_contract_call.h"

#include <algorithm>

#include "movement/call_text.h"
#include "movement/calls/product_meaning.h"
#include "support/error.h"

namespace tessera {
namespace {

constexpr int64_t kLargestBlock = 1 << 20;

std::string problem(const BlockContractCall& c) {
    if (c.block < 1 || c.a_block < 1) return "a block has no elements";
    if (c.block > kLargestBlock || c.a_block > kLargestBlock) return "a block is larger than any";
    if (c.a.size() != 1 && c.a.size() != 2) return "the rows are neither one number nor two terms";
    return lanes_problem(c.lanes);
}

constexpr int64_t kKLanes = 4;

/// A[m, k], the numbers themselves.
ValuePtr number_of_a(const BlockContractCall& c, const Index& row, const Index& k) {
    const auto term = [&](const Address& address) { return load_value(moved(address, row * c.a_m + k)); };
    ValuePtr a = term(c.a.front());
    for (size_t i = 1; i < c.a.size(); ++i)
        a = apply_value(
            Function::kAdd,
            {apply_value(Function::kMul, {a, number_value(static_cast<double>(c.radix))}), term(c.a[i])});
    return a;
}

/// for m: for lanes n: {
///     total = 0 or C[m, n]
///     for each block of k: {
///         products = sum of A[m, k] * (B[n, k] + zero), numbers = sum of A[m, k]
///         total += scale * (coefficient * products + offset * numbers) }
///     C[m, n] = total }
Body meaning(const BlockContractCall& c) {
    constexpr const char *kTotal = "call.sum", *kProducts = "call.products", *kNumbers = "call.numbers";
    const ResultLoops loops(c.m, c.n, c.lanes);
    const Variable first{"call.block", {0, std::max<int64_t>(c.k.bounds().high - 1, 0)}, c.block};
    const Variable inside{"call.k", {0, c.block - 1}};
    const Index block = Index::variable(first), k = block + Index::variable(inside);
    const Address to = moved(c.c, loops.row() * c.c_m + loops.group() * c.c_group);

    StridedFactor b = c.b;
    b.start.offset = b.start.offset + mod(k, kKLanes);
    ValuePtr of_b = factor_value(b, loops.group(), floor_div(k, kKLanes), kKLanes);
    if (c.zero != 0) of_b = apply_value(Function::kAdd, {of_b, number_value(static_cast<double>(c.zero))});
    const ValuePtr a = number_of_a(c, loops.row(), k);
    Body in_block = {{Accumulate{kProducts, Monoid::kSum, apply_value(Function::kMul, {a, of_b}), nullptr}}};
    if (c.offset) in_block.push_back({Accumulate{kNumbers, Monoid::kSum, a, nullptr}});

    ValuePtr sum = apply_value(
        Function::kMul, {factor_value(c.coefficient, loops.group(), block), accumulator_value(kProducts)});
    if (c.offset) {
        sum = apply_value(Function::kAdd,
                          {sum, apply_value(Function::kMul, {factor_value(*c.offset, loops.group(), block),
                                                             accumulator_value(kNumbers)})});
    }
    const ValuePtr scale =
        load_value(moved(c.a_scale, loops.row() * c.scale_m + floor_div(block, c.a_block) * c.scale_block));
    Body of_block = {{Declare{kProducts, Monoid::kSum, c.lanes}}};
    if (c.offset) of_block.push_back({Declare{kNumbers, Monoid::kSum, 1}});
    of_block.push_back({For{inside, Index(0), Index(c.block), 1, std::move(in_block)}});
    of_block.push_back(
        {Accumulate{kTotal, Monoid::kSum, apply_value(Function::kMul, {scale, sum}), nullptr}});

    Body body = {{Declare{kTotal, Monoid::kSum, c.lanes}}};
    if (c.accumulate) body.push_back({Accumulate{kTotal, Monoid::kSum, load_value(to, 1), nullptr}});
    body.push_back({For{first, Index(0), c.k, c.block, std::move(of_block)}});
    body.push_back({Store{to, 1, accumulator_value(kTotal)}});
    return loops.around(std::move(body));
}

void spell(const BlockContractCall& c, CallText& out) {
    const std::string tile =
        c.depth == 0
            ? fmt::format("contract_blocks<ntt::ContractBlocksTile{{.lanes = {}, .rows = {}", c.lanes, c.rows)
            : fmt::format(
                  "contract_block_tiles<ntt::ContractBlockTilesTile{{.tile_rows = {}, .lanes = {}, "
                  ".depth = {}",
                  c.tile_rows, c.lanes, c.depth);
    out.line(fmt::format(
        "ntt::{}, .groups = {}, .block = {}, .a_block = {}, .zero = {}, .accumulate = {}{}{}{}}}>(", tile,
        c.groups, c.block, c.a_block, c.zero, c.accumulate, tile_member("prefetch", c.prefetch),
        tile_member("streams", c.streams, 1), tile_member("panel_blocks", c.panel_blocks)));
    out.line(fmt::format("    {}, {}, {},", shared_extent(c.m), c.n.text(), c.k.text()));
    if (c.a.size() == 1) {
        out.line(fmt::format("    ntt::rows({}, {}, ntt::Int<1>{{}}),", out.address(c.a[0]), c.a_m.text()));
    } else {
        out.line(fmt::format("    ntt::row_terms<{}>({}, {}, {}),", c.radix, out.address(c.a[0]),
                             out.address(c.a[1]), c.a_m.text()));
    }
    out.line(fmt::format("    ntt::rows({}, {}, {}),", out.address(c.a_scale), c.scale_m.text(),
                         fixed(c.scale_block)));
    out.line(fmt::format("    ntt::lane_quads({}, {}, {}),", out.whole_address(c.b.start), c.b.outer.text(),
                         fixed(c.b.inner)));
    if (c.fold) out.line("    ntt::foldable(");
    out.factor(c.coefficient, c.lanes, kFactorInLanes);
    if (c.fold) {
        if (c.fold->integer) {
            out.factor(*c.fold->integer, c.lanes, kFactorInLanes);
            out.factor(c.fold->rest, c.lanes, kFactorInLanes);
        }
        out.line(fmt::format("    ntt::Int<{}>{{}}),", c.fold->block));
    }
    if (c.offset) {
        out.factor(*c.offset, c.lanes, kFactorInLanes);
    } else {
        out.line("    ntt::no_offset,");
    }
    out.line(fmt::format("    ntt::result({}, {}, {}));", out.address(c.c), c.c_m.text(), fixed(c.c_group)));
}

}  // namespace

template <>
const CallKind& call_kind<BlockContractCall>() {
    static constexpr CallKind kKind =
        make_call_kind<BlockContractCall, problem, meaning, spell>("contract_blocks");
    return kKind;
}

}  // namespace tessera
