#include "import/step.h"

#include <algorithm>
#include <set>

#include "ir/ops/cache_update.h"
#include "support/error.h"

namespace tessera::import {
namespace {

int64_t pages_for(int64_t tokens) {
    return (tokens + ops::kPageSlots - 1) / ops::kPageSlots;
}

Point decode_point(int64_t cached) {
    const int64_t pages = pages_for(cached);
    return {.name = "decode_" + std::to_string(cached),
            .values = {{"T", 1}, {"R", 1}, {"B", 1}, {"I", 1}, {"S", pages * ops::kPageSlots}, {"P", pages}}};
}

/// `tokens` new ones behind `cached`.
Point prefill_point(int64_t tokens, int64_t cached) {
    const int64_t pages = pages_for(tokens + cached);
    return {
        .name = "prefill_" + std::to_string(tokens) + (cached > 0 ? "_behind_" + std::to_string(cached) : ""),
        .values = {
            {"T", tokens}, {"R", 1}, {"B", 1}, {"I", tokens}, {"S", pages * ops::kPageSlots}, {"P", pages}}};
}

/// So many sequences decode a token each, or one sequence reads as many tokens: each weight that is read is
/// used several times, and computing still takes no longer than reading.
constexpr int64_t kBatch = 4;

/// `sequences` with `tokens` new ones each, behind `cached`.
Point batch_point(int64_t sequences, int64_t tokens, int64_t cached) {
    const int64_t pages = pages_for(cached), all = sequences * tokens;
    return {.name = "batch_" + std::to_string(sequences) + "x" + std::to_string(tokens),
            .values = {{"T", all},
                       {"R", sequences},
                       {"B", sequences},
                       {"I", tokens},
                       {"S", pages * ops::kPageSlots},
                       {"P", sequences * pages}}};
}

/// Far more than sequences that are open at one time.
constexpr int64_t kMostSeats = 4096;

/// A chat reads a few times more tokens than one pass over the prompt takes; decoding is where its time goes.
constexpr double kDecodeWeight = 64;

}  // namespace

ValueId add_seats(Graph& graph) {
    const DimSymbol* sequences = graph.symbol("B");
    TESSERA_CHECK(sequences != nullptr, "a step without sequences");
    graph.symbols.push_back({"N", 1, kMostSeats});
    for (Point& point : graph.points) point.values["N"] = point.values.at("B");
    graph.values.push_back({.name = "seat",
                            .kind = ValueKind::kInput,
                            .type = {.element = ElementType::kI32, .shape = {Dim("B")}}});
    return {static_cast<int>(graph.values.size()) - 1};
}

Graph start_step(const std::string& name, const StepLimits& limits, StepInputs& inputs) {
    const int64_t table = pages_for(limits.context);
    const int64_t tokens = limits.max_tokens;
    Graph graph{.name = name};
    graph.symbols = {{"T", 1, tokens},
                     {"R", 1, tokens},
                     {"B", 1, limits.max_sequences},
                     {"I", 1, std::min(tokens, limits.context)},
                     {"S", ops::kPageSlots, table * ops::kPageSlots, ops::kPageSlots},
                     {"P", 1, table * limits.max_sequences}};

    graph.points.push_back(decode_point(std::min<int64_t>(512, limits.context)));
    if (limits.context > 512) graph.points.push_back(decode_point(std::min<int64_t>(4096, limits.context)));
    for (Point& point : graph.points) point.weight = kDecodeWeight;
    const int64_t cached = std::min<int64_t>(512, limits.context), most = std::min(tokens, limits.context);
    if (const int64_t few = std::min({kBatch, tokens, limits.max_sequences}); few > 1)
        graph.points.push_back(batch_point(few, 1, cached));
    if (const int64_t few = std::min(kBatch, most); few > 1)
        graph.points.push_back(batch_point(1, few, cached));
    for (const int64_t prompt : std::set{std::min<int64_t>(16, most), std::min<int64_t>(512, most)})
        graph.points.push_back(prefill_point(prompt, 0));
    // As a conversation adds them to a long history.
    if (tokens > 16 && limits.context > 4096) graph.points.push_back(prefill_point(16, 4096 - 16));

    const auto input = [&](const char* input_name, std::vector<Dim> shape,
                           ElementType element = ElementType::kI32) {
        graph.values.push_back({.name = input_name,
                                .kind = ValueKind::kInput,
                                .type = {.element = element, .shape = std::move(shape)}});
        return ValueId{static_cast<int>(graph.values.size()) - 1};
    };
    const Dim t("T"), b("B");
    inputs = {.tokens = input("tokens", {t}),
              .position = input("position", {t}),
              .slot = input("slot", {t}),
              .rows = input("rows", {Dim("R")}),
              .first = input("first", {b}),
              .length = input("length", {b}),
              .start = input("start", {b}),
              .split = {},
              .features = {},
              .page = input("page", {b, table})};
    if (limits.has_source) inputs.split = input("split", {b});
    if (limits.features > 0) inputs.features = input("features", {t, limits.features}, ElementType::kF32);
    return graph;
}

}  // namespace tessera::import
