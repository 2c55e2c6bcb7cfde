#include "machine/published_models.h"

#include <algorithm>
#include <array>

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

std::vector<std::string_view> published_models() {
    std::vector<std::string_view> names;
    for (const PublishedModel model : kModels) names.push_back(name(model));
    return names;
}

double nncase_seconds(double memory, double compute) {
    return std::max(memory, compute);
}

McfuserTimes mcfuser_times(int64_t bytes, int64_t flops, int64_t blocks, const PeakRates& machine) {
    McfuserTimes times;
    times.memory = static_cast<double>(bytes) / machine.bytes_per_second;
    times.compute = static_cast<double>(flops) / machine.operations_per_second;
    times.alpha =
        (static_cast<double>(blocks) + static_cast<double>(machine.units)) / static_cast<double>(blocks);
    times.estimate = (times.memory + times.compute) * times.alpha;
    return times;
}

double roofline_seconds(double operations, double bytes, double operations_per_second,
                        double bytes_per_second) {
    return std::max(operations / operations_per_second, bytes / bytes_per_second);
}

}  // namespace tessera::machine
