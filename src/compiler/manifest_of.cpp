#include "compiler/manifest_of.h"

#include <algorithm>
#include <set>

#include "backend/backend.h"
#include "ir/ops/exchange.h"
#include "lowering/plan/constants.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

/// Extents of a state as its layout stores it. Lanes pad an axis, so they need one whose extent is known.
std::vector<Dim> stored_extents(const Value& value, const Layout& layout) {
    std::vector<Dim> stored;
    for (size_t axis = 0; axis < value.type.shape.size(); ++axis) {
        const Dim& dim = value.type.shape[axis];
        int64_t lanes = 1;
        for (const Lane& lane : layout.lanes) lanes *= lane.axis == static_cast<int>(axis) ? lane.factor : 1;
        if (!dim.is_constant() && dim.factor % lanes != 0) {
            throw Error("plan", value.name,
                        fmt::format("has lanes along axis {}, whose extent is only known at run time", axis),
                        "choose lanes along another axis");
        }
        stored.push_back(dim.is_constant() ? Dim((dim.factor + lanes - 1) / lanes * lanes) : dim);
    }
    return stored;
}

int64_t repetitions_of(const Graph& graph, ValueId state) {
    for (const Block& block : graph.blocks) {
        for (const StateUpdate& update : block.states) {
            if (update.before == state) return block.repeat;
        }
    }
    return 1;
}

/// "-mavx2" needs "avx2".
std::vector<std::string> instruction_sets(const machine::Machine& machine) {
    std::vector<std::string> sets;
    for (const std::string& flag : machine.compiler.flags) {
        if (flag.starts_with("-m") && flag.find('=') == std::string::npos) sets.push_back(flag.substr(2));
    }
    return sets;
}

/// True if only exchanges in which the ranks place their parts write the output.
bool is_placed(const Compiled& compiled, int64_t output, const std::set<std::string>& placing) {
    const auto writes_it = [&](const movement::ProgramBuffer& buffer) {
        return buffer.memory == movement::MemoryKind::kOutput && buffer.position == output &&
               buffer.is_written;
    };
    const auto places = [&](const movement::WorkerAccess& access) {
        return !access.is_write || placing.contains(access.node);
    };
    for (const movement::Program& program : compiled.programs)
        for (const movement::ProgramBlock& block : program.blocks)
            for (const movement::Kernel& kernel : block.kernels)
                if (std::ranges::any_of(kernel.buffers, writes_it) &&
                    !std::ranges::all_of(kernel.accesses, places))
                    return false;
    return true;
}

std::vector<std::string> placed_outputs(const Compiled& compiled) {
    std::set<std::string> placing;
    for (const Block& block : compiled.graph.blocks)
        for (const Node& node : block.nodes) {
            const auto call = node.definition() ? ops::exchange_call(*node.definition()) : std::nullopt;
            if (call && call->kind == ops::ExchangeCall::Kind::kPlace) placing.insert(node.name);
        }
    std::vector<std::string> placed;
    if (placing.empty()) return placed;
    for (size_t i = 0; i < compiled.graph.outputs.size(); ++i)
        if (is_placed(compiled, static_cast<int64_t>(i), placing))
            placed.push_back(compiled.graph[compiled.graph.outputs[i]].name);
    return placed;
}

}  // namespace

runtime::Manifest::Text text_of(const import::ModelFacts& facts) {
    runtime::Manifest::Text text;
    text.vocabulary = facts.vocabulary;
    text.context = facts.context;
    for (const int64_t id : facts.end_ids) text.eos.push_back(static_cast<int32_t>(id));
    text.policy = import::name(facts.policy);
    text.has_source = facts.has_source;
    if (const auto& own = facts.features)
        text.features = {own->width, own->taps, own->every, own->first, own->count};
    text.is_encoder = facts.is_encoder;
    return text;
}

runtime::Manifest manifest_of(const std::optional<runtime::Manifest::Text>& text, const Compiled& compiled,
                              const machine::Machine& machine) {
    runtime::Manifest manifest;
    const Graph& graph = compiled.graph;
    manifest.model = graph.name;
    manifest.tessera_version = TESSERA_VERSION;
    manifest.machine = machine.name;
    manifest.machine_hash = machine::content_hash(machine);
    manifest.architecture = machine.isa == machine::Isa::kX86_64 ? "x86_64" : "aarch64";
    manifest.instruction_sets = instruction_sets(machine);
    manifest.workers = compiled.plan.workers;
    manifest.symbols = graph.symbols;
    for (size_t i = 0; i < graph.values.size(); ++i) {
        const Value& value = graph.values[i];
        if (value.kind == ValueKind::kInput)
            manifest.inputs.push_back({value.name, value.type.element, value.type.shape});
        if (value.kind == ValueKind::kState) {
            manifest.states.push_back({value.name, value.type.element, value.type.shape,
                                       stored_extents(value, plan::stored_layout(compiled.plan, value.name)),
                                       repetitions_of(graph, {static_cast<int>(i)})});
        }
    }
    for (const ValueId output : graph.outputs) {
        manifest.outputs.push_back(
            {graph[output].name, graph[output].type.element, graph[output].type.shape});
    }
    manifest.placed_outputs = placed_outputs(compiled);
    const plan::ConstantSection section = plan::constant_section(graph, compiled.plan);
    manifest.constants_bytes = section.bytes;
    for (const Value& value : graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        const plan::StoredConstant& stored = section.constants.at(value.name);
        manifest.constants.push_back({value.name, value.type.element, evaluate(value.type.shape, {}),
                                      print(plan::stored_layout(compiled.plan, value.name)), stored.offset,
                                      stored.bytes, stored.stride, stored.repetitions});
    }
    for (size_t s = 0; s < compiled.programs.size(); ++s) {
        const plan::SpecialisationPlan& plan = compiled.plan.specialisations[s];
        runtime::Manifest::Specialisation specialisation{
            plan.name, backend::entry_name(compiled.programs[s]), {}, plan.arena_bytes};
        for (const auto& [symbol, bounds] : plan.bounds)
            specialisation.bounds[symbol] = {bounds.low, bounds.high};
        manifest.specialisations.push_back(std::move(specialisation));
    }
    manifest.text = text;
    return manifest;
}

}  // namespace tessera::compiler
