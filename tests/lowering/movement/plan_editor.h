#pragma once

#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::testing {

/// One random edit of a plan; whether it is legal is not checked here.
class PlanEditor {
public:
    PlanEditor(const Graph& graph, plan::Plan& plan, std::mt19937_64& random)
        : graph_(graph),
          plan_(plan),
          s_(plan.specialisations[index(plan.specialisations.size(), random)]),
          random_(random) {}

    using Kind = std::pair<const char*, std::string (PlanEditor::*)()>;
    static const std::vector<Kind>& kinds() {
        static const std::vector<Kind> all = {{"stored", &PlanEditor::stored_layout},
                                              {"layout", &PlanEditor::arena_layout},
                                              {"loop", &PlanEditor::add_loop},
                                              {"unloop", &PlanEditor::remove_loop},
                                              {"tile", &PlanEditor::change_tile},
                                              {"order", &PlanEditor::swap_loops},
                                              {"kernel", &PlanEditor::micro_kernel},
                                              {"number", &PlanEditor::parameter},
                                              {"fuse", &PlanEditor::fuse},
                                              {"split", &PlanEditor::split},
                                              {"inner", &PlanEditor::inner_nest},
                                              {"own", &PlanEditor::own_storage},
                                              {"alias", &PlanEditor::take_over},
                                              {"tiles", &PlanEditor::by_tiles},
                                              {"divide", &PlanEditor::divide},
                                              {"parts", &PlanEditor::divide_fold},
                                              {"alone", &PlanEditor::alone},
                                              {"barrier", &PlanEditor::barrier},
                                              {"copies", &PlanEditor::own_copies},
                                              {"workers", &PlanEditor::workers}};
        return all;
    }

    /// Applies an edit. Returns its description, "" if it was not applicable.
    std::string apply(const Kind& kind) { return (this->*kind.second)(); }

private:
    static size_t index(size_t count, std::mt19937_64& random);
    template <typename List>
    auto& pick(List&& list) {
        return list[index(std::size(list), random_)];
    }
    bool coin() { return index(2, random_) == 0; }
    int64_t one_of(std::initializer_list<int64_t> values);

    Layout random_layout(size_t rank);

    std::string stored_layout();

    std::vector<std::string> tensors(std::initializer_list<plan::Place> places) const;

    std::string arena_layout();

    const Node& node(const std::string& name) const;
    const Block& block_of(const Node& node) const;

    /// A random nest of a random kernel: the whole one or one inside.
    plan::Nest& any_nest();

    std::string add_loop();

    plan::Nest* looped_nest();

    std::string remove_loop();

    std::string change_tile();

    std::string swap_loops();

    plan::Leaf& any_leaf();

    std::string micro_kernel();

    void set_any(const Definition& d, plan::Leaf& leaf, const plan::Parameter& p);

    /// Iterators of a contraction that fit, which random ones seldom do.
    void choose_roles(const Definition& d, plan::Leaf& leaf);
    /// Mostly a leaf has none, else as many as it has groups: no other number is legal.
    void choose_streams(plan::Leaf& leaf);

    int64_t number(std::string_view parameter);

    std::string parameter();

    /// One kernel's operators in front of those of a later one, under its loops or under an inner nest's.
    std::string fuse();

    void make_tile(ValueId value);

    /// All operators of a kernel into kernels of their own.
    std::string split();

    /// The first children of a nest under a loop of their own.
    std::string inner_nest();

    /// Storage of its own for a view or a replacement; a view gets a kernel.
    std::string own_storage();

    /// A kernel behind those of the operators that stand before the node in the block.
    void insert_kernel(const Block& block, const Node& n);

    /// A view or the storage of an operand for something that has its own.
    std::string take_over();

    std::string by_tiles();

    /// A loop with @worker around a kernel, with another tile or iterator, or without.
    std::string divide();

    void undivide(plan::Nest& nest);

    /// A reduction of a kernel's last operator for all workers, and a kernel behind it that combines.
    std::string divide_fold();

    std::string alone();

    std::string barrier();

    /// Storage of each worker becomes one for all, or the other way round.
    std::string own_copies();

    std::string workers();

    const Graph& graph_;
    plan::Plan& plan_;
    plan::SpecialisationPlan& s_;
    std::mt19937_64& random_;
};

}  // namespace tessera::testing
