// A kernel's nest becomes loops: each `x:8` a For over the root's iterator x, each producer at its place
// computes the elements that the rest of the nest reads in one tile, each leaf is lowered by its
// micro-kernel.
//
//   x:8 y:1 { p[..]; r[..] }   ->   for x in 0..X by 8: for y in 0..Y: p on (region that r reads), r on
//   (x..x+8, y)
//
// The loop `x:8@worker` starts at the worker's first tile and leaves out those of the others.
//
// A loop over a reduction of the root starts behind the identity of its results and ends before the
// post-expression; if the workers divide the reduction, `r[combine]` in another kernel applies it.
#include "lowering/lower.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/injectivity.h"
#include "lowering/fill_gaps.h"
#include "lowering/kernel_division.h"
#include "lowering/leaf.h"
#include "lowering/nest_checks.h"
#include "lowering/whole_sums.h"
#include "movement/identifier.h"
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
            plan::check_parameters(*nodes_.back()->definition(), *leaf);
        }
    }

    movement::Kernel lower() {
        movement::Kernel kernel;
        kernel.name = division_.kernel_name();
        kernel.comment = plan::print(plan_.nest);
        kernel.barrier = plan_.barrier;
        kernel.alone = plan_.alone;
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

    movement::Body lower_nest(const plan::Nest& nest, Ranges ranges, bool is_partial) {
        const std::vector<const plan::Leaf*> all = plan::leaves(nest);
        std::vector<const Node*> nodes;
        for (const plan::Leaf* leaf : all) nodes.push_back(&storage_.block().node(leaf->node));
        const Node& root_node = *nodes.back();
        const Definition& definition = *root_node.definition();

        // Loops, outermost first; a Body for each depth is put together on the way out.
        struct Open {
            movement::Variable variable;
            movement::Index begin, end;
            int64_t step;
            bool is_lone;  ///< one tile holds all, so the body does not name the variable
            bool is_divided = false;
            movement::Body before, inside, after;
        };
        std::vector<Open> open;
        const size_t outer_loops = open_loops_.size();
        const int outer_stopped_loops = stopped_loops_;
        if (&nest == &plan_.nest) division_.begin_whole(nodes, ranges);
        for (const plan::LoopTile& loop : nest.loops) {
            const int x = definition.iterator(loop.iterator);
            if (x < 0) {
                throw Error(root_node.name, loop.iterator, "is no iterator of the nest's last operator");
            }
            const std::string name = movement::iterator_identifier(loop.iterator);
            Range& range = ranges[static_cast<size_t>(x)];
            Open level;
            const bool is_reduction = definition.iterators[static_cast<size_t>(x)].is_reduction;
            if (loop.is_divided) division_.check(root_node, loop, range);
            if (is_reduction && !is_partial) {
                if (!plan::root(nest).kernel->tiles_reductions) {
                    throw Error(root_node.name, loop.iterator,
                                "is a reduction, and the micro-kernel cannot fold tiles of it");
                }
                const LeafScope here{root_node, plan::root(nest), ranges, false, storage_, nodes_, names_};
                if (definition.tensors[static_cast<size_t>(definition.results().front())].role ==
                    Role::kOut) {
                    // A scattered result starts from what fill_gaps stored.
                    if (sets_all_elements(definition)) level.before = lower_identity(here);
                    if (&root_node != division_.parted()) level.after = lower_post(here);
                }
                is_partial = true;
            }
            movement::Index end = range.end;
            if (is_reduction || may_skip(root_node)) {
                for (const movement::Index& bound : bounds_by_predicate(root_node, x, ranges, storage_))
                    end = movement::min(end, bound);
            }
            const bool is_stopped = !(end == range.end);
            if (is_stopped) ++stopped_loops_;
            const int64_t tile = std::min(loop.tile, std::max<int64_t>(range.largest, 1));
            // Parts of workers begin at whole tiles, also behind the end.
            const int64_t step = loop.is_divided && storage_.input().plan.workers > 1 ? loop.tile : tile;
            const int64_t divisor = range.begin.divisor();
            level.variable = {
                names_.fresh(name + "_tile"),
                {range.begin.bounds().low, std::max(range.begin.bounds().low, range.end.bounds().high - 1)},
                divisor == 0 ? step : std::gcd(divisor, step)};
            level.begin = range.begin;
            level.is_divided = loop.is_divided && storage_.input().plan.workers > 1;
            if (level.is_divided) level.begin = storage_.input().worker() * movement::Index(loop.tile);
            const auto stride = checked_mul(loop.tile, storage_.input().plan.workers);
            if (level.is_divided && !stride) {
                throw Error(root_node.name, loop.iterator,
                            fmt::format("is divided in tiles of {} between {} workers, which exceeds 64 bits",
                                        loop.tile, storage_.input().plan.workers),
                            "choose a smaller tile");
            }
            end = named(end, name + "_stop", level.before);
            level.end = end;
            level.step = level.is_divided ? *stride : tile;
            level.is_lone = range.largest <= tile;
            const movement::Index start =
                level.is_lone ? range.begin : movement::Index::variable(level.variable);
            if (!level.is_lone) open_loops_.push_back(level.variable.name);
            if (!level.is_lone && !is_reduction && is_partial) check_folds_once(root_node, x);
            // A tile that always fits keeps its constant extent.
            const bool divides = (range.end - range.begin).divisor() % tile == 0 && end == range.end;
            const movement::Index next = start + movement::Index(tile);
            const std::optional<movement::Index> covered = is_stopped ? std::nullopt : range.covered;
            range = {
                start,
                divides || tile == 1 ? next : named(movement::min(next, end), name + "_end", level.inside),
                tile, covered};
            if (loop.is_divided) {
                division_.begin_part(nodes, ranges, level.variable.name, level.is_lone);
            } else {
                division_.enter(level.variable.name, level.begin);
            }
            open.push_back(std::move(level));
        }

        set_tiles(nodes, ranges, nest);
        const std::map<const Node*, Ranges> needed = required_ranges(nodes, ranges, storage_);
        movement::Body body;
        for (const auto& child : nest.children) {
            if (const auto* inner = std::get_if<plan::Nest>(&child)) {
                const Node& inner_root = storage_.block().node(plan::root(*inner).node);
                if (&inner_root != &root_node) check_part(inner_root, needed.at(&inner_root));
                check_hidden(*inner, nodes_, storage_);
                append(body,
                       lower_nest(*inner, needed.at(&inner_root), is_partial && &inner_root == &root_node));
            } else {
                const plan::Leaf& leaf = std::get<plan::Leaf>(child);
                const Node& node = storage_.block().node(leaf.node);
                if (&node != &root_node) check_part(node, needed.at(&node));
                append(body, lower_leaf(leaf, node, needed.at(&node), is_partial && &node == &root_node));
            }
        }
        for (auto level = open.rbegin(); level != open.rend(); ++level) {
            movement::Body outer = std::move(level->before);
            append(level->inside, std::move(body));
            body = std::move(level->inside);
            const auto extent = (level->end - level->begin).as_constant();
            if (level->is_lone && !level->is_divided && extent && *extent > 0 && *extent <= level->step) {
                append(outer, std::move(body));  // a loop of one trip is none
            } else {
                outer.push_back(
                    {movement::For{level->variable, level->begin, level->end, level->step, std::move(body)}});
            }
            append(outer, std::move(level->after));
            body = std::move(outer);
        }
        open_loops_.resize(outer_loops);
        stopped_loops_ = outer_stopped_loops;
        return body;
    }

    bool is_tile(ValueId value) const {
        return storage_.plan_of(storage_.base(value)).place == plan::Place::kTile;
    }

    /// Whether the loops over a nest's root may leave out iterations for which its predicate does not hold:
    /// their elements are set already, are kept, or are never seen.
    bool may_skip(const Node& node) const {
        if (&node == division_.parted()) return false;  // the combination reads all of the parts
        const Definition& definition = *node.definition();
        const int result = definition.results().front();
        if (definition.tensors[static_cast<size_t>(result)].role == Role::kUpdate) return true;
        if (definition.monoid == Monoid::kNone && !is_tile(value_of(node, result))) return true;  // fill_gaps
        return readers_imply_predicate(node, nodes_, storage_);
    }

    /// A producer computes the part that the rest of a nest reads. This part must be the whole if others read
    /// it too, and no element may be computed twice if the second time would start from the first result.
    void check_part(const Node& node, const Ranges& ranges) const {
        const Definition& definition = *node.definition();
        const std::vector<movement::Index> extents = iterator_extents(node, storage_.input());
        for (const int t : definition.results()) {
            const TensorDecl& result = definition.tensors[static_cast<size_t>(t)];
            const ValueId value = value_of(node, t);
            if (!is_tile(value) && stopped_loops_ > 0) {
                throw Error(node.name, storage_.input().graph[value].name,
                            "is stored whole, but stands in a loop that a predicate of the nest's last "
                            "operator ends early",
                            "place it as a tile, or take the operator out of that loop");
            }
            bool folds_into_memory = result.role == Role::kUpdate && definition.monoid != Monoid::kNone;
            for (const int x : iterators_in(result.map)) {
                const auto at = static_cast<size_t>(x);
                if (definition.iterators[at].is_reduction) {
                    folds_into_memory = true;
                } else if (!is_tile(value) && !(ranges[at].covered && *ranges[at].covered == extents[at])) {
                    throw Error(
                        node.name, storage_.input().graph[value].name,
                        fmt::format("is stored whole, but this kernel may compute a part of it along {}",
                                    definition.iterators[at].name),
                        "place it as a tile, or take the operator into a kernel of its own");
                }
            }
            if (!is_tile(value)) check_product(node, value, ranges);
            const bool is_replaced =
                result.role == Role::kOut && storage_.plan_of(value).place == plan::Place::kInPlace;
            for (const std::string& loop : open_loops_) {
                if (!is_replaced && !folds_into_memory) break;
                if (std::any_of(ranges.begin(), ranges.end(),
                                [&](const Range& r) { return r.begin.uses(loop); }))
                    continue;
                throw Error(
                    node.name, storage_.input().graph[value].name,
                    fmt::format("is made from what it replaces, but every trip of the loop {} makes it again",
                                loop),
                    "give it storage of its own, or take the operator out of that loop");
            }
        }
    }

    /// One loop that moves the ranges of two iterators, as below a reader of a diagonal, reaches each value
    /// of both, but not each pair.
    void check_product(const Node& node, ValueId value, const Ranges& ranges) const {
        for (const std::string& loop : open_loops_) {
            if (std::ranges::count_if(ranges, [&](const Range& r) { return r.begin.uses(loop); }) < 2)
                continue;
            throw Error(node.name, storage_.input().graph[value].name,
                        fmt::format("is stored whole, but two of its axes follow the loop {}", loop),
                        "place it as a tile, or take the operator into a kernel of its own");
        }
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

    /// Gives a region to every tile that is made and read at this level: by a child of the nest, for another
    /// one.
    void set_tiles(const std::vector<const Node*>& nodes, const Ranges& ranges, const plan::Nest& nest) {
        const std::map<const Node*, Ranges> needed = required_ranges(nodes, ranges, storage_);
        for (const auto& child : nest.children) {
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
    std::vector<std::string>
        open_loops_;         ///< variables of the loops around the current place that have several trips
    int stopped_loops_ = 0;  ///< loops around the current place that a predicate ends, maybe at once
};

}  // namespace

movement::Kernel lower_kernel(const LoweringInput& input, const Block& block,
                              const plan::KernelPlan& kernel) {
    try {
        return KernelLowering(input, block, kernel).lower();
    } catch (const movement::IndexOverflow& overflow) {
        throw Error(plan::root(kernel.nest).node, plan::print(kernel.nest), overflow.problem,
                    overflow.advice);
    }
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
