#include "lowering/kernels/block_product.h"

#include "ir/iterator_use.h"
#include "lowering/kernels/call_text.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_meaning.h"
#include "lowering/refusal.h"

namespace tessera::kernels {
namespace {

/// A[m, k]: the numbers, without scales.
movement::ValuePtr number_of_a(const BlockProductCall& c, const movement::Index& row,
                               const movement::Index& k) {
    const auto term = [&](const movement::Address& address) {
        return load_value(moved(address, row * c.a_m + k));
    };
    movement::ValuePtr a = term(c.a.front());
    for (size_t i = 1; i < c.a.size(); ++i)
        a = movement::apply_value(
            Function::kAdd,
            {movement::apply_value(Function::kMul, {a, movement::number_value(static_cast<double>(c.radix))}),
             term(c.a[i])});
    return a;
}

/// @throws Error unless the tile has whole blocks of k.
void expect_whole_blocks(const lowering::LeafScope& scope, const lowering::Range& k, int64_t block) {
    if (k.begin.divisor() % block != 0 || extent(k).divisor() % block != 0) {
        throw lowering::Refused(scope.node.name, std::string(scope.leaf.kernel->name),
                                fmt::format("its tile of k ends within a block of {}", block),
                                fmt::format("tile k by multiples of {}", block));
    }
}

void expect_padded(const lowering::LeafScope& scope, const BlockContraction& product, int64_t lanes) {
    const auto expect = [&](const Read& read, size_t inner) {
        if (is_padded(scope, read, lanes, inner)) return;
        throw lowering::Refused(
            scope.node.name, scope.node.definition()->tensors[static_cast<size_t>(read.tensor)].name,
            "may end within a group of lanes", fmt::format("store it with {} lanes along n", lanes));
    };
    expect(product.b, 1);
    for (const Read& read : product.b_reads) expect(read, 0);
}

constexpr int64_t kLargestBlock = 1 << 20;

}  // namespace

std::string block_product_problem(const BlockProductCall& c) {
    if (c.block < 1 || c.a_block < 1) return "a block has no elements";
    if (c.block > kLargestBlock || c.a_block > kLargestBlock) return "a block is larger than any";
    if (c.a.size() != 1 && c.a.size() != 2) return "the rows are neither one number nor two terms";
    return lanes_problem(c.lanes);
}

/// for m: for lanes n: {
///     total = 0 or C[m, n]
///     for each block of k: {
///         products = sum of A[m, k] * (B[n, k] + zero), numbers = sum of A[m, k]
///         total += scale * (coefficient * products + offset * numbers) }
///     C[m, n] = total }
movement::Body block_product_meaning(const BlockProductCall& c) {
    constexpr const char *kTotal = "call.sum", *kProducts = "call.products", *kNumbers = "call.numbers";
    const ResultLoops loops(c.m, c.n, c.lanes);
    const movement::Variable first{"call.block", {0, std::max<int64_t>(c.k.bounds().high - 1, 0)}, c.block};
    const movement::Variable inside{"call.k", {0, c.block - 1}};
    const movement::Index block = movement::Index::variable(first),
                          k = block + movement::Index::variable(inside);
    const movement::Address to = moved(c.c, loops.row() * c.c_m + loops.group() * c.c_group);

    movement::StridedFactor b = c.b;
    b.start.offset = b.start.offset + movement::mod(k, kQuad);
    movement::ValuePtr of_b = factor_value(b, loops.group(), movement::floor_div(k, kQuad), kQuad);
    if (c.zero != 0)
        of_b = movement::apply_value(Function::kAdd,
                                     {of_b, movement::number_value(static_cast<double>(c.zero))});
    const movement::ValuePtr a = number_of_a(c, loops.row(), k);
    movement::Body in_block = {{movement::Accumulate{
        kProducts, Monoid::kSum, movement::apply_value(Function::kMul, {a, of_b}), nullptr}}};
    if (c.offset) in_block.push_back({movement::Accumulate{kNumbers, Monoid::kSum, a, nullptr}});

    movement::ValuePtr sum = movement::apply_value(
        Function::kMul, {factor_value(c.coefficient, loops.group(), block), accumulator_value(kProducts)});
    if (c.offset) {
        sum = movement::apply_value(
            Function::kAdd,
            {sum, movement::apply_value(Function::kMul, {factor_value(*c.offset, loops.group(), block),
                                                         accumulator_value(kNumbers)})});
    }
    const movement::ValuePtr scale = load_value(
        moved(c.a_scale, loops.row() * c.scale_m + movement::floor_div(block, c.a_block) * c.scale_block));
    movement::Body of_block = {{movement::Declare{kProducts, Monoid::kSum, c.lanes}}};
    if (c.offset) of_block.push_back({movement::Declare{kNumbers, Monoid::kSum, 1}});
    of_block.push_back(
        {movement::For{inside, movement::Index(0), movement::Index(c.block), 1, std::move(in_block)}});
    of_block.push_back({movement::Accumulate{kTotal, Monoid::kSum,
                                             movement::apply_value(Function::kMul, {scale, sum}), nullptr}});

    movement::Body body = {{movement::Declare{kTotal, Monoid::kSum, c.lanes}}};
    if (c.accumulate)
        body.push_back({movement::Accumulate{kTotal, Monoid::kSum, load_value(to, 1), nullptr}});
    body.push_back({movement::For{first, movement::Index(0), c.k, c.block, std::move(of_block)}});
    body.push_back({movement::Store{to, 1, accumulator_value(kTotal)}});
    return loops.around(std::move(body));
}

void spell_block_product(const BlockProductCall& c, CallText& out) {
    out.line(fmt::format("    {}, {}, {},", out.shared_extent(c.m), out.text(c.n), out.text(c.k)));
    if (c.a.size() == 1) {
        out.line(
            fmt::format("    ntt::rows({}, {}, ntt::Int<1>{{}}),", out.address(c.a[0]), out.text(c.a_m)));
    } else {
        out.line(fmt::format("    ntt::row_terms<{}>({}, {}, {}),", c.radix, out.address(c.a[0]),
                             out.address(c.a[1]), out.text(c.a_m)));
    }
    out.line(fmt::format("    ntt::rows({}, {}, {}),", out.address(c.a_scale), out.text(c.scale_m),
                         out.fixed(c.scale_block)));
    out.line(fmt::format("    ntt::lane_quads({}, {}, {}),", out.whole_address(c.b.start),
                         out.text(c.b.outer), out.fixed(c.b.inner)));
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
    out.line(fmt::format("    ntt::result({}, {}, {}));", out.address(c.c), out.text(c.c_m),
                         out.fixed(c.c_group)));
}

BlockProduct block_product(const lowering::LeafScope& scope) {
    const ProductIterators iterators = product_iterators(scope);
    for (BlockContraction& product : block_contractions_of(*scope.node.definition())) {
        if (contains(product.n, iterators.n) && product.k == iterators.k &&
            (iterators.m < 0 || contains(product.m, iterators.m)))
            return {iterators, std::move(product)};
    }
    throw lowering::Refused(
        scope.node.name, std::string(scope.leaf.kernel->name),
        "n must index the quantised factor and the result, k both factors and not the result, m the "
        "other factor and the result",
        "choose other iterators for m, n and k");
}

movement::Body lower_block_product(const lowering::LeafScope& scope, const BlockProduct& iterators,
                                   int64_t largest_k, bool has_fold,
                                   const std::function<movement::Call(BlockProductCall)>& make) {
    const BlockContraction& product = iterators.roles;
    const Definition& definition = *scope.node.definition();
    const int64_t lanes = scope.leaf.number(parameter::kLanes);
    const auto range = [&](int x) -> const lowering::Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const lowering::Range row = row_range(scope, iterators.m);
    const lowering::Range &n = range(iterators.n), &k = range(iterators.k);
    expect_whole_blocks(scope, k, product.a_block);
    expect_padded(scope, product, lanes);
    if (k.largest > largest_k)
        throw lowering::Refused(scope.node.name, std::string(scope.leaf.kernel->name),
                                fmt::format("its tile of k is {}, expected at most {}", k.largest, largest_k),
                                "tile k");

    ProductTile tile = surrounding(scope, iterators);
    std::vector<movement::Index> at = tile.loops.values();
    std::vector<Read> reads = product.b_reads;
    for (const Read* each : {&product.a, &product.a_scale, &product.b}) reads.push_back(*each);
    if (product.a_low) reads.push_back(*product.a_low);
    refuse_reads_outside(scope, reads);
    if (iterators.m >= 0) at[static_cast<size_t>(iterators.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(iterators.n)] = n.begin +
                                           position(kGroup, groups_in(n, lanes)) * movement::Index(lanes) +
                                           position(lowering::kLane, lanes);

    // A and B are addressed by quads of k, scales by blocks.
    std::vector<movement::Index> in_quads = at, in_blocks = at, in_a_blocks = at;
    const auto k_at = static_cast<size_t>(iterators.k);
    in_quads[k_at] =
        k.begin + position(kStep, groups_in(k, kQuad)) * movement::Index(kQuad) + position(kInStep, kQuad);
    in_blocks[k_at] = k.begin + position(kStep, k.largest);
    in_a_blocks[k_at] =
        k.begin + position(kStep, groups_in(k, product.a_block)) * movement::Index(product.a_block);

    std::vector<TileAddress> a;
    a.emplace_back(scope, product.a.tensor, product.a.coordinates, in_quads, false);
    if (product.a_low)
        a.emplace_back(scope, product.a_low->tensor, product.a_low->coordinates, in_quads, false);
    const TileAddress b(scope, product.b.tensor, product.b.coordinates, in_quads, false);
    const TileAddress scale(scope, product.a_scale.tensor, product.a_scale.coordinates, in_a_blocks, false);
    const int result = definition.results().front();
    const TileAddress c(scope, result, definition.tensors[static_cast<size_t>(result)].map, at, true);
    std::vector<movement::Address> terms;
    for (const TileAddress& term : a) {
        term.expect_stride(kInStep, 1);
        term.expect_stride(kStep, kQuad);
        term.expect_stride(kRow, a.front().stride(kRow));
        terms.push_back(term.start());
    }
    b.expect_stride(kInStep, 1);
    if (lanes > 1) {
        b.expect_stride(lowering::kLane, kQuad);
        c.expect_stride(lowering::kLane, 1);
    }
    const FactorPositions positions{kGroup, groups_in(n, lanes), kStep, k.largest};
    const auto computed = [&](const ExprPtr& factor) {
        return computed_factor(scope, factor, in_blocks, positions);
    };
    std::optional<movement::ComputedFactor> offset;
    if (product.offset) offset = computed(product.offset);
    std::optional<BlockProductCall::Fold> fold;
    if (has_fold && product.fold)
        fold = {product.fold->integer ? std::optional(computed(product.fold->integer)) : std::nullopt,
                computed(product.fold->rest), product.fold->block};
    // GCC 12 destroys a member that braces initialise twice where a later initialiser throws.
    const movement::StridedFactor of_b{b.start(), b.stride(kGroup), b.stride(kStep)};
    movement::ComputedFactor coefficient = computed(product.coefficient);
    BlockProductCall call{.lanes = lanes,
                          .groups = scope.leaf.number(parameter::kGroups),
                          .block = product.block,
                          .a_block = product.a_block,
                          .zero = product.zero,
                          .radix = product.radix,
                          .accumulate = tile.accumulates,
                          .m = extent(row),
                          .n = extent(n),
                          .k = extent(k),
                          .a = std::move(terms),
                          .a_m = a.front().stride(kRow),
                          .a_scale = scale.start(),
                          .scale_m = scale.stride(kRow),
                          .scale_block = scale.stride(kStep),
                          .b = of_b,
                          .coefficient = std::move(coefficient),
                          .fold = std::move(fold),
                          .offset = std::move(offset),
                          .c = c.start(),
                          .c_m = c.stride(kRow),
                          .c_group = c.stride(kGroup)};
    return finished(scope, std::move(tile), {make(std::move(call))});
}

}  // namespace tessera::kernels
