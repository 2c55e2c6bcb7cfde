#include "compiler/predicted_steps.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/verified_plan.h"
#include "cost/weighted_sizes.h"
#include "run/llm/step_interface.h"

namespace tessera::compiler {
namespace {

/// Each sequence has `longest` tokens, behind others up to `cached`.
struct TypicalStep {
    int64_t tokens, rows, sequences, longest, cached;
};

int64_t rounded_up(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
}

/// Nothing where the model has no such step.
std::optional<TypicalStep> typical_step(const llm::StepInterface& interface,
                                        const runtime::Manifest& manifest, const Point& point) {
    const auto value = [&](llm::StepInterface::Symbol symbol) {
        const int at = interface.symbols[symbol];
        return at < 0 ? 0 : point.values.at(manifest.symbols[static_cast<size_t>(at)].name);
    };
    const TypicalStep step{value(llm::StepInterface::kT), value(llm::StepInterface::kR),
                           value(llm::StepInterface::kB), value(llm::StepInterface::kI),
                           value(llm::StepInterface::kS)};
    const bool exists = step.sequences > 0 && step.tokens == step.sequences * step.longest &&
                        step.rows <= step.tokens && step.longest <= step.cached &&
                        step.cached <= interface.context;
    return exists ? std::optional(step) : std::nullopt;
}

std::map<std::string, std::vector<double>> contents_of(const runtime::Manifest& manifest,
                                                       const llm::StepInterface& interface,
                                                       const TypicalStep& step, int64_t pages_of_cache) {
    // Rows of the embedding that no cache line shares, and pages in order.
    std::vector<int32_t> tokens(static_cast<size_t>(step.longest)), wanted(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<int32_t>((i * 7919 + 13) % static_cast<size_t>(interface.vocabulary));
    std::iota(wanted.begin(), wanted.end(), 0);
    const auto pages =
        static_cast<size_t>(rounded_up(step.cached, interface.page_size) / interface.page_size);
    // The cache extent counts whole pages: a prompt that ends in the last one begins with the first.
    const bool is_prompt = rounded_up(step.longest, interface.page_size) >= step.cached;
    std::vector<int32_t> table(pages * static_cast<size_t>(step.sequences));
    std::iota(table.begin(), table.end(), 0);
    std::vector<llm::Segment> segments;
    int64_t rows = step.rows;
    for (int64_t b = 0; b < step.sequences; ++b) {
        const auto own = static_cast<size_t>(std::min(rows, step.longest));
        rows -= static_cast<int64_t>(own);
        segments.push_back({.tokens = tokens,
                            .start = is_prompt ? 0 : step.cached - step.longest,
                            .pages = std::span(table).subspan(static_cast<size_t>(b) * pages, pages),
                            .rows = std::span(wanted).last(own)});
    }
    const llm::StepValues values = llm::step_values(manifest, interface, segments, pages_of_cache);
    std::map<std::string, std::vector<double>> contents;
    for (size_t i = 0; i < values.inputs.size(); ++i)
        contents[manifest.inputs[i].name].assign(values.inputs[i].begin(), values.inputs[i].end());
    return contents;
}

}  // namespace

cost::SizePoint size_point(const runtime::Manifest& manifest, const Point& point) {
    cost::SizePoint sizes{.symbols = point.values, .contents = {}};
    if (!manifest.text) return sizes;
    const llm::StepInterface interface(manifest);
    if (const auto step = typical_step(interface, manifest, point)) {
        const int pages = interface.symbols[llm::StepInterface::kP];
        sizes.contents =
            contents_of(manifest, interface, *step,
                        pages < 0 ? 0 : point.values.at(manifest.symbols[static_cast<size_t>(pages)].name));
    }
    return sizes;
}

ArtefactCosts artefact_costs(const runtime::Artefact& artefact, const machine::Machine& machine) {
    const cost::CostModel model(machine);
    auto [graph, plan] = verified_plan(artefact);
    ArtefactCosts costs{.plan = std::move(plan), .steps = {}};
    for (const Point& point : graph.points) {
        const auto runs = cost::specialisation_at(costs.plan, point);
        if (!runs) continue;
        costs.steps.push_back(
            {.point = point.name,
             .specialisation = *runs,
             .kernels = cost::step_costs(graph, costs.plan, costs.plan.specialisations[*runs], point.values,
                                         model)});
    }
    return costs;
}

}  // namespace tessera::compiler
