#include "search/planner/verify_structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lowering/movement/identifier.h"
#include "lowering/parts.h"
#include "lowering/plan/parts.h"
#include "lowering/storage.h"
#include "lowering/views.h"
#include "search/planner/alias_forest.h"
#include "search/planner/verify_leaf.h"
#include "search/planner/verify_parts.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

/// When an operator has its turn in a block.
struct Turn {
    size_t kernel = 0;
    size_t leaf = 0;  ///< within the kernel
    auto operator<=>(const Turn&) const = default;
};
using Turns = std::map<std::string, Turn>;

/// One specialisation of a plan, checked against its graph.
class Verifier {
public:
    Verifier(const Graph& graph, const plan::SpecialisationPlan& plan, std::string where)
        : graph_(graph), plan_(plan), where_(std::move(where)) {}

    void run() {
        check_bounds();
        check_tensors();
        aliases_.emplace(graph_, plan_);
        for (const Block& block : graph_.blocks) check_block(block);
        for (const plan::KernelPlan& kernel : plan_.kernels) {
            const bool exists = std::any_of(graph_.blocks.begin(), graph_.blocks.end(),
                                            [&](const Block& b) { return b.name == kernel.block; });
            if (!exists) fail(kernel.block, "is no block of the graph");
        }
        verify_parts(graph_, plan_, where_);
    }

private:
    [[noreturn]] void fail(const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(where_, entity, problem, advice);
    }

    const plan::TensorPlan* tensor(ValueId id) const {
        const auto at = plan_.tensors.find(graph_[id].name);
        return at == plan_.tensors.end() ? nullptr : &at->second;
    }

    /// The value whose storage this one uses.
    ValueId base(ValueId id) const {
        const auto found = aliases_->base(id);
        if (!found) fail(graph_[id].name, "stands for itself, by way of others");
        return *found;
    }

    void check_bounds() const {
        for (const DimSymbol& symbol : graph_.symbols) {
            const auto at = plan_.bounds.find(symbol.name);
            if (at == plan_.bounds.end()) fail(symbol.name, "has no bounds");
            if (at->second.low < symbol.low || at->second.high > symbol.high ||
                at->second.low > at->second.high) {
                fail(symbol.name, fmt::format("has bounds [{}, {}], the graph allows [{}, {}]",
                                              at->second.low, at->second.high, symbol.low, symbol.high));
            }
        }
        for (const auto& [name, bounds] : plan_.bounds) {
            if (!graph_.symbol(name)) fail(name, "is no symbol of the graph");
        }
    }

    void check_tensors() const {
        for (const auto& [name, tensor] : plan_.tensors) {
            const auto whole = plan::whole_of(name);
            const auto id = graph_.find(whole.value_or(name));
            if (!id || graph_[*id].kind != ValueKind::kIntermediate)
                fail(name, "is no intermediate value of the graph");
            const auto& outputs = graph_.outputs;
            if (!whole && std::find(outputs.begin(), outputs.end(), *id) != outputs.end())
                fail(name, "is an output: the caller says where it lies");
            if (const std::string why = why_illegal(tensor.layout, graph_[*id].type.shape.size());
                !why.empty())
                fail(name, why);
            const bool is_alias = tensor.place == plan::Place::kView || tensor.place == plan::Place::kInPlace;
            if (is_alias && !graph_.find(tensor.of))
                fail(name, fmt::format("takes {}, which is no value of the graph", tensor.of));
            if (tensor.each_worker && tensor.place != plan::Place::kArena)
                fail(name, "is of each worker, but has no place in the arena");
            if (is_alias && !tensor.layout.is_row_major())
                fail(name, "has a layout of its own, but no storage");
        }
        for (const Block& block : graph_.blocks) {
            for (const Node& node : block.nodes) {
                for (const ValueId result : node.results) {
                    const bool is_output = std::find(graph_.outputs.begin(), graph_.outputs.end(), result) !=
                                           graph_.outputs.end();
                    if (!is_output && !tensor(result)) fail(graph_[result].name, "has no place");
                }
            }
        }
    }

    void check_block(const Block& block) {
        Turns reads, combines;  // when an operator reads its operands, and when it combines parts
        Turn turn;
        for (const plan::KernelPlan& kernel : plan_.kernels) {
            if (kernel.block != block.name) continue;
            turn.leaf = 0;
            for (const plan::Leaf* leaf : plan::leaves(kernel.nest)) {
                verify_leaf(block, *leaf, where_);
                Turns& turns = lowering::combines_parts(*leaf) ? combines : reads;
                if (!turns.emplace(leaf->node, turn).second) fail(leaf->node, "is computed twice");
                ++turn.leaf;
            }
            ++turn.kernel;
        }
        Turns made = combines;
        made.insert(reads.begin(), reads.end());
        for (const Node& node : block.nodes) {
            const plan::TensorPlan* first = tensor(node.results.front());
            const bool is_a_view = first && first->place == plan::Place::kView;
            if (is_a_view) {
                check_view(node, *first);
                if (made.contains(node.name)) fail(node.name, "is a view, and a kernel computes it too");
            } else if (!reads.contains(node.name)) {
                fail(node.name, fmt::format("is computed by no kernel of block {}", block.name));
            }
        }
        check_order(block, reads, made);
        check_tiles(block, reads, made);
        check_replacements(block, reads, made);
        check_carried(block);
    }

    void check_view(const Node& node, const plan::TensorPlan& view) const {
        if (!lowering::is_view(*node.definition()))
            fail(node.name, "computes something, so its result is no view");
        if (graph_[node.operands.front()].name != view.of) {
            fail(graph_[node.results.front()].name,
                 fmt::format("is a view of {}, not of {}", graph_[node.operands.front()].name, view.of));
        }
    }

    /// Every operand is made before it is read: in an earlier kernel, or earlier in the same one.
    void check_order(const Block& block, const Turns& reads, const Turns& made) const {
        std::map<ValueId, const Node*> maker;
        for (const Node& node : block.nodes) {
            for (const ValueId result : node.results) {
                const plan::TensorPlan* t = tensor(result);
                maker[result] = t && t->place == plan::Place::kView && maker.contains(node.operands.front())
                                    ? maker.at(node.operands.front())
                                : t && t->place == plan::Place::kView ? nullptr
                                                                      : &node;
            }
        }
        for (const Node& node : block.nodes) {
            if (!reads.contains(node.name)) continue;
            std::vector<ValueId> read = node.operands;
            if (node.previous) read.push_back(*node.previous);
            for (const ValueId operand : read) {
                const auto maker_of = maker.find(operand);
                if (maker_of == maker.end() || !maker_of->second) continue;
                const std::string& source = maker_of->second->name;
                if (made.at(source) < reads.at(node.name)) continue;
                if (reads.at(source) < reads.at(node.name))
                    fail(node.name, fmt::format("reads {}, of which there are only parts here", source),
                         fmt::format("begin its kernel, or an earlier one, with {}[combine]", source));
                fail(node.name, fmt::format("is computed before {}, which it reads", source));
            }
        }
    }

    /// A value that exists in tiles only is read in its own kernel only.
    void check_tiles(const Block& block, const Turns& reads, const Turns& made) const {
        for (const Node& node : block.nodes) {
            for (const ValueId result : node.results) {
                const plan::TensorPlan* t = tensor(result);
                if (!t || t->place != plan::Place::kTile) continue;
                bool is_read = false;
                for (const Block& other : graph_.blocks) {
                    for (const Node& reader : other.nodes) {
                        for (const ValueId operand : reader.operands) {
                            if (!(base(operand) == result)) continue;
                            if (&other == &block && !reads.contains(reader.name)) continue;
                            is_read = true;
                            if (&other != &block ||
                                reads.at(reader.name).kernel != made.at(node.name).kernel) {
                                fail(graph_[result].name,
                                     fmt::format("exists by tiles only, but {} reads it in another kernel",
                                                 reader.name));
                            }
                        }
                    }
                }
                if (!is_read && node.definition()->monoid != Monoid::kSoftmaxSum)
                    fail(graph_[result].name, "exists by tiles only, and nothing reads it");
                if (block.carried_out == result)
                    fail(graph_[result].name, "leaves its block, so it cannot exist by tiles only");
            }
        }
    }

    /// Storage may be taken over by the operator that reads it last.
    void check_replacements(const Block& block, const Turns& reads, const Turns& made) const {
        for (const Node& node : block.nodes) {
            for (const ValueId result : node.results) {
                const plan::TensorPlan* t = tensor(result);
                const bool is_update = node.previous && result == node.results.front();
                if (!t || t->place != plan::Place::kInPlace) {
                    if (is_update)
                        fail(graph_[result].name, fmt::format("updates {} and must be in place of it",
                                                              graph_[*node.previous].name));
                    continue;
                }
                const ValueId taken = *aliases_->of(result);
                if (is_update) {
                    if (!(taken == *node.previous))
                        fail(graph_[result].name,
                             fmt::format("updates {}, not {}", graph_[*node.previous].name, t->of));
                } else {
                    check_elementwise(node, result, taken);
                }
                if (!lowering::may_replace(node, taken, [&](ValueId v) { return base(v); })) {
                    fail(graph_[result].name,
                         fmt::format("takes over {}, where {} reads other elements than it writes", t->of,
                                     node.name));
                }
                for (const Node& reader : block.nodes) {
                    if (&reader == &node || !reads.contains(reader.name)) continue;
                    for (const ValueId operand : reader.operands) {
                        const bool sees_old =
                            base(operand) == base(taken) && !aliases_->comes_from(operand, result);
                        if (sees_old && made.at(reader.name).kernel >= reads.at(node.name).kernel) {
                            fail(graph_[result].name,
                                 fmt::format("takes over {}, which {} still reads", t->of, reader.name));
                        }
                    }
                }
                check_other_blocks(block, result, taken);
                if (block.carried_out && base(*block.carried_out) == base(taken) &&
                    !aliases_->comes_from(*block.carried_out, result)) {
                    fail(graph_[result].name, fmt::format("takes over {}, which leaves the block", t->of));
                }
            }
        }
    }

    /// A value that another block, or this one's next repetition, reads must not be overwritten.
    void check_other_blocks(const Block& block, ValueId result, ValueId taken) const {
        const ValueId storage = base(taken);
        bool is_later = false;
        for (const Block& other : graph_.blocks) {
            is_later = is_later || &other == &block;
            if (!is_later || &other == &block) continue;
            for (const Node& reader : other.nodes) {
                for (const ValueId operand : reader.operands) {
                    if (base(operand) == storage && !aliases_->comes_from(operand, result)) {
                        fail(graph_[result].name,
                             fmt::format("takes over {}, which {} of block {} still reads",
                                         graph_[taken].name, reader.name, other.name));
                    }
                }
            }
        }
        const bool is_made_here = std::any_of(block.nodes.begin(), block.nodes.end(), [&](const Node& n) {
            return std::find(n.results.begin(), n.results.end(), storage) != n.results.end();
        });
        const bool is_carried = block.carried_in && base(*block.carried_in) == storage;
        if (block.repeat > 1 && graph_[storage].kind == ValueKind::kIntermediate && !is_made_here &&
            !is_carried) {
            fail(graph_[result].name,
                 fmt::format("takes over {}, which the next repetition of block {} reads again",
                             graph_[taken].name, block.name));
        }
    }

    /// Views between a value and its storage must not show one element twice, or writing one would change
    /// another.
    void check_written_views(ValueId result, ValueId taken) const {
        for (std::optional<ValueId> at = taken; at && aliases_->of(*at); at = aliases_->of(*at)) {
            if (tensor(*at)->place != plan::Place::kView) continue;
            for (const Block& block : graph_.blocks) {
                for (const Node& node : block.nodes) {
                    if (node.results.front() == *at && !lowering::is_one_to_one(*node.definition())) {
                        fail(graph_[result].name,
                             fmt::format("takes over {}, which shows some elements more than once",
                                         graph_[*at].name));
                    }
                }
            }
        }
    }

    void check_elementwise(const Node& node, ValueId result, ValueId taken) const {
        const ValueKind kind = graph_[base(taken)].kind;
        if (kind != ValueKind::kIntermediate)
            fail(graph_[result].name,
                 fmt::format("takes over {}, which is not the step's own", graph_[taken].name));
        if (std::find(graph_.outputs.begin(), graph_.outputs.end(), base(taken)) != graph_.outputs.end()) {
            fail(graph_[result].name, fmt::format("takes over {}, which is an output", graph_[taken].name));
        }
        check_written_views(result, taken);
        const Definition& d = *node.definition();
        for (int i = 0; i < static_cast<int>(d.tensors.size()); ++i) {
            if (d.tensors[static_cast<size_t>(i)].role != Role::kIn ||
                !(lowering::value_of(node, i) == taken))
                continue;
            if (!lowering::may_be_in_place(d, i)) {
                fail(node.name,
                     fmt::format("reads {} at other elements than it writes, so it cannot be in place",
                                 graph_[taken].name));
            }
            if (!(graph_[taken].type.shape == graph_[result].type.shape))
                fail(graph_[result].name, fmt::format("has another shape than {}", graph_[taken].name));
            return;
        }
        fail(node.name, fmt::format("does not read {}, so it cannot be in place of it", graph_[taken].name));
    }

    void check_carried(const Block& block) const {
        if (block.repeat == 1 || !block.carried_in || !block.carried_out) return;
        for (const ValueId carried : {*block.carried_in, *block.carried_out}) {
            const bool is_output =
                std::find(graph_.outputs.begin(), graph_.outputs.end(), carried) != graph_.outputs.end();
            if (graph_[base(carried)].kind != ValueKind::kIntermediate || is_output)
                fail(
                    graph_[carried].name,
                    fmt::format("cannot be carried by block {}, whose repetitions overwrite it: the caller's "
                                "memory is not theirs",
                                block.name),
                    "carry a copy, made before the block or read behind it");
        }
        const plan::Plan nothing_stored;
        const plan::ConstantSection no_constants;
        const lowering::LoweringInput input =
            lowering::lowering_input(graph_, nothing_stored, plan_, no_constants);
        if (!lowering::lie_alike({input, block}, *block.carried_in, *block.carried_out)) {
            fail(graph_[*block.carried_out].name,
                 fmt::format("must end in the storage of {}, where the next repetition of block {} reads it",
                             graph_[*block.carried_in].name, block.name),
                 "place it, or what it is made from, `in place of` the carried value");
        }
    }

    const Graph& graph_;
    const plan::SpecialisationPlan& plan_;
    std::string where_;
    std::optional<AliasForest> aliases_;  ///< once what they take is known to exist
};

}  // namespace

void verify_structure(const Graph& graph, const plan::Plan& plan, const std::string& where) {
    if (plan.graph != graph.name) {
        throw Error(where, plan.graph,
                    fmt::format("is the graph of this plan, the model's is {}", graph.name),
                    "make a plan of this model by `tessera compile --dump DIR`");
    }
    for (const auto& [name, layout] : plan.stored) {
        const auto id = graph.find(name);
        if (!id || (graph[*id].kind != ValueKind::kConstant && graph[*id].kind != ValueKind::kState)) {
            throw Error(where, name, "is no constant or state of the graph");
        }
        if (const std::string why = why_illegal(layout, graph[*id].type.shape.size()); !why.empty())
            throw Error(where, name, why);
    }
    std::set<std::string> names;
    for (const plan::SpecialisationPlan& s : plan.specialisations) {
        if (!movement::is_part_of_identifier(s.name) || !names.insert(s.name).second)
            throw Error(where, s.name, "is no name of a specialisation, or is given twice");
        Verifier(graph, s, fmt::format("{}: specialisation {}", where, s.name)).run();
    }
    const bool covers_all = std::any_of(
        plan.specialisations.begin(), plan.specialisations.end(), [&](const plan::SpecialisationPlan& s) {
            return std::all_of(graph.symbols.begin(), graph.symbols.end(), [&](const DimSymbol& symbol) {
                return s.bounds.at(symbol.name) == plan::SymbolBounds{symbol.low, symbol.high};
            });
        });
    if (!covers_all) throw Error(where, "specialisation", "none covers the bounds of all symbols");
}

}  // namespace tessera::planner
