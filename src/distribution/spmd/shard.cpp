#include "distribution/spmd/shard.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "distribution/form.h"
#include "distribution/spmd/local_operator.h"
#include "support/error.h"

// Each form of each value of the problem is a value of the local graph. Boxes stand where their source is
// made: behind the maker's node; at the beginning of the block that carries the value in; at the beginning of
// the first block for inputs. Slices of constants are constants of their own.

namespace tessera::spmd {
namespace {

using distribution::Form;
using facts::Range;

/// "B_S1", "Psum".
std::string suffix_of(const Form& form) {
    std::string text;
    for (const facts::Sbp& entry : form) {
        text += text.empty() ? "" : "_";
        for (const char c : facts::text(entry))
            if (c != '(' && c != ')') text += c == ':' ? 'x' : c;
    }
    return text;
}

class Sharding {
public:
    Sharding(const Graph& graph, const ModelDistribution& plan, std::span<const int64_t> device)
        : graph_(graph),
          model_(plan.model),
          plan_(plan.found.plan),
          placement_(plan.model.problem.placement),
          device_(device) {
        for (const tessera::Value& value : graph.values) names_.insert(value.name);
        for (const Block& block : graph.blocks)
            for (const Node& node : block.nodes) names_.insert(node.name);
    }

    LocalGraph run() {
        Graph& local = made_.graph;
        local.name = graph_.name;
        local.symbols = graph_.symbols;
        local.points = graph_.points;
        size_t op = 0;
        for (size_t b = 0; b < graph_.blocks.size(); ++b) {
            const Block& block = graph_.blocks[b];
            local.blocks.push_back({block.name, block.repeat, {}, {}, {}, {}});
            add_boxes_at_begin(static_cast<int>(b));
            for (size_t n = 0; n < block.nodes.size(); ++n)
                add_node(op++, block.nodes[n], static_cast<int>(b));
            Block& here = local.blocks[b];
            if (block.carried_in) here.carried_in = carried(*block.carried_in);
            if (block.carried_out) here.carried_out = carried(*block.carried_out);
            for (const StateUpdate& state : block.states) here.states.push_back(updated_.at(state.after));
        }
        for (const ValueId output : graph_.outputs) local.outputs.push_back(wanted(output));
        return std::move(made_);
    }

private:
    const distribution::ValuePlan& plan_of(int value) const {
        return plan_.values[static_cast<size_t>(value)];
    }
    const distribution::Value& problem_value(int value) const {
        return model_.problem.values[static_cast<size_t>(value)];
    }
    const ValuePlace& place_of(int value) const { return model_.places[static_cast<size_t>(value)]; }

    std::string fresh(const std::string& wanted) {
        std::string name = wanted;
        for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    ValueId add(tessera::Value value) {
        made_.graph.values.push_back(std::move(value));
        return {static_cast<int>(made_.graph.values.size()) - 1};
    }

    /// The local value that is this form; made when first asked for.
    ValueId form_of(int value, const Form& form) {
        const ValuePlace place = place_of(value);
        if (place.block >= 0 && form == *problem_value(value).given) {
            // A carried value is the same tensor that the block before leaves.
            const auto before = model_.numbers.find({place.value.index, -1});
            if (before != model_.numbers.end()) value = before->second;
        }
        const auto [at, is_new] = forms_.try_emplace({value, form});
        if (!is_new) return at->second;
        const tessera::Value& whole = graph_[place.value];
        tessera::Value local{.name = whole.name,
                             .kind = whole.kind,
                             .type = local_type(whole.type, form, placement_, device_),
                             .sources = {}};
        if (!(form == plan_of(value).made) || (place.block >= 0 && place_of(value).block >= 0))
            local.name = fresh(fmt::format("{}_{}", whole.name, suffix_of(form)));
        if (whole.kind == ValueKind::kInput && !(form == plan_of(value).made))
            local.kind = ValueKind::kIntermediate;
        // A box makes of a state an activation, in the state's type.
        if (!(form == plan_of(value).made) && updated_.contains(place.value))
            local.type.rounding = Rounding::kWeights;
        if (whole.kind == ValueKind::kConstant) {
            const std::vector<Range> ranges = held_ranges(whole.type, form, placement_, device_, {});
            local.sources = sources_of(whole, ranges);
            made_.constants[local.name] = {place.value, ranges};
        }
        return forms_[{value, form}] = add(std::move(local));
    }

    static std::vector<std::string> sources_of(const tessera::Value& whole,
                                               const std::vector<Range>& ranges) {
        std::vector<std::string> axes, sources;
        for (const Range& range : ranges) axes.push_back(fmt::format("{}:{}", range.first, range.last));
        for (int64_t r = 0; r < whole.repetitions(); ++r)
            sources.push_back(fmt::format("{}[{}]@{}", whole.name, fmt::join(axes, ", "), r));
        return sources;
    }

    void add_boxes(int value, Block& block) {
        const tessera::Value& whole = graph_[place_of(value).value];
        for (const distribution::Box& box : plan_of(value).boxes) {
            const ValueId from = form_of(value, box.from), to = form_of(value, box.to);
            const auto level = static_cast<size_t>(box.level);
            Composite composite{.kind = composite_name(box.collective), .attributes = {}};
            composite.attributes["value"] = whole.name;
            composite.attributes["level"] = static_cast<int64_t>(box.level);
            composite.attributes["from"] = distribution::text(box.from);
            composite.attributes["to"] = distribution::text(box.to);
            composite.attributes["count"] = placement_.levels[level].count;
            for (const auto& [key, entry] :
                 {std::pair{"from_extent", box.from[level]}, std::pair{"to_extent", box.to[level]}})
                if (entry.kind == facts::Sbp::Kind::kSplit)
                    composite.attributes[key] = whole.type.shape[static_cast<size_t>(entry.axis)].factor;
            const std::string name = fresh(fmt::format("{}_{}", composite.kind, made_.graph[to].name));
            block.nodes.push_back({.name = name,
                                   .op = std::move(composite),
                                   .operands = {from},
                                   .results = {to},
                                   .previous = {}});
        }
    }

    // Boxes of inputs go to the first block, those of a carried value to the block that carries it in.
    void add_boxes_at_begin(int b) {
        for (size_t v = 0; v < model_.places.size(); ++v) {
            const ValueKind kind = graph_[model_.places[v].value].kind;
            const bool is_input = kind == ValueKind::kInput && model_.places[v].block < 0;
            if (is_input && b == 0) (void)form_of(static_cast<int>(v), plan_of(static_cast<int>(v)).made);
            if (is_input ? b == 0 : model_.places[v].block == b)
                add_boxes(static_cast<int>(v), made_.graph.blocks.back());
        }
    }

    void add_node(size_t op, const Node& node, int b) {
        const distribution::Choice& choice = plan_.operators[op];
        const std::vector<int>& values = model_.problem.operators[op].values;
        const Definition& definition = *node.definition();
        Node local{.name = node.name, .op = {}, .operands = {}, .results = {}, .previous = {}};
        std::vector<TensorType> types;
        for (size_t t = 0; t < definition.tensors.size(); ++t) {
            const Role role = definition.tensors[t].role;
            const bool is_result = role == Role::kOut || role == Role::kUpdate;
            types.push_back(graph_[place_of(values[t]).value].type);
            const ValueId each = form_of(values[t], choice.forms[t]);
            (is_result ? local.results : local.operands).push_back(each);
        }
        local.op = local_operator(definition, types, choice, placement_, device_).definition;
        Block& block = made_.graph.blocks[static_cast<size_t>(b)];
        if (node.previous) {
            const tessera::Value& before = graph_[*node.previous];
            local.previous = add({.name = before.name,
                                  .kind = ValueKind::kState,
                                  .type = made_.graph[local.results.front()].type,
                                  .sources = {}});
            updated_[node.results.front()] = {*local.previous, local.results.front()};
        }
        block.nodes.push_back(std::move(local));
        std::set<int> boxed;
        for (size_t t = 0; t < definition.tensors.size(); ++t)
            if (model_.problem.operators[op].bound.is_result(static_cast<int>(t)) &&
                boxed.insert(values[t]).second)
                add_boxes(values[t], block);
    }

    ValueId carried(ValueId value) {
        const int number = model_.numbers.at({value.index, -1});
        return form_of(number, *problem_value(number).wanted);
    }
    ValueId wanted(ValueId value) {
        const int number = model_.numbers.at({value.index, -1});
        return form_of(number, *problem_value(number).wanted);
    }

    const Graph& graph_;
    const ModelProblem& model_;
    const distribution::DistributionPlan& plan_;
    const distribution::Placement& placement_;
    std::span<const int64_t> device_;
    LocalGraph made_;
    std::map<std::pair<int, Form>, ValueId> forms_;
    std::map<ValueId, StateUpdate> updated_;  ///< by the new contents in the whole graph
    std::set<std::string> names_;
};

}  // namespace

std::string composite_name(distribution::Collective collective) {
    std::string kind(distribution::name(collective));
    std::ranges::replace(kind, '-', '_');
    return kind;
}

std::vector<std::vector<int64_t>> all_devices(const distribution::Placement& placement) {
    std::vector<std::vector<int64_t>> devices{{}};
    for (const distribution::Level& level : placement.levels) {
        std::vector<std::vector<int64_t>> longer;
        for (const std::vector<int64_t>& device : devices)
            for (int64_t i = 0; i < level.count; ++i) {
                longer.push_back(device);
                longer.back().push_back(i);
            }
        devices = std::move(longer);
    }
    return devices;
}

LocalGraph shard(const Graph& graph, const ModelDistribution& plan, std::span<const int64_t> device) {
    return Sharding(graph, plan, device).run();
}

}  // namespace tessera::spmd
