#include "chip/partition/executable_program.h"

#include <utility>

#include <fmt/core.h>

#include "chip/partition/device_plan.h"
#include "chip/partition/operator_program.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

class ProgramMaker {
public:
    ProgramMaker(const Graph& graph, const std::map<std::string, int64_t>& symbols, const ChipTables& tables,
                 const chip::Schedule& schedule, const chip::ChipDescription& chip)
        : graph_(graph), symbols_(symbols), tables_(tables), schedule_(schedule), chip_(chip) {
        places_.resize(graph.values.size());
    }

    ExecutableProgram make() {
        made_.program.name = graph_.name;
        for (size_t v = 0; v < graph_.values.size(); ++v)
            if (graph_.values[v].kind == ValueKind::kInput) add_input(ValueId{static_cast<int>(v)});
        size_t first_operator = 0;
        for (const Block& block : graph_.blocks) {
            add(block, first_operator);
            first_operator += block.nodes.size();
        }
        TESSERA_CHECK(position_ == tables_.problem.size(), "{} of {} operators", position_,
                      tables_.problem.size());
        for (const ValueId output : graph_.outputs) made_.outputs.push_back(place(output, 0));
        for (const TensorPlace& output : made_.outputs) use(output);
        made_.program.entries = entries_of(schedule_);
        return std::move(made_);
    }

private:
    int32_t add_value(ValueId value, Homes homes) {
        const TensorType& type = graph_[value].type;
        made_.values.push_back(
            {value, evaluate(type.shape, symbols_), bits(type.element), std::move(homes), position_});
        return static_cast<int32_t>(made_.values.size()) - 1;
    }

    void add_input(ValueId value) {
        const Elements all(facts::Range{0, element_count(evaluate(graph_[value].type.shape, symbols_))});
        Homes homes;
        for (int32_t core = 0; core < chip_.chip.cores; ++core)
            if (Elements own = even_part(all, chip_.chip.cores, core); !own.empty())
                homes.push_back({core, std::move(own)});
        made_.input_homes[graph_[value].name] = homes;
        const int32_t number = add_value(value, std::move(homes));
        made_.inputs[graph_[value].name] = number;
        places_[static_cast<size_t>(value.index)] = {std::nullopt, number};
    }

    void add(const Block& block, size_t first_operator) {
        const TensorPlace first = block.carried_in ? own_place(*block.carried_in) : TensorPlace{};
        for (int64_t repetition = 0; repetition < block.repeat; ++repetition) {
            if (repetition > 0 && block.carried_in)
                own_place(*block.carried_in) = own_place(block.carried_out.value());
            for (const StateUpdate& update : block.states)
                own_place(update.before) = {FarTensor{update.before, repetition}, -1};
            for (size_t i = 0; i < block.nodes.size(); ++i)
                add(block.nodes[i], repetition, first_operator + i);
        }
        if (block.carried_in) own_place(*block.carried_in) = first;
    }

    TensorPlace& own_place(ValueId value) { return places_[static_cast<size_t>(value.index)]; }

    TensorPlace place(ValueId value, int64_t repetition) {
        if (graph_[value].kind != ValueKind::kConstant) return own_place(value);
        return {FarTensor{value, graph_[value].repetitions() == 1 ? 0 : repetition}, -1};
    }

    void use(const TensorPlace& place) {
        if (place.on_chip >= 0) made_.values[static_cast<size_t>(place.on_chip)].last_use = position_;
    }

    void add(const Node& node, int64_t repetition, size_t op) {
        TESSERA_CHECK(position_ < tables_.problem.size() && tables_.problem.sequence[position_] == op,
                      "operator {} at {}", op, position_);
        const PlannedOperator& planned = tables_.operators[op];
        const facts::BoundDefinition& bound = planned.op.bound;
        ExecutableOperator own{.op = op};
        std::vector<Homes> homes;
        for (size_t t = 0; t < planned.op.values.size(); ++t) {
            const Role role = bound.tensor(static_cast<int>(t)).role;
            own.from.push_back(role == Role::kOut ? TensorPlace{}
                               : role == Role::kUpdate
                                   ? read_from(node, node.previous.value(), repetition)
                                   : read_from(node, ValueId{planned.op.values[t]}, repetition));
            const int32_t lying = own.from.back().on_chip;
            homes.push_back(lying < 0 ? Homes{} : made_.values[static_cast<size_t>(lying)].homes);
        }
        const size_t row = schedule_.rows[position_];
        MadeOperator made =
            make_operator(planned, tables_.problem.operators[op].rows[row], planned.rows[row], chip_, &homes);
        made.program.name = node.name;
        own.to.resize(planned.op.values.size());
        for (size_t t = 0; t < planned.op.values.size(); ++t) {
            const ValueId value{planned.op.values[t]};
            if (bound.tensor(static_cast<int>(t)).role == Role::kOut)
                own.to[t] = {std::nullopt, add_value(value, std::move(made.results[t]))};
            else if (bound.is_result(static_cast<int>(t)))
                own.to[t] = update(node, value, own.from[t], made.results[t], own.kept);
            else
                continue;
            own_place(value) = own.to[t];
        }
        own.contents = std::move(made.contents);
        made_.program.operators.push_back(std::move(made.program));
        made_.operators.push_back(std::move(own));
        ++position_;
    }

    TensorPlace read_from(const Node& node, ValueId value, int64_t repetition) {
        const TensorPlace at = place(value, repetition);
        if (!at.far && at.on_chip < 0)
            throw Error(graph_.name, node.name,
                        fmt::format("reads {} after its contents were replaced", graph_[value].name),
                        "read the new contents");
        use(at);
        return at;
    }

    /// The new contents of a state are in its place, those of another value beside it.
    TensorPlace update(const Node& node, ValueId value, const TensorPlace& before, Homes made,
                       std::vector<KeptElements>& kept) {
        TensorPlace result = before;
        Homes rest;
        if (before.on_chip >= 0) {
            const Elements replaced = partition::on_chip(made);
            for (const Home& home : made_.values[static_cast<size_t>(before.on_chip)].homes)
                if (Elements own = without(home.elements, replaced); !own.empty())
                    rest.push_back({home.core, std::move(own)});
        }
        if (before.far) own_place(node.previous.value()) = {};
        if (!before.far || before.on_chip < 0) result.on_chip = add_value(value, {});
        for (const Home& home : rest) {
            if (!before.far) kept.push_back({before.on_chip, result.on_chip, home});
            made.push_back(home);
        }
        made_.values[static_cast<size_t>(result.on_chip)].homes = std::move(made);
        use(result);
        return result;
    }

    const Graph& graph_;
    const std::map<std::string, int64_t>& symbols_;
    const ChipTables& tables_;
    const chip::Schedule& schedule_;
    const chip::ChipDescription& chip_;
    std::vector<TensorPlace> places_;  ///< of each value of the graph, in the current repetition
    size_t position_ = 0;
    ExecutableProgram made_;
};

}  // namespace

ExecutableProgram executable_program(const Graph& graph, const std::map<std::string, int64_t>& symbols,
                                     const ChipTables& tables, const chip::Schedule& schedule,
                                     const chip::ChipDescription& chip) {
    if (chip.pod.chips > 1)
        throw Error(
            "", chip.chip.name,
            fmt::format("is a pod of {} chips, and a program of one chip can be executed", chip.pod.chips),
            "take a description whose chip has `count = 1` and no `links`");
    return ProgramMaker(graph, symbols, tables, schedule, chip).make();
}

}  // namespace tessera::partition
