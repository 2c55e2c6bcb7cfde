// Micro-kernels `contract` (lanes along n) and `dot` (lanes along k): sums of products as calls of NTT's
// register-blocked contraction. Roles follow from the maps: B is the factor that n indexes, A the other one.
#include <algorithm>

#include "kernels/micro_kernel.h"
#include "movement/leaf.h"
#include "support/error.h"

namespace tessera {
namespace {

constexpr const char* kRow = "#m";  // positions inside the tile; they become strides
constexpr const char* kGroup = "#g";
constexpr const char* kStep = "#k";
constexpr const char* kColumn = "#n";

struct Roles {
    int m, n, k;  ///< iterators; m is -1 for a single row
    Read a, b;
    int c;  ///< position of the result
};

bool uses(const std::vector<ExprPtr>& map, int x) {
    return std::any_of(map.begin(), map.end(), [&](const ExprPtr& component) {
        const std::vector<int> found = iterators_in(component);
        return std::find(found.begin(), found.end(), x) != found.end();
    });
}

Roles roles_of(const LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    const auto factors = factors_of(definition);
    TESSERA_CHECK(factors.has_value(), "{}", scope.node.name);
    Roles roles{iterator_parameter(scope, "m"),
                iterator_parameter(scope, "n"),
                iterator_parameter(scope, "k"),
                {},
                {},
                definition.results().front()};
    if (roles.n < 0 || roles.k < 0)
        throw Error(scope.node.name, scope.leaf.micro_kernel, "needs n=ITERATOR and k=ITERATOR");
    const bool left_is_b = uses(factors->left.coordinates, roles.n);
    roles.b = left_is_b ? factors->left : factors->right;
    roles.a = left_is_b ? factors->right : factors->left;
    const auto& c = definition.tensors[static_cast<size_t>(roles.c)].map;
    const auto expect = [&](bool holds, const std::string& what) {
        if (!holds)
            throw Error(scope.node.name, scope.leaf.micro_kernel, what,
                        "choose other iterators for m, n and k");
    };
    expect(uses(roles.b.coordinates, roles.n), "n indexes neither factor");
    expect(!uses(roles.a.coordinates, roles.n), "n indexes both factors");
    expect(uses(c, roles.n), "n does not index the result");
    expect(uses(roles.a.coordinates, roles.k) && uses(roles.b.coordinates, roles.k),
           "k does not index both factors");
    expect(!uses(c, roles.k), "k indexes the result");
    if (roles.m >= 0) {
        expect(uses(roles.a.coordinates, roles.m) && uses(c, roles.m), "m does not index A and the result");
        expect(!uses(roles.b.coordinates, roles.m), "m indexes both factors");
    }
    return roles;
}

/// An address whose iterators inside the tile are the positions above; their strides.
class TileAddress {
public:
    TileAddress(const LeafScope& scope, int tensor, const std::vector<ExprPtr>& map,
                const std::vector<Index>& at, bool is_written)
        : scope_(scope), tensor_(scope.node.definition()->tensors[static_cast<size_t>(tensor)].name) {
        const TensorDecl& declaration = scope.node.definition()->tensors[static_cast<size_t>(tensor)];
        if (declaration.type != ElementType::kF32) {
            throw Error(scope.node.name, tensor_, fmt::format("has element type {}", name(declaration.type)),
                        "compiled code computes on f32 in this version");
        }
        std::vector<Index> coordinates;
        for (const ExprPtr& c : map) coordinates.push_back(to_index(c, scope.node, at, scope.storage));
        address_ = scope.storage.locate(value_of(scope.node, tensor), coordinates, is_written);
    }

    int64_t stride(const char* position) const {
        const auto stride = address_.offset.coefficient(position);
        if (!stride) {
            throw Error(
                scope_.node.name, tensor_,
                fmt::format("does not lie at one stride inside the tile, but at {}", address_.offset.text()),
                "choose another layout, tile, or number of lanes");
        }
        return *stride;
    }
    void expect_unit_stride(const char* position) const {
        if (stride(position) != 1) {
            throw Error(scope_.node.name, tensor_,
                        fmt::format("its lanes are {} elements apart", stride(position)),
                        "the kernel needs them side by side: choose a layout with these lanes");
        }
    }
    Address start() const {
        Index offset = address_.offset;
        for (const char* position : {kRow, kGroup, kStep, kColumn, kLane})
            offset = offset.substitute(position, Index(0));
        return {address_.buffer, offset};
    }

private:
    const LeafScope& scope_;
    std::string tensor_;
    Address address_;
};

Index position(const char* name, int64_t count) {
    return Index::variable({name, {0, std::max<int64_t>(count - 1, 0)}});
}

struct Tile {
    LeafLoops loops;
    bool accumulates;
    Body before;
};

/// Loops over what is neither m, n nor k. Where these are reductions the call folds into the result.
Tile surrounding(const LeafScope& scope, const Roles& roles) {
    const Definition& definition = *scope.node.definition();
    if (definition.where && !readers_imply_predicate(scope.node, scope.kernel, scope.storage)) {
        throw Error(scope.node.name, scope.leaf.micro_kernel,
                    "computes where the predicate does not hold too, and not every reader is in the kernel "
                    "and skips that",
                    "fuse it with its reader, or use the micro-kernel loops");
    }
    std::vector<int> others;
    bool has_reduction = false;
    for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
        if (x == roles.m || x == roles.n || x == roles.k) continue;
        others.push_back(x);
        has_reduction |= definition.iterators[static_cast<size_t>(x)].is_reduction &&
                         !scope.ranges[static_cast<size_t>(x)].is_single();
    }
    const bool is_update = definition.tensors[static_cast<size_t>(roles.c)].role == Role::kUpdate;
    Tile tile{LeafLoops(scope, others), scope.is_partial || has_reduction || is_update, {}};
    if (has_reduction && !scope.is_partial && !is_update) tile.before = lower_identity(scope);
    return tile;
}

Body finished(const LeafScope& scope, Tile tile, Statement call) {
    Body body = std::move(tile.before);
    for (Statement& s : tile.loops.around({std::move(call)})) body.push_back(std::move(s));
    if (!scope.is_partial) {
        for (Statement& s : lower_post(scope)) body.push_back(std::move(s));
    }
    return body;
}

Index extent(const Range& range) {
    return range.end - range.begin;
}

void refuse_reads_outside(const LeafScope& scope, const Roles& roles, const std::vector<Index>& at) {
    const ValueScope values{scope.node, scope.storage, at, 0, nullptr};
    for (const Read& factor : {roles.a, roles.b}) {
        const auto value = to_value(read(factor.tensor, factor.coordinates, factor.declared_map), values);
        if (!std::get<Load>(value->node).guards.empty()) {
            throw Error(scope.node.name,
                        scope.node.definition()->tensors[static_cast<size_t>(factor.tensor)].name,
                        "may be read out of range", "use the micro-kernel loops");
        }
    }
}

}  // namespace

Body lower_contract(const LeafScope& scope) {
    const Roles roles = roles_of(scope);
    const int64_t lanes = lanes_parameter(scope);
    Tile tile = surrounding(scope, roles);
    std::vector<Index> at = tile.loops.values();
    refuse_reads_outside(scope, roles, at);
    const auto range = [&](int x) -> const Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const Range row = roles.m >= 0 ? range(roles.m) : Range{Index(0), Index(1), 1};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.k)] = range(roles.k).begin + position(kStep, range(roles.k).largest);
    at[static_cast<size_t>(roles.n)] =
        range(roles.n).begin + position(kGroup, (range(roles.n).largest + lanes - 1) / lanes) * Index(lanes) +
        position(kLane, lanes);

    const TileAddress a(scope, roles.a.tensor, roles.a.coordinates, at, false);
    const TileAddress b(scope, roles.b.tensor, roles.b.coordinates, at, false);
    const TileAddress c(scope, roles.c, scope.node.definition()->tensors[static_cast<size_t>(roles.c)].map,
                        at, true);
    if (lanes > 1) {
        b.expect_unit_stride(kLane);
        c.expect_unit_stride(kLane);
    }
    const ValueId weights = scope.storage.base(value_of(scope.node, roles.b.tensor));
    const Value& stored = scope.storage.input().graph[weights];
    const Layout& layout = stored.kind == ValueKind::kConstant
                               ? stored_layout(scope.storage.input().plan, stored.name)
                               : scope.storage.plan_of(weights).layout;
    ContractCall call{.lanes = lanes,
                      .rows = number_parameter(scope, "rows", 1, 32),
                      .groups = number_parameter(scope, "groups", 1, 16),
                      .a = a.start(),
                      .b = b.start(),
                      .c = c.start(),
                      .a_m = a.stride(kRow),
                      .a_k = a.stride(kStep),
                      .b_group = b.stride(kGroup),
                      .b_k = b.stride(kStep),
                      .c_m = c.stride(kRow),
                      .c_group = c.stride(kGroup),
                      .m = extent(row),
                      .n = extent(range(roles.n)),
                      .k = extent(range(roles.k)),
                      .accumulate = tile.accumulates,
                      .b_is_padded = stored.kind == ValueKind::kConstant && !layout.lanes.empty() &&
                                     layout.lanes.back().factor % lanes == 0};
    return finished(scope, std::move(tile), {std::move(call)});
}

Body lower_dot(const LeafScope& scope) {
    const Roles roles = roles_of(scope);
    const int64_t lanes = lanes_parameter(scope);
    Tile tile = surrounding(scope, roles);
    std::vector<Index> at = tile.loops.values();
    refuse_reads_outside(scope, roles, at);
    const auto range = [&](int x) -> const Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const Range row = roles.m >= 0 ? range(roles.m) : Range{Index(0), Index(1), 1};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.n)] = range(roles.n).begin + position(kColumn, range(roles.n).largest);
    at[static_cast<size_t>(roles.k)] =
        range(roles.k).begin + position(kGroup, (range(roles.k).largest + lanes - 1) / lanes) * Index(lanes) +
        position(kLane, lanes);

    const TileAddress a(scope, roles.a.tensor, roles.a.coordinates, at, false);
    const TileAddress b(scope, roles.b.tensor, roles.b.coordinates, at, false);
    const TileAddress c(scope, roles.c, scope.node.definition()->tensors[static_cast<size_t>(roles.c)].map,
                        at, true);
    if (lanes > 1) {
        a.expect_unit_stride(kLane);
        b.expect_unit_stride(kLane);
    }
    DotCall call{.lanes = lanes,
                 .rows = number_parameter(scope, "rows", 1, 16),
                 .columns = number_parameter(scope, "columns", 1, 16),
                 .a = a.start(),
                 .b = b.start(),
                 .c = c.start(),
                 .a_m = a.stride(kRow),
                 .a_group = a.stride(kGroup),
                 .b_n = b.stride(kColumn),
                 .b_group = b.stride(kGroup),
                 .c_m = c.stride(kRow),
                 .c_n = c.stride(kColumn),
                 .m = extent(row),
                 .n = extent(range(roles.n)),
                 .k = extent(range(roles.k)),
                 .accumulate = tile.accumulates};
    return finished(scope, std::move(tile), {std::move(call)});
}

}  // namespace tessera
