#include "import/rope_bases.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::import {
namespace {

double checked_base(const RopeText& text, const RopeConfig& rope, double base) {
    const double lowest = rope.scaling == RopeConfig::Scaling::kYarn ? 1 : 1e-3;
    if (!(base > lowest && base <= 1e15))
        throw Error(text.where, text.name,
                    fmt::format("has the base {}, expected a number above {}", base, lowest));
    return base;
}

void set_bases_of_layers(ModelConfig& config, const RopeText& text) {
    const ModelRope stated = config.ropes.at(text.name);
    std::vector<double> bases;
    std::vector<std::string>& names = config.ropes_of_layers[text.name];
    for (int64_t layer = 0; layer < config.layers; ++layer) {
        const double base = number_of(evaluate(text.base, config.scope(layer), text.where), text.where);
        names.push_back(text.name);
        if (base == 0) continue;
        const auto found = std::ranges::find(bases, base);
        const auto number = found - bases.begin();
        if (found == bases.end()) bases.push_back(base);
        if (number > 0) names.back() = fmt::format("{}_base_{}", text.name, number + 1);
        ModelRope& own = config.ropes[names.back()];
        own = stated;
        own.config.base = checked_base(text, own.config, base);
    }
}

}  // namespace

void set_rope_bases(ModelConfig& config) {
    for (const RopeText& text : config.architecture->ropes) {
        if (text.first)
            config.ropes.at(text.name).config.first =
                integer_of(evaluate(text.first, config.scope(), text.where), text.where);
        if (!text.base) continue;
        if (!has_value(text.base, config.scope())) {
            set_bases_of_layers(config, text);
            continue;
        }
        RopeConfig& own = config.ropes.at(text.name).config;
        own.base =
            checked_base(text, own, number_of(evaluate(text.base, config.scope(), text.where), text.where));
    }
}

std::vector<std::string> rope_names(const ModelConfig& config) {
    std::vector<std::string> all;
    for (const RopeText& text : config.architecture->ropes) all.push_back(text.name);
    for (const auto& [name, names] : config.ropes_of_layers)
        for (const std::string& own : names)
            if (std::ranges::find(all, own) == all.end()) all.push_back(own);
    return all;
}

}  // namespace tessera::import
