#include "import/model_spec.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::import {
namespace {

constexpr std::string_view kWeight = "_weight";

/// Equal for layers of one kind.
std::string kind_of(const SpecPart& layer) {
    std::string kind;
    for (const PartStep& step : layer.steps) {
        kind += fmt::format("{}[{}|{}]={};", fmt::join(step.names, ","), fmt::join(step.indices, ","),
                            fmt::join(step.extents, ","), print(step.term));
        for (const PartLine& line : step.lines)
            kind += fmt::format("{}[{}:{}]{};", line.name, fmt::join(line.indices, ","),
                                fmt::join(line.extents, ","), line.is_carried);
    }
    for (const auto& [name, tensor] : layer.tensors)
        kind += fmt::format("{}:{}:{};", name, fmt::join(tensor.shape, ","), static_cast<int>(tensor.format));
    return kind;
}

const PartStep* find_step(const SpecPart& part, const std::string& name) {
    for (const PartStep& step : part.steps)
        if (std::ranges::find(step.names, name) != step.names.end()) return &step;
    return nullptr;
}

/// Adds the formats of the matrices behind a value, as far as the first ones.
void add_makers(const SpecPart& layer, const std::string& value, std::set<std::string>& seen,
                std::vector<ops::WeightFormat>& makers) {
    const PartStep* step = find_step(layer, value);
    if (!step || !seen.insert(value).second) return;
    if (step->is_call("linear")) {
        makers.push_back(layer.tensors.at(step->term->arguments[1]->name).format);
        return;
    }
    walk(step->term, [&](const Term& each) {
        const bool is_read = each.kind == Term::Kind::kName || each.kind == Term::Kind::kElement;
        if (is_read) add_makers(layer, each.name, seen, makers);
    });
}

}  // namespace

bool ModelSpec::is_tied() const {
    return std::ranges::any_of(head.tensors, [](const auto& each) { return !each.second.tied.empty(); });
}

std::string bias_of(const std::string& tensor) {
    return tensor.ends_with(kWeight) ? tensor.substr(0, tensor.size() - kWeight.size()) + "_bias_weight"
                                     : tensor + "_bias";
}

std::vector<LayerGroup> group_layers(const ModelSpec& spec) {
    std::vector<std::string> kinds;
    std::vector<int> numbers;
    for (const SpecPart& layer : spec.layers) {
        const std::string kind = kind_of(layer);
        const auto found = std::ranges::find(kinds, kind);
        numbers.push_back(static_cast<int>(found - kinds.begin()));
        if (found == kinds.end()) kinds.push_back(kind);
    }
    return repeating_groups(numbers);
}

std::vector<ops::WeightFormat> cache_makers(const ModelSpec& spec) {
    std::vector<ops::WeightFormat> makers;
    for (const SpecPart& layer : spec.layers)
        for (const PartStep& step : layer.steps) {
            std::set<std::string> seen;
            if (step.is_call("cache")) add_makers(layer, step.name(), seen, makers);
        }
    if (makers.empty()) makers.push_back(ops::WeightFormat::kF32);
    return makers;
}

std::string rope_source(const std::string& rope, bool is_cosine) {
    return fmt::format("{}.{}", rope, is_cosine ? "cos" : "sin");
}

}  // namespace tessera::import
