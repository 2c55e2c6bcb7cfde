#include "search/planner/tuning_log.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "ir/graph_text.h"
#include "lowering/storage.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/json.h"

namespace tessera::planner {
namespace {

constexpr std::string_view kFormat = "tessera tuning 1";
constexpr size_t kMostBytes = size_t{64} << 20, kMostValues = 4'000'000;
/// Longer than any measurement of a kernel.
constexpr double kMostSeconds = 1e6;

MeasuredChoice choice_of(const JsonCursor& json) {
    MeasuredChoice choice;
    for (const JsonCursor& nest : json.at("nests").items()) choice.nests.push_back(nest.string());
    if (choice.nests.empty()) json.at("nests").fail("is empty", "a choice has a nest for each kernel");
    choice.estimated_seconds = json.at("estimated_us").real(0, 1e6 * kMostSeconds) / 1e6;
    choice.seconds = json.at("measured_us").real(0, 1e6 * kMostSeconds) / 1e6;
    choice.is_planned = json.boolean_or("planned", false);
    return choice;
}

const Block* block_of(const Graph& graph, const std::set<std::string>& operators) {
    const auto block = std::ranges::find_if(graph.blocks, [&](const Block& each) {
        return std::ranges::all_of(operators, [&](const std::string& name) { return each.find(name); });
    });
    return block == graph.blocks.end() ? nullptr : &*block;
}

}  // namespace

TuningLog parse_tuning_log(std::string_view text, const std::string& where) {
    const JsonCursor json = parse_json(text, where, {.bytes = kMostBytes, .values = kMostValues});
    if (json.at("format").string() != kFormat)
        json.at("format").fail_expected(fmt::format("\"{}\", as `tessera tune` writes it", kFormat));
    TuningLog log;
    for (const JsonCursor& entry : json.at("kernels").items()) {
        TunedKernel& kernel = log.emplace_back();
        kernel.machine = entry.at("machine").string();
        kernel.kernel = entry.at("kernel").string();
        kernel.specialisation = entry.at("specialisation").string();
        for (const JsonCursor& name : entry.at("operators").items()) kernel.operators.insert(name.string());
        if (kernel.operators.empty()) entry.at("operators").fail("is empty");
        for (const JsonCursor& choice : entry.at("choices").items())
            kernel.choices.push_back(choice_of(choice));
        if (kernel.choices.empty()) entry.at("choices").fail("is empty");
    }
    return log;
}

std::string print(const TuningLog& log) {
    nlohmann::ordered_json json = {{"format", kFormat}, {"kernels", nlohmann::ordered_json::array()}};
    for (const TunedKernel& kernel : log) {
        nlohmann::ordered_json choices = nlohmann::ordered_json::array();
        for (const MeasuredChoice& choice : kernel.choices) {
            choices.push_back({{"measured_us", choice.seconds * 1e6},
                               {"estimated_us", choice.estimated_seconds * 1e6},
                               {"nests", choice.nests}});
            if (choice.is_planned) choices.back()["planned"] = true;
        }
        json["kernels"].push_back({{"machine", kernel.machine},
                                   {"kernel", kernel.kernel},
                                   {"specialisation", kernel.specialisation},
                                   {"operators", kernel.operators},
                                   {"choices", std::move(choices)}});
    }
    return json.dump(1) + "\n";
}

std::string kernel_digest(const Graph& graph, const plan::Plan& plan,
                          const plan::SpecialisationPlan& specialisation,
                          const std::set<std::string>& operators) {
    const Block* block = block_of(graph, operators);
    TESSERA_CHECK(block, "operators of several blocks");
    Hasher hasher;
    hasher.field(specialisation.name).field(std::to_string(plan.workers));
    for (const auto& [symbol, bounds] : specialisation.bounds)
        hasher.field(fmt::format("{} {} {}", symbol, bounds.low, bounds.high));
    for (const Node& node : block->nodes) {
        if (!operators.contains(node.name)) continue;
        const Definition& definition = *node.definition();
        hasher.field(node.name).field(print(definition));
        for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
            const Value& value = graph[lowering::value_of(node, t)];
            hasher.field(value.name).field(name(value.kind)).field(tessera::print(value.type));
            const auto stored = plan.stored.find(value.name);
            hasher.field(stored == plan.stored.end() ? "" : tessera::print(stored->second));
        }
    }
    return hasher.hex();
}

UsedTuning used_tuning(const TuningLog& log, const std::string& where, const std::string& machine,
                       const Graph& graph, const plan::Plan& plan, plan::MicroKernels kernels) {
    UsedTuning used;
    std::set<std::pair<std::string, std::string>> taken;  // specialisation and operator
    for (size_t i = 0; i < log.size(); ++i) {
        const TunedKernel& entry = log[i];
        if (entry.machine != machine) {
            ++used.of_other_machines;
            continue;
        }
        const auto specialisation =
            std::ranges::find(plan.specialisations, entry.specialisation, &plan::SpecialisationPlan::name);
        const bool is_taken = std::ranges::any_of(entry.operators, [&](const std::string& name) {
            return taken.contains({entry.specialisation, name});
        });
        if (is_taken || specialisation == plan.specialisations.end() || !block_of(graph, entry.operators) ||
            kernel_digest(graph, plan, *specialisation, entry.operators) != entry.kernel) {
            ++used.of_other_kernels;
            continue;
        }
        for (const std::string& name : entry.operators) taken.emplace(entry.specialisation, name);
        const std::string place = fmt::format("{}: kernels[{}]", where, i);
        for (const std::string& nest : entry.choices.front().nests)
            used.kernels.push_back({.where = place,
                                    .specialisation = entry.specialisation,
                                    .nest = plan::parse_open_nest(nest, place, kernels)});
    }
    return used;
}

}  // namespace tessera::planner
