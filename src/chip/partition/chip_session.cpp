#include "chip/partition/chip_session.h"

#include <algorithm>
#include <utility>

#include "chip/partition/drawn_call.h"
#include "import/constant_data.h"
#include "ir/ops/cache_update.h"

namespace tessera::partition {
namespace {

int64_t pages_for(int64_t tokens) {
    return (tokens + ops::kPageSlots - 1) / ops::kPageSlots;
}

TensorData row_of(const std::vector<int64_t>& values) {
    return {.shape = {std::ssize(values)}, .values = {values.begin(), values.end()}};
}

std::vector<int64_t> counting(int64_t first, int64_t count) {
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(first + i);
    return numbers;
}

const import::ImportedModel& without_recurrences(const import::ImportedModel& model,
                                                 const std::string& where) {
    expect_no_recurrences(model.graph, where);
    return model;
}

}  // namespace

ChipSession::ChipSession(const import::ImportedModel& model, const chip::ChipDescription& chip,
                         std::string where, int64_t capacity, const chip::PlanOptions& options, bool compares)
    : model_(without_recurrences(model, where)),
      chip_(chip),
      where_(std::move(where)),
      options_(options),
      compares_(compares),
      pages_(pages_for(capacity)),
      states_(zero_states(model.graph, {{"P", pages_}})) {}

GraphCall ChipSession::call_of(const std::vector<int64_t>& tokens) const {
    const int64_t count = std::ssize(tokens);
    GraphCall call;
    call.symbols = {{"T", count}, {"R", 1}, {"B", 1}, {"I", count}, {"P", pages_}};
    call.symbols["S"] = pages_for(cached_ + count) * ops::kPageSlots;
    // Page i of the cache is that of the i-th 16 tokens, so a slot is a position.
    const int64_t table = model_.graph[*model_.graph.find("page")].type.shape[1].factor;
    TensorData page = row_of(counting(0, table));
    for (double& each : page.values) each = std::min(each, static_cast<double>(pages_ - 1));
    page.shape = {1, table};
    call.inputs = {{"tokens", row_of(tokens)},
                   {"position", row_of(counting(cached_, count))},
                   {"slot", row_of(counting(cached_, count))},
                   {"rows", row_of({count - 1})},
                   {"first", row_of({0})},
                   {"length", row_of({count})},
                   {"start", row_of({cached_})},
                   {"page", std::move(page)}};
    call.constant = [this](const Value& constant, int64_t repetition) {
        return import::constant_data(*model_.weights, constant, repetition);
    };
    call.states = states_;
    return call;
}

ChipStep ChipSession::step(const std::vector<int64_t>& tokens) {
    const GraphCall call = call_of(tokens);
    const PlannedStep planned = plan_step(model_.graph, call, chip_, where_, options_);
    ExecutedStep executed = execute_step(planned, chip_, call);
    ChipStep result{.logits = std::move(executed.executed.result.outputs.at(0).values),
                    .operators = planned.program.operators.size(),
                    .planned = planned.plan.total,
                    .simulated = executed.cycles,
                    .sram_peak = *std::max_element(executed.executed.sram_peak.begin(),
                                                   executed.executed.sram_peak.end())};
    if (compares_)
        result.distance =
            distance_of(result.logits, interpret_graph(planned.graph, call).outputs.at(0).values);
    states_ = std::move(executed.executed.result.states);
    cached_ += std::ssize(tokens);
    return result;
}

}  // namespace tessera::partition
