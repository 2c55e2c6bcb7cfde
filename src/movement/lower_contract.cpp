// Micro-kernels `contract` (lanes along n) and `dot` (lanes along k): sums of products as calls of NTT's
// register-blocked contraction. Which factor is A and which is B follows from the iterators m, n and k.
#include <algorithm>

#include "kernels/contraction.h"
#include "movement/leaf.h"
#include "support/error.h"

namespace tessera {
namespace {

constexpr const char* kRow = "#m";  // positions inside the tile; they become strides
constexpr const char* kGroup = "#g";
constexpr const char* kStep = "#k";
constexpr const char* kColumn = "#n";
constexpr const char* kInStep = "#j";

struct Roles {
    int m, n, k;  ///< iterators; m is -1 for a single row
    Contraction product;
    int c;  ///< position of the result
};

bool contains(const std::vector<int>& iterators, int x) {
    return std::find(iterators.begin(), iterators.end(), x) != iterators.end();
}

Roles roles_of(const LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    const int m = iterator_parameter(scope, "m"), n = iterator_parameter(scope, "n"),
              k = iterator_parameter(scope, "k");
    if (n < 0 || k < 0)
        throw Error(scope.node.name, scope.leaf.micro_kernel, "needs n=ITERATOR and k=ITERATOR");
    for (Contraction& product : contractions_of(definition)) {
        if (contains(product.n, n) && contains(product.k, k) && (m < 0 || contains(product.m, m)))
            return {m, n, k, std::move(product), definition.results().front()};
    }
    throw Error(
        scope.node.name, scope.leaf.micro_kernel,
        "n must index one factor and the result, k both factors and not the result, m the other factor "
        "and the result",
        "choose other iterators for m, n and k");
}

/// An address whose iterators inside the tile are the positions above; their strides.
class TileAddress {
public:
    TileAddress(const LeafScope& scope, int tensor, const std::vector<ExprPtr>& map,
                const std::vector<Index>& at, bool is_written)
        : scope_(scope), tensor_(scope.node.definition()->tensors[static_cast<size_t>(tensor)].name) {
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
    void expect_stride(const char* position, int64_t expected) const {
        if (stride(position) != expected) {
            throw Error(scope_.node.name, tensor_,
                        fmt::format("its lanes are {} elements apart", stride(position)),
                        expected == 1 ? "the kernel needs them side by side: choose a layout with these lanes"
                                      : fmt::format("the kernel needs {} of k between them: choose a layout "
                                                    "with these lanes",
                                                    expected));
        }
    }
    Address start() const {
        Index offset = address_.offset;
        for (const char* position : {kRow, kGroup, kStep, kColumn, kInStep, kLane})
            offset = offset.substitute(position, Index(0));
        return {address_.buffer, offset, address_.element};
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
    std::vector<Read> reads = roles.product.b_reads;
    reads.push_back(roles.product.a);
    for (const Read& factor : reads) {
        const auto value = to_value(read(factor.tensor, factor.coordinates, factor.declared_map), values);
        if (!std::get<Load>(value->node).guards.empty()) {
            throw Error(scope.node.name,
                        scope.node.definition()->tensors[static_cast<size_t>(factor.tensor)].name,
                        "may be read out of range", "use the micro-kernel loops");
        }
    }
}

int64_t groups_in(const Range& range, int64_t lanes) {
    return (range.largest + lanes - 1) / lanes;
}

/// Factor B over two positions in the tile, of which `outer` has `outer_count` values.
struct FactorPositions {
    const char* outer;
    int64_t outer_count;
    const char* inner;
    int64_t inner_count;
    int64_t k_lanes = 1;  ///< that lie side by side between the lanes
};

/// An operand is read at its strides; anything else is computed from the operands group by group.
Factor factor_b(const LeafScope& scope, const Roles& roles, const std::vector<Index>& at,
                const FactorPositions& positions, int64_t lanes) {
    if (const Read* operand = roles.product.b_operand()) {
        const TileAddress b(scope, operand->tensor, operand->coordinates, at, false);
        if (lanes > 1) b.expect_stride(kLane, positions.k_lanes);
        if (positions.k_lanes > 1) b.expect_stride(kInStep, 1);
        return StridedFactor{b.start(), b.stride(positions.outer), b.stride(positions.inner)};
    }
    if (positions.k_lanes > 1) {
        throw Error(scope.node.name, "k_lanes", "its factor is computed from several operands",
                    "leave k_lanes out");
    }
    const auto variable = [&](const char* name, int64_t count) {
        return Variable{scope.names.fresh(name), {0, std::max<int64_t>(count - 1, 0)}};
    };
    ComputedFactor b{variable(positions.outer + 1, positions.outer_count),
                     variable(positions.inner + 1, positions.inner_count), nullptr};
    std::vector<Index> iterators = at;
    for (Index& x : iterators) {
        x = x.substitute(positions.outer, Index::variable(b.outer))
                .substitute(positions.inner, Index::variable(b.inner));
    }
    b.value = to_value(roles.product.b, {scope.node, scope.storage, std::move(iterators), 0, nullptr});
    return b;
}

/// Whether all that B reads is stored with lanes along its last group, so that the group can be read whole.
bool is_padded(const LeafScope& scope, const Roles& roles, int64_t lanes, int64_t k_lanes) {
    return std::all_of(roles.product.b_reads.begin(), roles.product.b_reads.end(), [&](const Read& read) {
        const Value& stored =
            scope.storage.input().graph[scope.storage.base(value_of(scope.node, read.tensor))];
        if (stored.kind != ValueKind::kConstant) return false;
        const Layout& layout = stored_layout(scope.storage.input().plan, stored.name);
        const size_t inner = k_lanes > 1 ? 1 : 0;  // lanes along k stand behind those along n
        return layout.lanes.size() > inner &&
               layout.lanes[layout.lanes.size() - 1 - inner].factor % lanes == 0;
    });
}

/// Neighbouring k in B's lanes, and whether their products are added together: what NTT has of that.
struct KLanes {
    int64_t count;
    bool dot;
};

KLanes k_lanes_of(const LeafScope& scope, const Roles& roles) {
    const int64_t count = number_parameter(scope, "k_lanes", 1, 2),
                  dot = number_parameter(scope, "dot", 1, 2);
    const auto expect_bf16 = [&](const Read& factor, const char* parameter) {
        const TensorDecl& tensor = scope.node.definition()->tensors[static_cast<size_t>(factor.tensor)];
        if (tensor.type == ElementType::kBF16) return;
        throw Error(scope.node.name, tensor.name,
                    fmt::format("is of {}; {}=2 needs bf16", name(tensor.type), parameter),
                    fmt::format("leave {} out", parameter));
    };
    if (dot > 1 && dot != count) {
        throw Error(scope.node.name, "dot", fmt::format("is {}, k_lanes is {}", dot, count),
                    "the operands of one operation lie side by side: give both, or leave dot out");
    }
    if (count > 1 && roles.product.b_operand()) expect_bf16(*roles.product.b_operand(), "k_lanes");
    if (dot > 1) expect_bf16(roles.product.a, "dot");
    return {count, dot > 1};
}

}  // namespace

Body lower_contract(const LeafScope& scope) {
    const Roles roles = roles_of(scope);
    const int64_t lanes = lanes_parameter(scope);
    const KLanes k_lanes = k_lanes_of(scope, roles);
    Tile tile = surrounding(scope, roles);
    std::vector<Index> at = tile.loops.values();
    refuse_reads_outside(scope, roles, at);
    const auto range = [&](int x) -> const Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const Range row = roles.m >= 0 ? range(roles.m) : Range{Index(0), Index(1), 1};
    const FactorPositions positions{kGroup, groups_in(range(roles.n), lanes), kStep,
                                    groups_in(range(roles.k), k_lanes.count), k_lanes.count};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.k)] = range(roles.k).begin +
                                       position(kStep, positions.inner_count) * Index(k_lanes.count) +
                                       position(kInStep, k_lanes.count);
    at[static_cast<size_t>(roles.n)] = range(roles.n).begin +
                                       position(kGroup, positions.outer_count) * Index(lanes) +
                                       position(kLane, lanes);

    const Read& left = roles.product.a;
    const TileAddress a(scope, left.tensor, left.coordinates, at, false);
    const TileAddress c(scope, roles.c, scope.node.definition()->tensors[static_cast<size_t>(roles.c)].map,
                        at, true);
    if (lanes > 1) c.expect_stride(kLane, 1);
    if (k_lanes.count > 1) a.expect_stride(kStep, k_lanes.count * a.stride(kInStep));
    if (k_lanes.dot) a.expect_stride(kInStep, 1);
    ContractCall call{.lanes = lanes,
                      .rows = number_parameter(scope, "rows", 1, 32),
                      .groups = number_parameter(scope, "groups", 1, 16),
                      .k_lanes = k_lanes.count,
                      .dot = k_lanes.dot,
                      .a = a.start(),
                      .c = c.start(),
                      .b = factor_b(scope, roles, at, positions, lanes),
                      .a_m = a.stride(kRow),
                      .a_k = k_lanes.count > 1 ? a.stride(kInStep) : a.stride(kStep),
                      .c_m = c.stride(kRow),
                      .c_group = c.stride(kGroup),
                      .m = extent(row),
                      .n = extent(range(roles.n)),
                      .k = extent(range(roles.k)),
                      .accumulate = tile.accumulates,
                      .b_is_padded = is_padded(scope, roles, lanes, k_lanes.count)};
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
    const FactorPositions positions{kColumn, range(roles.n).largest, kGroup,
                                    groups_in(range(roles.k), lanes)};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.n)] = range(roles.n).begin + position(kColumn, positions.outer_count);
    at[static_cast<size_t>(roles.k)] = range(roles.k).begin +
                                       position(kGroup, positions.inner_count) * Index(lanes) +
                                       position(kLane, lanes);

    const Read& left = roles.product.a;
    const TileAddress a(scope, left.tensor, left.coordinates, at, false);
    const TileAddress c(scope, roles.c, scope.node.definition()->tensors[static_cast<size_t>(roles.c)].map,
                        at, true);
    if (lanes > 1) a.expect_stride(kLane, 1);
    DotCall call{.lanes = lanes,
                 .rows = number_parameter(scope, "rows", 1, 16),
                 .columns = number_parameter(scope, "columns", 1, 16),
                 .a = a.start(),
                 .c = c.start(),
                 .b = factor_b(scope, roles, at, positions, lanes),
                 .a_m = a.stride(kRow),
                 .a_group = a.stride(kGroup),
                 .c_m = c.stride(kRow),
                 .c_n = c.stride(kColumn),
                 .m = extent(row),
                 .n = extent(range(roles.n)),
                 .k = extent(range(roles.k)),
                 .accumulate = tile.accumulates};
    return finished(scope, std::move(tile), {std::move(call)});
}

}  // namespace tessera
