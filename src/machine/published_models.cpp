#include "machine/published_models.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tessera::machine {
namespace {

constexpr std::array kModels = {PublishedModel::kNncase, PublishedModel::kMcfuser, PublishedModel::kRoofline};

}  // namespace

std::string_view name(PublishedModel model) {
    switch (model) {
        case PublishedModel::kNncase:
            return "nncase";
        case PublishedModel::kMcfuser:
            return "mcfuser";
        case PublishedModel::kRoofline:
            break;
    }
    return "roofline";
}

std::optional<PublishedModel> find_published_model(std::string_view wanted) {
    for (const PublishedModel model : kModels)
        if (name(model) == wanted) return model;
    return std::nullopt;
}

std::vector<std::string> published_model_names() {
    std::vector<std::string> names;
    for (const PublishedModel model : kModels) names.emplace_back(name(model));
    return names;
}

double nncase_seconds(double memory, double compute) {
    return std::max(memory, compute);
}

McfuserTimes mcfuser_times(double bytes, double flops, double blocks, const PeakRates& machine) {
    McfuserTimes times;
    times.memory = bytes / machine.bytes_per_second;
    times.compute = flops / machine.operations_per_second;
    times.alpha = (blocks + static_cast<double>(machine.units)) / blocks;
    times.estimate = (times.memory + times.compute) * times.alpha;
    return times;
}

double roofline_seconds(double operations, double bytes, const PeakRates& machine) {
    return std::max(operations / machine.operations_per_second, bytes / machine.bytes_per_second);
}

nlohmann::ordered_json to_json(const PublishedPrice& price) {
    nlohmann::ordered_json json = {{"model", name(price.model)},
                                   {"seconds", price.seconds},
                                   {"memory", price.memory},
                                   {"compute", price.compute}};
    if (price.model == PublishedModel::kMcfuser) json["alpha"] = price.alpha;
    return json;
}

std::string to_text(const PublishedPrice& price) {
    const std::string total = fmt::format("{:<8} {:.6g} s = ", name(price.model), price.seconds);
    if (price.model == PublishedModel::kMcfuser)
        return total + fmt::format("({:.6g} s memory + {:.6g} s compute) x {:.6g}", price.memory,
                                   price.compute, price.alpha);
    return total +
           fmt::format("the larger of {:.6g} s memory and {:.6g} s compute", price.memory, price.compute);
}

}  // namespace tessera::machine
