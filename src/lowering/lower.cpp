// A kernel's nest becomes loops: each `x:8` is a For over the root's iterator x. Each producer at its place
// computes the elements that the rest of the nest reads in one tile. Each leaf is lowered by its
// micro-kernel.
//
//   x:8 y:1 { p[..]; r[..] }   ->   for x in 0..X by 8: for y in 0..Y: p on (region that r reads), r on
//   (x..x+8, y)
//
// The loop `x:8@worker` starts at the worker's first tile and skips those of the others.
//
// A loop over a reduction of the root comes after the identity of its results and before the post-expression;
// if the workers divide the reduction, `r[combine]` in another kernel applies it.
#include "lowering/lower.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/injectivity.h"
#include "lowering/fill_gaps.h"
#include "lowering/kernel_division.h"
#include "lowering/leaf.h"
#include "lowering/movement/identifier.h"
#include "lowering/nest_checks.h"
#include "lowering/nest_rules.h"
#include "lowering/whole_sums.h"
#include "support/checked.h"
#include "support/error.h"

namespace tessera::lowering {
namespace {

class KernelLowering {
public:
    KernelLowering(const LoweringInput& input, const Block& block, const plan::KernelPlan& plan)
        : plan_(plan), storage_(input, block), division_(plan, storage_) {
        for (const plan::Leaf* leaf : plan::leaves(plan.nest)) {
            nodes_.push_back(&block.node(leaf->node));
            if (const auto bad = plan::bad_parameter(*nodes_.back()->definition(), *leaf))
                throw Refused(leaf->node, bad->name, bad->problem);
        }
        for (const Node* node : nodes_)
            if (nodes_.size() > 1 && is_lone(*node->definition()))
                throw Refused(
                    refusal({NestRule::kKeepsOrder, node, node->results.front()}, storage_.input().graph));
    }

    movement::Kernel lower() {
        movement::Kernel kernel;
        kernel.name = division_.kernel_name();
        kernel.comment = plan::print(plan_.nest);
        kernel.barrier = plan_.barrier;
        kernel.alone = plan_.alone;
        const Definition& last = *nodes_.back()->definition();
        if (last.is_wide()) kernel.arithmetic = last.accumulator;
        movement::Body nest = lower_nest(plan_.nest, whole_ranges(*nodes_.back(), storage_.input()), false);
        std::vector<const Node*> completed = nodes_;
        std::erase(completed, division_.parted());
        kernel.body = fill_gaps(completed, division_.accesses(), storage_, names_);
        append(kernel.body, std::move(nest));
        kernel.buffers = storage_.buffers();
        kernel.accesses = division_.accesses();
        return kernel;
    }

private:
    static void append(movement::Body& body, movement::Body more) {
        for (movement::Statement& s : more) body.push_back(std::move(s));
    }

    /// A limit that is more than a sum gets a name, so that it is computed once and the code stays readable.
    movement::Index named(const movement::Index& limit, const std::string& name, movement::Body& body) {
        const bool is_simple = std::ranges::all_of(limit.terms(), [](const movement::Index::Term& term) {
            return term.atom->kind == movement::Index::AtomKind::kVariable;
        });
        if (is_simple) return limit;
        const movement::Variable variable{names_.fresh(name), limit.bounds(),
                                          std::max<int64_t>(limit.divisor(), 1)};
        body.push_back({movement::Let{variable, limit}});
        return movement::Index::variable(variable);
    }

    /// A loop of a nest whose contents are being lowered.
    struct Level {
        movement::Variable variable;
        movement::Index begin, end;
        int64_t step = 1;
        bool is_lone = false;  ///< one tile holds all, so the body does not name the variable
        bool is_divided = false;
        movement::Body before, inside, after;
    };

    /// A nest, some of whose loops are open.
    struct Walk {
        const plan::Nest& nest;
        std::vector<const Node*> nodes;  ///< in the order of execution
        Ranges ranges;                   ///< of the root, inside the open loops
        bool is_partial;                 ///< an open loop runs over a reduction of the root
        std::vector<Level> levels = {};  ///< the open loops, outermost first

        const Node& root() const { return *nodes.back(); }
        const Iterator& iterator(size_t x) const { return root().definition()->iterators[x]; }
    };

    movement::Body lower_nest(const plan::Nest& nest, Ranges ranges, bool is_partial) {
        const LoopsAround outer = around_;
        Walk walk{nest, {}, std::move(ranges), is_partial};
        for (const plan::Leaf* leaf : plan::leaves(nest))
            walk.nodes.push_back(&storage_.block().node(leaf->node));
        if (&nest == &plan_.nest) division_.begin_whole(walk.nodes, walk.ranges);
        for (const plan::LoopTile& loop : nest.loops) open(loop, walk);
        if (walk.is_partial) check_read_behind_fold(walk);
        set_tiles(walk.nodes, walk.ranges, nest);
        movement::Body body = lower_children(walk);
        around_ = outer;
        return closed(std::move(walk.levels), std::move(body));
    }

    void check_read_behind_fold(const Walk& walk) const {
        const Node& root = walk.root();
        const Definition& definition = *root.definition();
        for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
            if (!is_read_behind_fold(definition, t)) continue;
            const ValueId read = storage_.base(value_of(root, t));
            for (const Node* node : walk.nodes)
                if (storage_.is_tile(read) && std::ranges::find(node->results, read) != node->results.end())
                    throw Refused(refusal({NestRule::kReadBehindFold, node, read, -1, 0, &root},
                                          storage_.input().graph));
        }
    }

    void open(const plan::LoopTile& loop, Walk& walk) {
        const size_t x = iterator_of(loop, walk.root());
        Range& range = walk.ranges[x];
        const bool is_reduction = walk.iterator(x).is_reduction;
        Level level;
        if (is_reduction && walk.root().definition()->is_recurrence())
            throw Refused(refusal(
                {NestRule::kKeepsOrder, &walk.root(), walk.root().results.front(), static_cast<int>(x)},
                storage_.input().graph));
        if (loop.is_divided()) division_.check(walk.root(), loop, range);
        if (is_reduction && !walk.is_partial) begin_fold(loop, walk, level);
        const movement::Index stop = stop_of(walk, x);
        const bool is_stopped = !(stop == range.end);
        if (is_stopped) ++around_.stopped;
        set_trips(loop, walk, x, stop, level);
        if (!level.is_lone) {
            around_.variables.push_back(level.variable.name);
            if (!is_reduction && walk.is_partial)
                check_folds_once(walk.root(), static_cast<int>(x), storage_);
        }
        range = range_of_trip(loop, range, level);
        if (is_stopped) range.covered = std::nullopt;
        if (loop.is_divided()) {
            division_.begin_part(walk.nodes, walk.ranges, level.variable.name, level.is_lone);
        } else {
            division_.enter(level.variable.name, level.begin);
        }
        walk.levels.push_back(std::move(level));
    }

    static size_t iterator_of(const plan::LoopTile& loop, const Node& root) {
        const int x = root.definition()->iterator(loop.iterator);
        if (x < 0) throw Refused(root.name, loop.iterator, "is no iterator of the nest's last operator");
        return static_cast<size_t>(x);
    }

    /// The results start from the identity before the outermost loop over the reduction, and get their
    /// post-expression behind it.
    void begin_fold(const plan::LoopTile& loop, Walk& walk, Level& level) {
        const plan::Leaf& root = walk.nest.root();
        const Definition& definition = *walk.root().definition();
        if (!root.kernel->tiles_reductions) {
            throw Refused(walk.root().name, loop.iterator,
                          "is a reduction, and the micro-kernel cannot fold tiles of it");
        }
        const LeafScope here{walk.root(), root, walk.ranges, false, storage_, nodes_, names_};
        if (definition.tensors[static_cast<size_t>(definition.results().front())].role == Role::kOut) {
            // A scattered result starts from what fill_gaps stored.
            if (sets_all_elements(definition)) level.before = lower_identity(here);
            if (&walk.root() != division_.parted()) level.after = lower_post(here);
        }
        walk.is_partial = true;
    }

    /// The end of the loop over iterator x of the root: a predicate may end it before the range does.
    movement::Index stop_of(const Walk& walk, size_t x) {
        movement::Index stop = walk.ranges[x].end;
        if (walk.iterator(x).is_reduction || may_skip(walk.root())) {
            for (const movement::Index& bound :
                 bounds_by_predicate(walk.root(), static_cast<int>(x), walk.ranges, storage_))
                stop = movement::min(stop, bound);
        }
        return stop;
    }

    /// Variable, begin, end and step of the loop over iterator x of the root.
    void set_trips(const plan::LoopTile& loop, const Walk& walk, size_t x, const movement::Index& stop,
                   Level& level) {
        const Range& range = walk.ranges[x];
        const int64_t workers = storage_.input().plan.workers;
        const int64_t tile = tile_of(loop, range);
        level.is_divided = loop.is_divided() && workers > 1;
        // Parts of workers begin at whole tiles, even beyond the end.
        const int64_t grain = level.is_divided ? loop.tile : tile;
        const int64_t divisor = range.begin.divisor();
        const std::string name = movement::iterator_identifier(loop.iterator);
        level.variable = {
            names_.fresh(name + "_tile"),
            {range.begin.bounds().low, std::max(range.begin.bounds().low, range.end.bounds().high - 1)},
            divisor == 0 ? grain : std::gcd(divisor, grain)};
        level.begin = level.is_divided ? storage_.input().worker() * movement::Index(loop.tile) : range.begin;
        const auto stride = checked_mul(loop.tile, workers);
        if (level.is_divided && !stride) {
            throw Refused(walk.root().name, loop.iterator,
                          fmt::format("is divided in tiles of {} between {} workers, which exceeds 64 bits",
                                      loop.tile, workers),
                          "choose a smaller tile");
        }
        level.end = named(stop, name + "_stop", level.before);
        level.step = level.is_divided ? *stride : tile;
        level.is_lone = range.largest <= tile;
    }

    static int64_t tile_of(const plan::LoopTile& loop, const Range& range) {
        return std::min(loop.tile, std::max<int64_t>(range.largest, 1));
    }

    /// The values of the iterator in one trip of a loop over this range.
    Range range_of_trip(const plan::LoopTile& loop, const Range& range, Level& level) {
        const int64_t tile = tile_of(loop, range);
        const movement::Index start = level.is_lone ? range.begin : movement::Index::variable(level.variable);
        const movement::Index next = start + movement::Index(tile);
        // A tile that always fits keeps its constant extent.
        const bool divides = (range.end - range.begin).divisor() % tile == 0 && level.end == range.end;
        if (divides || tile == 1) return {start, next, tile, range.covered};
        const std::string name = movement::iterator_identifier(loop.iterator) + "_end";
        return {start, named(movement::min(next, level.end), name, level.inside), tile, range.covered};
    }

    /// The operators and nests inside the loops of this nest.
    movement::Body lower_children(const Walk& walk) {
        const Node& root = walk.root();
        const std::map<const Node*, Ranges> needed = required_ranges(walk.nodes, walk.ranges, storage_);
        movement::Body body;
        for (const auto& child : walk.nest.items) {
            const auto* inner = std::get_if<plan::Nest>(&child);
            const plan::Leaf& leaf = inner ? inner->root() : std::get<plan::Leaf>(child);
            const Node& node = storage_.block().node(leaf.node);
            const Ranges& ranges = needed.at(&node);
            const bool is_partial = walk.is_partial && &node == &root;
            if (&node != &root) check_part(node, ranges, around_, storage_);
            if (inner) check_hidden(*inner, nodes_, storage_);
            append(body, inner ? lower_nest(*inner, ranges, is_partial)
                               : lower_leaf(leaf, node, ranges, is_partial));
        }
        return body;
    }

    /// The body with the loops around it.
    static movement::Body closed(std::vector<Level> levels, movement::Body body) {
        for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
            movement::Body outer = std::move(level->before);
            append(level->inside, std::move(body));
            body = std::move(level->inside);
            const auto extent = (level->end - level->begin).as_constant();
            if (level->is_lone && !level->is_divided && extent && *extent > 0 && *extent <= level->step) {
                append(outer, std::move(body));  // a loop of one trip is left out
            } else {
                outer.push_back(
                    {movement::For{level->variable, level->begin, level->end, level->step, std::move(body)}});
            }
            append(outer, std::move(level->after));
            body = std::move(outer);
        }
        return body;
    }

    /// True if the loops over a nest's root may skip iterations for which its predicate does not hold: their
    /// elements are set already, are kept, or are never seen.
    bool may_skip(const Node& node) const {
        if (&node == division_.parted()) return false;  // the combination reads all of the parts
        const Definition& definition = *node.definition();
        const int result = definition.results().front();
        if (definition.tensors[static_cast<size_t>(result)].role == Role::kUpdate) return true;
        if (definition.monoid == Monoid::kNone && !storage_.is_tile(value_of(node, result)))
            return true;  // fill_gaps
        return readers_imply_predicate(node, nodes_, storage_);
    }

    movement::Body lower_leaf(const plan::Leaf& leaf, const Node& node, const Ranges& ranges,
                              bool is_partial) {
        division_.check_stays_in_part(node, ranges);
        check_types(node, *leaf.kernel);
        expect_exact_sums(node, storage_);
        movement::Body body;
        const LeafScope scope{node, leaf, ranges, is_partial, storage_, nodes_, names_};
        const ValueId first = value_of(node, node.definition()->results().front());
        if (storage_.plan_of(first).place == plan::Place::kTile && leaves_gaps(node, storage_) &&
            !is_partial && node.definition()->monoid == Monoid::kNone &&
            !readers_imply_predicate(node, nodes_, storage_)) {
            body = lower_identity(scope);
        }
        append(body, leaf.kernel->lower(scope));
        return body;
    }

    /// Gives a region to every tile that is made by one child of the nest and read by another.
    void set_tiles(const std::vector<const Node*>& nodes, const Ranges& ranges, const plan::Nest& nest) {
        const std::map<const Node*, Ranges> needed = required_ranges(nodes, ranges, storage_);
        for (const auto& child : nest.items) {
            std::vector<const plan::Leaf*> made;
            if (const auto* inner = std::get_if<plan::Nest>(&child)) {
                made = plan::leaves(*inner);
            } else {
                made = {&std::get<plan::Leaf>(child)};
            }
            const auto is_inside = [&](const Node* node) {
                return std::any_of(made.begin(), made.end(),
                                   [&](const plan::Leaf* l) { return l->node == node->name; });
            };
            for (const plan::Leaf* leaf : made) {
                const Node& node = storage_.block().node(leaf->node);
                const bool is_read_elsewhere =
                    std::any_of(nodes.begin(), nodes.end(), [&](const Node* reader) {
                        if (is_inside(reader)) return false;
                        return std::any_of(reader->operands.begin(), reader->operands.end(), [&](ValueId o) {
                            return std::find(node.results.begin(), node.results.end(), storage_.base(o)) !=
                                   node.results.end();
                        });
                    });
                if (!is_read_elsewhere) continue;
                for (const ValueId value : node.results) {  // also of results that nothing reads
                    if (storage_.plan_of(value).place == plan::Place::kTile) {
                        storage_.set_tile(value, region_of(node, value, needed.at(&node)));
                    }
                }
            }
        }
    }

    const plan::KernelPlan& plan_;
    Storage storage_;
    KernelDivision division_;
    Names names_;
    std::vector<const Node*> nodes_;
    LoopsAround around_;  ///< the current place
};

}  // namespace

LoweredKernel lowered_kernel(const LoweringInput& input, const Block& block, const plan::KernelPlan& kernel) {
    try {
        return KernelLowering(input, block, kernel).lower();
    } catch (const Refused& refused) {
        return as_refusal(refused);
    } catch (const movement::IndexOverflow& overflow) {
        return Refusal{kernel.nest.root().node, plan::print(kernel.nest), overflow.problem, overflow.advice};
    }
}

std::optional<Refusal> why_no_strides(const LoweringInput& input, const Block& block,
                                      const plan::KernelPlan& kernel) {
    LoweredKernel lowered = lowered_kernel(input, block, kernel);
    if (auto* refusal = std::get_if<Refusal>(&lowered)) return std::move(*refusal);
    return std::nullopt;
}

movement::Kernel lower_kernel(const LoweringInput& input, const Block& block,
                              const plan::KernelPlan& kernel) {
    LoweredKernel lowered = lowered_kernel(input, block, kernel);
    if (const auto* refusal = std::get_if<Refusal>(&lowered)) throw refusal->error();
    return std::get<movement::Kernel>(std::move(lowered));
}

movement::Program lower(const Graph& graph, const plan::Plan& plan,
                        const plan::SpecialisationPlan& specialisation,
                        const plan::ConstantSection& constants) {
    const LoweringInput input = lowering_input(graph, plan, specialisation, constants);
    movement::Program program;
    program.specialisation = specialisation.name;
    program.workers = plan.workers;
    program.arena_bytes = specialisation.arena_bytes;
    for (const DimSymbol& symbol : graph.symbols) program.symbols.push_back(input.symbols.at(symbol.name));
    for (const Block& block : graph.blocks) {
        movement::ProgramBlock lowered{block.name, block.repeat, {}};
        for (const plan::KernelPlan& kernel : specialisation.kernels) {
            if (kernel.block == block.name) lowered.kernels.push_back(lower_kernel(input, block, kernel));
        }
        program.blocks.push_back(std::move(lowered));
    }
    return program;
}

}  // namespace tessera::lowering
