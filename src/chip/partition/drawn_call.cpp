#include "chip/partition/drawn_call.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "chip/partition/elements.h"
#include "chip/partition/workload.h"

namespace tessera::partition {
namespace {

double allowed_distance(ElementType type) {
    if (type == ElementType::kF16) return 2e-3;
    if (type == ElementType::kBF16) return 2e-2;
    return is_integer(type) ? 2e-2 : 1e-4;
}

/// By 53 random bits, the same with every library.
double drawn_number(ElementType type, std::mt19937_64& random) {
    if (type == ElementType::kI32) return static_cast<double>(random() % 2);
    if (is_integer(type)) {
        const IntegerRange values = range(type);
        return static_cast<double>(
            values.low +
            static_cast<int64_t>(random() % static_cast<uint64_t>(values.high - values.low + 1)));
    }
    return round_to(type, std::ldexp(static_cast<double>(random() >> 11), -52) - 1);
}

}  // namespace

GraphCall drawn_call(const Graph& graph, std::map<std::string, int64_t> symbols, uint64_t seed,
                     const std::string& where) {
    GraphCall call{.symbols = complete_symbols(graph, std::move(symbols), where)};
    const auto draw = [seed, known = call.symbols, &graph](const Value& value, int64_t repetition) {
        const auto number = static_cast<uint64_t>(graph.find(value.name)->index);
        std::seed_seq sequence{seed, number, static_cast<uint64_t>(repetition)};
        std::mt19937_64 random(sequence);
        TensorData data{evaluate(value.type.shape, known), {}};
        for (int64_t i = element_count(data.shape); i > 0; --i)
            data.values.push_back(drawn_number(value.type.element, random));
        return data;
    };
    for (const Value& value : graph.values)
        if (value.kind == ValueKind::kInput) call.inputs.emplace(value.name, draw(value, 0));
    call.states = zero_states(graph, call.symbols);
    for (auto& [name, contents] : call.states)
        for (size_t r = 0; r < contents.size(); ++r)
            contents[r] = draw(graph[*graph.find(name)], static_cast<int64_t>(r));
    call.constant = draw;
    return call;
}

double distance_of(const std::vector<double>& found, const std::vector<double>& expected) {
    double worst = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        if (found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) continue;
        const double distance = std::fabs(found[i] - expected[i]);
        if (!std::isfinite(distance)) return HUGE_VAL;
        worst = std::max(worst, distance);
    }
    if (worst == 0) return 0;
    const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
    return worst / (*high > *low ? *high - *low : std::max(std::fabs(*low), worst));
}

std::vector<Distance> distances_of(const Graph& graph, const GraphResult& found,
                                   const GraphResult& expected) {
    std::vector<Distance> distances;
    const auto add = [&](const Value& value, double distance) {
        distances.push_back({value.name, distance, allowed_distance(value.type.element)});
    };
    for (size_t o = 0; o < expected.outputs.size(); ++o)
        add(graph[graph.outputs[o]], distance_of(found.outputs.at(o).values, expected.outputs[o].values));
    for (const auto& [name, contents] : expected.states) {
        double worst = 0;
        for (size_t r = 0; r < contents.size(); ++r)
            worst = std::max(worst, distance_of(found.states.at(name).at(r).values, contents[r].values));
        add(graph[*graph.find(name)], worst);
    }
    return distances;
}

}  // namespace tessera::partition
