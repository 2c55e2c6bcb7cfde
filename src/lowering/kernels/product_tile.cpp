#include "lowering/kernels/product_tile.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/iterator_use.h"
#include "lowering/kernels/parameters.h"
#include "lowering/refusal.h"

namespace tessera::kernels {

ProductIterators product_iterators(const lowering::LeafScope& scope) {
    const ProductIterators found{lowering::iterator_parameter(scope, parameter::kRowsOfA),
                                 lowering::iterator_parameter(scope, parameter::kColumns),
                                 lowering::iterator_parameter(scope, parameter::kReduction)};
    if (found.n < 0 || found.k < 0)
        throw lowering::Refused(scope.node.name, std::string(scope.leaf.kernel->name),
                                "needs n=ITERATOR and k=ITERATOR");
    return found;
}

int64_t streams_of(const lowering::LeafScope& scope) {
    const int64_t streams = scope.leaf.number(parameter::kStreams),
                  groups = scope.leaf.number(parameter::kGroups);
    if (streams == 1) return streams;
    if (streams != groups)
        throw lowering::Refused(scope.node.name, "streams",
                                fmt::format("is {}, expected the groups of a block, {}", streams, groups));
    if (scope.leaf.number(parameter::kPanelBlocks) > 0)
        throw lowering::Refused(scope.node.name, "streams", "is for what is read without panels",
                                "leave streams or panel_blocks out");
    return streams;
}

TileBlock tile_parameters_of(const lowering::LeafScope& scope) {
    const plan::Leaf& leaf = scope.leaf;
    const TileBlock block{leaf.number(parameter::kRowsOfTile), leaf.number(parameter::kLanesOfTile),
                          leaf.number(parameter::kDepthOfTile), leaf.number(parameter::kTilesOfA),
                          leaf.number(parameter::kTilesOfB)};
    if (block.tiles() > kTiles) {
        throw lowering::Refused(scope.node.name, std::string(scope.leaf.kernel->name),
                                fmt::format("{} rows x {} groups need {} tiles of {}", block.rows,
                                            block.groups, block.tiles(), kTiles),
                                "choose fewer rows or groups");
    }
    return block;
}

lowering::Range row_range(const lowering::LeafScope& scope, int m) {
    return m >= 0 ? scope.ranges[static_cast<size_t>(m)]
                  : lowering::Range{movement::Index(0), movement::Index(1), 1};
}

movement::Index position(const char* name, int64_t count) {
    return movement::Index::variable({name, {0, std::max<int64_t>(count - 1, 0)}});
}

movement::Index extent(const lowering::Range& range) {
    return range.end - range.begin;
}

int64_t groups_in(const lowering::Range& range, int64_t lanes) {
    return (range.largest + lanes - 1) / lanes;
}

TileAddress::TileAddress(const lowering::LeafScope& scope, int tensor, const std::vector<ExprPtr>& map,
                         const std::vector<movement::Index>& at, bool is_written)
    : scope_(scope), tensor_(scope.node.definition()->tensors[static_cast<size_t>(tensor)].name) {
    std::vector<movement::Index> coordinates;
    for (const ExprPtr& c : map) coordinates.push_back(lowering::to_index(c, scope.node, at, scope.storage));
    address_ = scope.storage.locate(lowering::value_of(scope.node, tensor), coordinates, is_written);
}

int64_t TileAddress::stride(const char* position) const {
    const auto stride = address_.offset.coefficient(position);
    if (!stride) {
        throw lowering::Refused(
            scope_.node.name, tensor_,
            fmt::format("does not lie at one stride inside the tile, but at {}", print(address_.offset)),
            "choose another layout, tile, or number of lanes");
    }
    return *stride;
}

bool TileAddress::is_strided(const char* position) const {
    return address_.offset.coefficient(position).has_value();
}

void TileAddress::expect_stride(const char* position, int64_t expected) const {
    if (stride(position) != expected) {
        throw lowering::Refused(
            scope_.node.name, tensor_, fmt::format("its lanes are {} elements apart", stride(position)),
            expected == 1 ? "the kernel needs them side by side: choose a layout with these lanes"
                          : fmt::format("the kernel needs {} of k between them: choose a layout "
                                        "with these lanes",
                                        expected));
    }
}

movement::Address TileAddress::start() const {
    movement::Index offset = address_.offset;
    for (const char* position : {kRow, kGroup, kStep, kColumn, kInStep, lowering::kLane})
        offset = offset.substitute(position, movement::Index(0));
    for (const char* position : kSums) offset = offset.substitute(position, movement::Index(0));
    return {address_.buffer, offset, address_.element};
}

ProductTile surrounding(const lowering::LeafScope& scope, const ProductIterators& iterators,
                        const std::vector<int>& inside) {
    const Definition& definition = *scope.node.definition();
    if (definition.where && !lowering::readers_imply_predicate(scope.node, scope.kernel, scope.storage)) {
        throw lowering::Refused(lowering::Refusal{
            .where = scope.node.name,
            .entity = std::string(scope.leaf.kernel->name),
            .problem =
                "computes where the predicate does not hold too, and not every reader is in the kernel "
                "and skips that",
            .advice = "fuse it with its reader, or use the micro-kernel loops",
            .is_of_all_tiles = true});
    }
    std::vector<int> others;
    bool has_reduction = false;
    for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
        if (x == iterators.m || x == iterators.n || x == iterators.k || contains(inside, x)) continue;
        others.push_back(x);
        has_reduction |= definition.iterators[static_cast<size_t>(x)].is_reduction &&
                         !scope.ranges[static_cast<size_t>(x)].is_single();
    }
    const bool is_update =
        definition.tensors[static_cast<size_t>(definition.results().front())].role == Role::kUpdate;
    ProductTile tile{lowering::LeafLoops(scope, others), scope.is_partial || has_reduction || is_update, {}};
    if (has_reduction && !scope.is_partial && !is_update) tile.before = lowering::lower_identity(scope);
    return tile;
}

movement::Body finished(const lowering::LeafScope& scope, ProductTile tile, movement::Statement call) {
    movement::Body body = std::move(tile.before);
    for (movement::Statement& s : tile.loops.around({std::move(call)})) body.push_back(std::move(s));
    if (!scope.is_partial) {
        for (movement::Statement& s : lowering::lower_post(scope)) body.push_back(std::move(s));
    }
    return body;
}

std::vector<movement::Index> anywhere(const lowering::LeafScope& scope) {
    std::vector<movement::Index> at;
    for (const lowering::Range& range : scope.ranges)
        at.push_back(range.is_single() ? range.begin
                                       : movement::Index::variable(
                                             {fmt::format("#x{}", at.size()),
                                              {range.begin.bounds().low, range.end.bounds().high - 1}}));
    return at;
}

void refuse_reads_outside(const lowering::LeafScope& scope, const std::vector<Read>& reads) {
    const lowering::ValueScope values{scope.node, scope.storage, anywhere(scope), 0, nullptr};
    for (const Read& factor : reads) {
        const auto value =
            lowering::to_value(read(factor.tensor, factor.coordinates, factor.declared_map), values);
        if (!std::get<movement::Load>(value->node).guards.empty()) {
            throw lowering::Refused(scope.node.name,
                                    scope.node.definition()->tensors[static_cast<size_t>(factor.tensor)].name,
                                    "may be read out of range", "use the micro-kernel loops");
        }
    }
}

movement::Factor operand_factor(const lowering::LeafScope& scope, const Read& operand,
                                const std::vector<movement::Index>& at, const FactorPositions& positions,
                                int64_t lanes) {
    const TileAddress address(scope, operand.tensor, operand.coordinates, at, false);
    if (lanes > 1) address.expect_stride(lowering::kLane, positions.k_lanes);
    if (positions.k_lanes > 1) address.expect_stride(kInStep, 1);
    if (positions.k_lanes == 1 &&
        !(address.is_strided(positions.outer) && address.is_strided(positions.inner))) {
        return computed_factor(scope, read(operand.tensor, operand.coordinates, operand.declared_map), at,
                               positions);
    }
    return movement::StridedFactor{address.start(), address.stride(positions.outer),
                                   address.stride(positions.inner)};
}

movement::ComputedFactor computed_factor(const lowering::LeafScope& scope, const ExprPtr& value,
                                         const std::vector<movement::Index>& at,
                                         const FactorPositions& positions) {
    const auto variable = [&](const char* name, int64_t count) {
        return movement::Variable{scope.names.fresh(name), {0, std::max<int64_t>(count - 1, 0)}};
    };
    movement::ComputedFactor factor{variable(positions.outer + 1, positions.outer_count),
                                    variable(positions.inner + 1, positions.inner_count), nullptr};
    std::vector<movement::Index> iterators = at;
    for (movement::Index& x : iterators) {
        x = x.substitute(positions.outer, movement::Index::variable(factor.outer))
                .substitute(positions.inner, movement::Index::variable(factor.inner));
    }
    factor.value = lowering::to_value(value, {scope.node, scope.storage, std::move(iterators), 0, nullptr});
    return factor;
}

bool is_padded(const lowering::LeafScope& scope, const Read& read, int64_t lanes, size_t inner) {
    const Value& stored =
        scope.storage.input().graph[scope.storage.base(lowering::value_of(scope.node, read.tensor))];
    if (stored.kind != ValueKind::kConstant) return false;
    const Layout& layout = plan::stored_layout(scope.storage.input().plan, stored.name);
    return layout.lanes.size() > inner && layout.lanes[layout.lanes.size() - 1 - inner].factor % lanes == 0;
}

}  // namespace tessera::kernels
