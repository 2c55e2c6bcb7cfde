#include "cli/bench_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "support/printable.h"

namespace tessera::cli {
namespace {

constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;

/// `amount` in each of the times.
Quartiles rates(const BenchCase& one, double amount) {
    std::vector<double> all;
    for (const double seconds : one.seconds) all.push_back(amount / seconds);
    return quartiles(std::move(all));
}

/// Median share of the limit that was measured just before; empty without limits.
std::string share(const BenchCase& one, double amount, double HostLimits::*limit) {
    if (one.limits.empty()) return {};
    std::vector<double> all;
    for (size_t i = 0; i < one.seconds.size(); ++i)
        all.push_back(amount / one.seconds[i] / (one.limits[i].*limit));
    return fmt::format("{:.1f} %", 100 * quartiles(std::move(all)).median);
}

/// Tokens a second; empty where nothing was predicted.
std::string prediction(const BenchCase& one) {
    if (one.predicted_seconds == 0) return {};
    if (!std::isfinite(one.predicted_seconds)) return "  not known";
    return fmt::format(" {:>10.2f}", static_cast<double>(one.tokens) / one.predicted_seconds);
}

std::string row(const BenchCase& one) {
    const auto tokens = static_cast<double>(one.tokens);
    const auto bytes = static_cast<double>(one.work.bytes());
    const auto flops = static_cast<double>(one.work.multiply_adds);
    const Quartiles speed = rates(one, tokens);
    return fmt::format("  {:<20} {:>10.2f} {:>19} {:>9.2f} {:>8.2f} {:>8} {:>12.2f} {:>9.2f} {:>8}{}\n",
                       name_of(one), speed.median, fmt::format("{:.2f} .. {:.2f}", speed.low, speed.high),
                       bytes / tokens / kMega, rates(one, bytes).median / kGiga,
                       share(one, bytes, &HostLimits::bytes_per_second), flops / tokens / kMega,
                       rates(one, flops).median / kGiga,
                       share(one, flops, &HostLimits::multiply_adds_per_second), prediction(one));
}

std::string limits_line(std::span<const BenchCase> cases, size_t model) {
    std::vector<double> bytes, flops;
    for (const BenchCase& one : cases)
        for (const HostLimits& limits : one.limits)
            if (one.model == model) {
                bytes.push_back(limits.bytes_per_second);
                flops.push_back(limits.multiply_adds_per_second);
            }
    if (bytes.empty()) return {};
    return fmt::format("  limits: {:.1f} GB/s read, {:.1f} GFLOP/s of F32 multiply-adds (medians)\n",
                       quartiles(bytes).median / kGiga, quartiles(flops).median / kGiga);
}

}  // namespace

std::string name_of(const BenchCase& one) {
    const bool is_prefill = one.kind == BenchCase::Kind::kPrefill;
    const std::string name = fmt::format("{} {}", is_prefill ? "prefill" : "decode", one.tokens);
    return one.depth == 0 ? name : fmt::format("{} @ {}", name, one.depth);
}

std::string bench_table(std::span<const BenchedModel> models, std::span<const BenchCase> cases) {
    std::string text;
    for (size_t m = 0; m < models.size(); ++m) {
        text += fmt::format("{}{}: {}\n", m == 0 ? "" : "\n", printable(models[m].file),
                            printable(models[m].description));
        const bool has_predictions = std::any_of(
            cases.begin(), cases.end(), [](const BenchCase& one) { return one.predicted_seconds != 0; });
        text += fmt::format("  {:<20} {:>10} {:>19} {:>9} {:>8} {:>8} {:>12} {:>9} {:>8}{}\n", "", "tokens/s",
                            "quartiles", "MB/token", "GB/s", "of limit", "MFLOP/token", "GFLOP/s", "of limit",
                            has_predictions ? "  predicted" : "");
        for (const BenchCase& one : cases)
            if (one.model == m && !one.seconds.empty()) text += row(one);
        text += limits_line(cases, m);
    }
    return text;
}

std::string bench_json(std::span<const BenchedModel> models, std::span<const BenchCase> cases) {
    using Json = nlohmann::ordered_json;
    Json document{{"models", Json::array()}, {"cases", Json::array()}};
    for (const BenchedModel& model : models)
        document["models"].push_back(
            {{"file", model.file}, {"description", model.description}, {"workers", model.workers}});
    for (const BenchCase& one : cases) {
        Json limits = Json::array();
        for (const HostLimits& each : one.limits)
            limits.push_back({{"bytes_per_second", each.bytes_per_second},
                              {"multiply_adds_per_second", each.multiply_adds_per_second}});
        document["cases"].push_back({{"model", one.model},
                                     {"test", one.kind == BenchCase::Kind::kPrefill ? "prefill" : "decode"},
                                     {"tokens", one.tokens},
                                     {"depth", one.depth},
                                     {"flops", one.work.flops},
                                     {"multiply_adds", one.work.multiply_adds},
                                     {"special", one.work.special},
                                     {"weight_bytes", one.work.weight_bytes},
                                     {"cache_bytes_read", one.work.cache_bytes_read},
                                     {"cache_bytes_written", one.work.cache_bytes_written},
                                     {"seconds", one.seconds},
                                     {"limits", std::move(limits)}});
        if (one.predicted_seconds != 0)
            document["cases"].back()["predicted_seconds"] = one.predicted_seconds;  // null if infinite
        for (const BenchPhase& phase : one.phases)
            document["cases"].back()["phases"].push_back(
                {{"specialisation", phase.specialisation},
                 {"block", phase.block},
                 {"kernel", phase.kernel},
                 {"runs", phase.runs},
                 {"barriers", phase.barriers},
                 {"seconds", phase.seconds},
                 {"barrier_seconds", phase.barrier_seconds},
                 {"exchange_seconds", phase.exchange_seconds},
                 {"predicted_seconds", phase.predicted_seconds},
                 {"predicted_barrier_seconds", phase.predicted_barrier_seconds},
                 {"predicted_exchange_seconds", phase.predicted_exchange_seconds}});
    }
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::cli
