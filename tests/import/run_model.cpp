#include "import/run_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/constant_data.h"
#include "ir/ops/cache_update.h"
#include "ir/ops/decompose.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

constexpr int64_t kSeats = 2;  ///< of which the sequence has the last

int64_t pages_for(int64_t tokens) {
    return (tokens + ops::kPageSlots - 1) / ops::kPageSlots;
}

TensorData row(const std::vector<int64_t>& values) {
    return {.shape = {std::ssize(values)}, .values = {values.begin(), values.end()}};
}

}  // namespace

InterpretedSession::InterpretedSession(const import::ImportedModel& model, int64_t capacity)
    : model_(model), graph_(ops::decompose(model.graph)), pages_(pages_for(capacity)) {
    while (std::gcd(pages_, int64_t{5}) != 1) ++pages_;  // so that page_of is a permutation
    states_ = zero_states(graph_, {{"P", pages_}, {"N", kSeats}});
}

std::vector<double> InterpretedSession::step(const std::vector<int64_t>& tokens) {
    const int64_t count = std::ssize(tokens);
    const int64_t extent = pages_for(cached_ + count) * ops::kPageSlots;
    GraphCall call;
    call.symbols = {{"T", count}, {"R", count}, {"B", 1}, {"I", count}, {"S", extent}, {"P", pages_}};
    if (graph_.symbol("N")) call.symbols["N"] = kSeats;
    std::vector<int64_t> position, slot, rows;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t at = cached_ + i;
        position.push_back(at < split_ ? at : at - split_);
        slot.push_back(page_of(at / ops::kPageSlots) * ops::kPageSlots + at % ops::kPageSlots);
        rows.push_back(i);
    }
    const int64_t table = graph_[*graph_.find("page")].type.shape[1].factor;
    TensorData page{.shape = {1, table}, .values = {}};
    for (int64_t i = 0; i < table; ++i) page.values.push_back(static_cast<double>(page_of(i)));
    call.inputs = {
        {"tokens", row(tokens)}, {"position", row(position)}, {"slot", row(slot)},       {"rows", row(rows)},
        {"first", row({0})},     {"length", row({count})},    {"start", row({cached_})}, {"page", page}};
    if (graph_.find("split")) call.inputs["split"] = row({split_});
    if (model_.facts.features) {
        const int64_t width = model_.facts.features->taps * model_.facts.features->width;
        features_.shape = {count, width};
        features_.values.resize(static_cast<size_t>(count * width), 0);
        call.inputs["features"] = std::move(features_);
        features_ = {};
    }
    if (graph_.find("seat")) call.inputs["seat"] = row({kSeats - 1});
    call.constant = [&](const Value& constant, int64_t repetition) {
        return import::constant_data(*model_.weights, constant, repetition);
    };
    call.states = std::move(states_);
    GraphResult result = interpret_graph(graph_, call);
    states_ = std::move(result.states);
    cached_ += count;
    return std::move(result.outputs.at(0).values);
}

void InterpretedSession::read_source(const std::vector<int64_t>& tokens) {
    split_ = std::ssize(tokens);
    (void)step(tokens);
}

void InterpretedSession::read_features(const std::vector<double>& rows) {
    const import::SourceFeatures& form = *model_.facts.features;
    const int64_t available = std::ssize(rows) / form.width;
    for (int64_t token = 0; token < form.count; ++token)
        for (int64_t row = form.every * token + form.first, tap = 0; tap < form.taps; ++row, ++tap)
            for (int64_t i = 0; i < form.width; ++i)
                features_.values.push_back(
                    row < 0 || row >= available ? 0 : rows[static_cast<size_t>(row * form.width + i)]);
    read_source(std::vector<int64_t>(static_cast<size_t>(form.count), 0));
}

double distance_from_loops(const import::ImportedModel& model, const RandomDecoder& decoder) {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < 21; ++i) tokens.push_back((i * 5 + 3) % decoder.vocabulary);
    InterpretedSession session(model, 64);
    std::vector<double> found = session.step({tokens.begin(), tokens.begin() + 17});
    const std::vector<double> rest = session.step({tokens.begin() + 17, tokens.end()});
    found.insert(found.end(), rest.begin(), rest.end());
    return distance_of_range(found, naive_logits(decoder, tokens));
}

double distance_of_range(const std::vector<double>& found, const std::vector<double>& expected) {
    TESSERA_CHECK(found.size() == expected.size() && !found.empty(), "{} values, expected {}", found.size(),
                  expected.size());
    double worst = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        const double distance = std::abs(found[i] - expected[i]);
        worst = std::isnan(distance) ? HUGE_VAL : std::max(worst, distance);
    }
    const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
    return worst / (*high - *low);
}

}  // namespace tessera::testing
