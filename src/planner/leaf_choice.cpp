#include "planner/leaf_choice.h"

#include <algorithm>
#include <iterator>

#include "ir/iterator_use.h"
#include "kernels/block_contraction.h"
#include "kernels/contraction.h"
#include "kernels/micro_kernels.h"
#include "kernels/parameters.h"
#include "movement/storage.h"
#include "planner/leaf_alternatives.h"
#include "planner/register_blocks.h"
#include "planner/tile_choice.h"
#include "planner/unit_lanes.h"

namespace tessera {
namespace {

/// Of the rows that may share what a kernel reads of B, the most; -1 if there are none.
int longest(const std::vector<int>& iterators, const Definition& definition,
            const SpecialisationPlan& specialisation) {
    const auto found = std::max_element(iterators.begin(), iterators.end(), [&](int x, int y) {
        return largest_extent(definition, x, specialisation) < largest_extent(definition, y, specialisation);
    });
    return found == iterators.end() ? -1 : *found;
}

const std::string& iterator_name(const Definition& definition, int x) {
    return definition.iterators[static_cast<size_t>(x)].name;
}

/// On how many tensors the iterator runs along the last axis, one element a step: what row-major lanes want.
/// A tensor counts by its rank, as a measure of its size.
int contiguous_tensors(const Definition& definition, int x) {
    int count = 0;
    for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
        if (definition.tensors[static_cast<size_t>(t)].role == Role::kIndex) continue;
        for (const auto& access : accesses(definition, t)) {
            const auto* last = access.empty() ? nullptr : std::get_if<IteratorRef>(&access.back()->node);
            if (last && last->index == x) count += static_cast<int>(access.size());
        }
    }
    return count;
}

Leaf leaf_of(const Node& node, std::string_view micro_kernel) {
    return {node.name, *find_micro_kernel(micro_kernel)};
}

void add_loops(std::vector<Leaf>& out, const Node& node, const PlannerOptions& options) {
    const Definition& d = *node.definition();
    std::vector<int> order;
    for (int x = 0; x < static_cast<int>(d.iterators.size()); ++x) {
        if (contiguous_tensors(d, x) > 0) order.push_back(x);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return contiguous_tensors(d, a) > contiguous_tensors(d, b); });
    for (const int x : order) {
        for (int64_t lanes = options.lanes; lanes > 1; lanes /= 2) {
            out.push_back(leaf_of(node, "loops")
                              .set(parameter::kIteratorOfLanes, iterator_name(d, x))
                              .set(parameter::kLanes, lanes));
            if (lanes == options.lanes)
                std::ranges::move(wider_folds(node, Leaf(out.back()), options), std::back_inserter(out));
        }
    }
    out.push_back(leaf_of(node, "loops"));
}

/// How the block fetches what it has to read.
void set_fetching(Leaf& leaf, const RegisterBlock& block) {
    leaf.set(parameter::kPrefetch, block.prefetch).set(parameter::kStreams, block.streams);
}

std::vector<RegisterBlock> offered(std::vector<RegisterBlock> blocks, const PlannerOptions& options) {
    if (!options.has_all_blocks) blocks.resize(1);
    return blocks;
}

/// For so many blocks of rows, or more, it can save more than it takes to widen or decode a panel of B once.
constexpr int64_t kPanelBlocks = 4;

/// Numbers of 4 and 8 bits are spread in two or three instructions: for fewer rows than these a panel takes
/// longer than to spread them for each block of rows.
constexpr int64_t kPanelRows = 32;

/// The leaf for a register block of so many rows, B by panels from `least_rows` on, where a product has rows
/// enough for that.
void add_with_panels(std::vector<Leaf>& out, Leaf leaf, int64_t block_rows, int64_t rows,
                     int64_t least_rows = 0) {
    const int64_t blocks = std::max(kPanelBlocks, (least_rows + block_rows - 1) / block_rows);
    if (rows < blocks * block_rows) return;
    leaf.set(parameter::kPanelBlocks, blocks);
    out.push_back(std::move(leaf));
}

/// Pages, which are short runs of memory.
bool is_found_by_index(const Read& operand) {
    return std::any_of(operand.coordinates.begin(), operand.coordinates.end(), is_indirect);
}

/// Groups of lanes where few rows of A share what is read of B once, at the rate of the memory. A single
/// group reads B in the order of the addresses, which is faster than streams that are short. It needs time
/// for each addition to end before the next: one operation takes a whole line, or the streams would be short
/// anyway.
int64_t groups_of_few_rows(const RegisterBlock& block, bool is_in_pages, int64_t line_bytes,
                           int64_t operation_bits) {
    if (is_in_pages) return 1;
    return block.rows == 1 && operation_bits >= 8 * line_bytes ? 1 : block.columns;
}

/// A sum of products in one of its readings, lanes along one of B's iterators.
struct Product {
    const Definition& definition;
    const Contraction& roles;
    int64_t rows;  ///< of A, at most
    int64_t lanes;
    bool along_n;  ///< the lanes; else along k

    ElementType type(const Read& factor) const {
        return definition.tensors[static_cast<size_t>(factor.tensor)].type;
    }
    /// B has to be widened or decoded, and A is read as it is however often.
    bool has_panels() const {
        const Read* b = roles.b_operand();
        return along_n && type(roles.a) == ElementType::kF32 && !(b && type(*b) == ElementType::kF32);
    }
};

/// The same multiplied by a vector unit for pairs, which are made of B as it is read.
void add_with_pairs_made(std::vector<Leaf>& out, Leaf leaf, const Product& product,
                         const PlannerOptions& options) {
    const Read* b = product.roles.b_operand();
    if (!b || product.type(*b) != product.type(product.roles.a) ||
        !adds_products(options, product.type(*b)) || product.lanes == 1)
        return;
    leaf.set(parameter::kDot, k_lanes(options, product.type(*b)));
    out.push_back(std::move(leaf));
}

/// The same with B in pairs of k, as the machine's units want it: multiplied by such a unit, or widened.
/// `is_first`: of the blocks.
void add_with_k_lanes(std::vector<Leaf>& out, Leaf leaf, const Product& product, bool is_first,
                      const PlannerOptions& options) {
    const Read* b = product.roles.b_operand();
    if (!b) return;
    const ElementType type = product.type(*b);
    const int64_t neighbours = k_lanes(options, type);
    if (neighbours == 1) return;
    leaf.set(parameter::kKLanes, neighbours);
    if (product.type(product.roles.a) == type && adds_products(options, type)) {
        Leaf by_unit = leaf;
        by_unit.set(parameter::kDot, neighbours);
        if (is_first && leaf.number(parameter::kRows) == 1) {
            const int64_t groups =
                groups_of_few_rows({1, leaf.number(parameter::kGroups)}, is_found_by_index(*b),
                                   options.line_bytes, product.lanes * neighbours * bits(type));
            by_unit.set(parameter::kGroups, groups);
        }
        out.push_back(std::move(by_unit));
    }
    if (product.has_panels()) add_with_panels(out, leaf, leaf.number(parameter::kRows), product.rows);
    out.push_back(std::move(leaf));
}

/// The same by the machine's matrix units, each with its parameters.
void add_tiles(std::vector<Leaf>& out, const Leaf& leaf, const std::vector<TileBlock>& of_units) {
    for (const TileBlock& block : of_units) {
        out.push_back(leaf);
        out.back()
            .set(parameter::kLanesOfTile, block.lanes)
            .set(parameter::kRowsOfTile, block.tile_rows)
            .set(parameter::kDepthOfTile, block.depth)
            .set(parameter::kTilesOfB, block.groups);
        if (block.rows > 0) out.back().set(parameter::kTilesOfA, block.rows);
    }
}

/// The leaf with every register block. `columns`: of the product, at most.
void add_blocks(std::vector<Leaf>& out, Leaf leaf, const Product& product, int64_t columns,
                const PlannerOptions& options) {
    const int64_t groups = (columns + product.lanes - 1) / product.lanes;
    const Read* b = product.roles.b_operand();
    const bool is_in_pages = b && is_found_by_index(*b);
    bool is_first = true;
    for (RegisterBlock block : offered(register_blocks(options, product.rows, product.along_n), options)) {
        if (b && product.along_n && block.rows <= kFewRows && is_first)
            block.columns = groups_of_few_rows(block, is_in_pages, options.line_bytes,
                                               product.lanes * bits(product.type(*b)));
        if (block.streams > 1 && (groups < block.streams || is_in_pages)) continue;
        leaf.set(parameter::kRows, block.rows);
        if (!product.along_n) leaf.set(parameter::kColumnsInRegisters, block.columns);
        if (product.along_n) {
            leaf.set(parameter::kGroups, std::min(block.columns, groups))
                .set(parameter::kPartialSums, block.partial_sums);
            set_fetching(leaf, block);
            add_with_k_lanes(out, leaf, product, is_first, options);
            add_with_pairs_made(out, leaf, product, options);
        }
        if (product.has_panels()) add_with_panels(out, leaf, block.rows, product.rows);
        out.push_back(leaf);
        is_first = false;
    }
}

/// With so many lanes along n, by `contract`, or along k, by `dot`.
void add_contractions(std::vector<Leaf>& out, const Node& node, const SpecialisationPlan& specialisation,
                      const PlannerOptions& options, int64_t lanes, bool along_n) {
    const Definition& d = *node.definition();
    for (const Contraction& roles : contractions_of(d)) {
        const int m = longest(roles.m, d, specialisation);
        const int64_t rows = m < 0 ? 1 : largest_extent(d, m, specialisation);
        for (const int n : roles.n) {
            for (const int k : roles.k) {
                const auto leaf_by = [&](std::string_view micro_kernel) {
                    Leaf leaf = leaf_of(node, micro_kernel);
                    leaf.set(parameter::kColumns, iterator_name(d, n))
                        .set(parameter::kReduction, iterator_name(d, k));
                    if (m >= 0) leaf.set(parameter::kRowsOfA, iterator_name(d, m));
                    return leaf;
                };
                const Product product{d, roles, rows, lanes, along_n};
                const Read* b = roles.b_operand();
                // Pages hold no pairs: to make them takes as long as a few rows.
                const bool are_tiles = along_n && lanes == options.lanes && b &&
                                       product.type(*b) == product.type(roles.a) &&
                                       (rows > kFewRows || !is_found_by_index(*b));
                if (are_tiles)
                    add_tiles(out, leaf_by("contract_tiles"), tile_blocks(product.type(*b), rows, options));
                add_blocks(out, leaf_by(along_n ? "contract" : "dot").set(parameter::kLanes, lanes), product,
                           largest_extent(d, n, specialisation), options);
            }
        }
    }
}

void add_block_contractions(std::vector<Leaf>& out, const Node& node,
                            const SpecialisationPlan& specialisation, const PlannerOptions& options) {
    const Definition& d = *node.definition();
    for (const BlockContraction& roles : block_contractions_of(d)) {
        const int m = longest(roles.m, d, specialisation);
        const int64_t rows = m < 0 ? 1 : largest_extent(d, m, specialisation);
        const int64_t bits_of_b = bits(d.tensors[static_cast<size_t>(roles.b.tensor)].type);
        const bool spreads_slowly = bits_of_b != 4 && bits_of_b != 8;
        const int64_t least_rows = spreads_slowly ? 0 : kPanelRows;
        const auto leaf_along = [&](int n, const char* micro_kernel) {
            Leaf leaf = leaf_of(node, micro_kernel);
            leaf.set(parameter::kColumns, iterator_name(d, n))
                .set(parameter::kReduction, iterator_name(d, roles.k));
            if (m >= 0) leaf.set(parameter::kRowsOfA, iterator_name(d, m));
            return leaf;
        };
        const auto leaf_with = [&](const RegisterBlock& block, int n) {
            Leaf leaf = leaf_along(n, "contract_blocks");
            leaf.set(parameter::kLanes, options.lanes)
                .set(parameter::kRows, block.rows)
                .set(parameter::kGroups, block.columns);
            set_fetching(leaf, block);
            return leaf;
        };
        if (is_of_bytes(roles))
            for (const int n : roles.n)
                add_tiles(out, leaf_along(n, "contract_block_tiles"),
                          byte_tile_blocks(roles.fold->block, rows, options));
        for (const RegisterBlock& block : offered(blocks_of_integers(options, rows), options)) {
            for (const int n : roles.n) {
                const Leaf leaf = leaf_with(block, n);
                if (spreads_slowly) add_with_panels(out, leaf, block.rows, rows, least_rows);
                out.push_back(leaf);
                if (!spreads_slowly) add_with_panels(out, leaf, block.rows, rows, least_rows);
            }
        }
        if (!roles.fold) continue;
        for (const RegisterBlock& block : blocks_of_folded_integers(options, rows))
            for (const int n : roles.n)
                add_with_panels(out, leaf_with(block, n), block.rows, rows, least_rows);
    }
}

void add_streams(std::vector<Leaf>& out, const Node& node, const SpecialisationPlan& specialisation,
                 const PlannerOptions& options) {
    const Definition& d = *node.definition();
    const auto results = d.results();
    const auto& once = d.tensors[static_cast<size_t>(results[0])].map;
    const std::vector<Read> values = reads_in({d.body[1]});
    const auto are_of = [&](ElementType type) {
        return std::all_of(values.begin(), values.end(), [&](const Read& read) {
            const TensorDecl& tensor = d.tensors[static_cast<size_t>(read.tensor)];
            return tensor.role == Role::kIndex || tensor.type == type;
        });
    };
    const bool is_widened = !are_of(ElementType::kF32);
    const bool are_rounded = d.weights != ElementType::kF32 && are_of(d.weights);
    const bool has_dot = are_rounded && adds_products(options, d.weights);
    for (int64_t lanes = options.lanes; lanes >= 1; lanes /= 2) {
        for (int x = 0; x < static_cast<int>(d.iterators.size()); ++x) {
            if (d.iterators[static_cast<size_t>(x)].is_reduction || uses(once, x)) continue;
            Leaf leaf = leaf_of(node, "stream");
            leaf.set(parameter::kValues, iterator_name(d, x)).set(parameter::kLanes, lanes);
            const int64_t groups = (largest_extent(d, x, specialisation) + lanes - 1) / lanes;
            std::vector<int> rows;
            for (int m = 0; m < static_cast<int>(d.iterators.size()); ++m) {
                const bool indexes_value = std::any_of(values.begin(), values.end(),
                                                       [&](const Read& r) { return uses(r.coordinates, m); });
                if (uses(once, m) && !indexes_value && largest_extent(d, m, specialisation) > 1)
                    rows.push_back(m);
            }
            std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) {
                return largest_extent(d, a, specialisation) > largest_extent(d, b, specialisation);
            });
            rows.push_back(-1);
            for (const int m : rows) {
                const int64_t most = m < 0 ? 1 : largest_extent(d, m, specialisation);
                const RegisterBlock block = block_of_values(options.vector_registers, most);
                if (m >= 0) leaf.set(parameter::kRowsOfStream, iterator_name(d, m));
                if (are_rounded && lanes == options.lanes && most > kFewRows)
                    add_tiles(out,
                              leaf_of(node, "stream_tiles")
                                  .set(parameter::kValues, leaf.iterator(parameter::kValues))
                                  .set(parameter::kRowsOfStream, leaf.iterator(parameter::kRowsOfStream)),
                              tile_blocks(d.weights, most, options));
                leaf.set(parameter::kRows, block.rows)
                    .set(parameter::kGroups, std::min(groups, block.columns));
                const auto add = [&](Leaf one) {
                    if (has_dot && lanes > 1) {
                        Leaf by_unit = one;
                        by_unit.set(parameter::kDot, k_lanes(options, d.weights));
                        out.push_back(std::move(by_unit));
                    }
                    out.push_back(std::move(one));
                };
                add(leaf);
                if (most <= kFewRows) {
                    for (const int64_t prefetch : kPrefetchDistances) {
                        leaf.set(parameter::kPrefetch, prefetch);
                        add(leaf);
                    }
                    leaf.set(parameter::kPrefetch, block.prefetch);
                }
                if (is_widened) add_with_panels(out, leaf, block.rows, most);
                leaf.reset(parameter::kRowsOfStream);
            }
        }
    }
}

}  // namespace

int64_t largest_extent(const Definition& definition, int x, const SpecialisationPlan& specialisation) {
    std::vector<int64_t> dims;
    for (const DimSymbol& dim : definition.dims) dims.push_back(specialisation.bounds.at(dim.name).high);
    return evaluate_constant(definition.iterators[static_cast<size_t>(x)].extent, dims);
}

std::vector<Leaf> leaf_candidates(const Node& node, const SpecialisationPlan& specialisation,
                                  const PlannerOptions& options) {
    std::vector<Leaf> result;
    if (node.definition()->monoid == Monoid::kSoftmaxSum) add_streams(result, node, specialisation, options);
    add_block_contractions(result, node, specialisation, options);
    for (int64_t lanes = options.lanes; lanes > 1; lanes /= 2)
        for (const bool along_n : {true, false})
            add_contractions(result, node, specialisation, options, lanes, along_n);
    add_loops(result, node, options);
    std::vector<Leaf> distinct;
    for (Leaf& leaf : result) {
        if (std::find(distinct.begin(), distinct.end(), leaf) == distinct.end())
            distinct.push_back(std::move(leaf));
    }
    return distinct;
}

}  // namespace tessera
