#include "distribution/spmd/model_report.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "distribution/report.h"
#include "distribution/spmd/box_exchange.h"
#include "support/error.h"

namespace tessera::spmd {
namespace {

using Json = nlohmann::ordered_json;

Json levels_json(const Cluster& cluster) {
    Json levels = Json::array();
    for (size_t i = 0; i < cluster.levels.size(); ++i) {
        const distribution::Level& level = cluster.placement.levels[i];
        levels.push_back({{"name", cluster.levels[i]},
                          {"count", level.count},
                          {"latency_seconds", level.latency},
                          {"bytes_per_second", 1 / level.seconds_per_byte},
                          {"shares_memory", level.shares_memory}});
    }
    return levels;
}

Json form_json(const distribution::Form& form) {
    Json entries = Json::array();
    for (const facts::Sbp& entry : form) entries.push_back(facts::text(entry));
    return entries;
}

Json exchange_json(const BoxExchange& exchange) {
    Json json = {{"call", exchange.call}};
    if (exchange.call == "place") {
        json["rows"] = exchange.rows;
        json["starts"] = exchange.starts;
    } else {
        json["part_bytes"] = exchange.part_bytes;
    }
    json["microseconds"] = exchange.seconds * 1e6;
    return json;
}

Json tensor_json(const ModelDistribution& found, size_t v) {
    const distribution::Problem& problem = found.model.problem;
    const distribution::Value& value = problem.values[v];
    const distribution::ValuePlan& plan = found.found.plan.values[v];
    const ValuePlace& place = found.model.places[v];
    const int64_t repeat = found.model.blocks[static_cast<size_t>(place.home)].second;
    const auto bytes = [&](const distribution::Form& form) {
        return problem.bytes(problem.units(value, form));
    };
    Json tensor = {{"name", value.name},
                   {"kind", name(place.kind)},
                   {"form", form_json(plan.made)},
                   {"bytes", bytes(plan.made)}};
    tensor["boxes"] = Json::array();
    for (const distribution::Box& box : plan.boxes) {
        Json each = {{"from", form_json(box.from)},
                     {"to", form_json(box.to)},
                     {"level", box.level},
                     {"bytes", bytes(box.to)},
                     {"collective", distribution::name(box.collective)},
                     {"algorithm", box.algorithm},
                     {"microseconds", box.seconds / static_cast<double>(repeat) * 1e6}};
        if (problem.collectives == distribution::CollectiveModel::kGathered)
            if (const auto exchange = box_exchange(problem, value, box))
                each["exchange"] = exchange_json(*exchange);
        tensor["boxes"].push_back(std::move(each));
    }
    return tensor;
}

Json groups_json(const ModelDistribution& found) {
    Json groups = Json::array();
    for (size_t b = 0; b < found.model.blocks.size(); ++b) {
        const auto& [name, repeat] = found.model.blocks[b];
        Json group = {{"name", name}, {"repeat", repeat}, {"tensors", Json::array()}};
        for (size_t v = 0; v < found.model.places.size(); ++v)
            if (found.model.places[v].home == static_cast<int>(b))
                group["tensors"].push_back(tensor_json(found, v));
        groups.push_back(std::move(group));
    }
    return groups;
}

Json held_json(const ModelDistribution& found) {
    const distribution::Problem& problem = found.model.problem;
    std::map<ValueKind, double> held;
    for (size_t v = 0; v < problem.values.size(); ++v)
        held[found.model.places[v].kind] +=
            problem.bytes(distribution::units_of(problem, problem.values[v], found.found.plan.values[v]));
    Json json = {{"weights", held[ValueKind::kConstant]},
                 {"states", held[ValueKind::kState]},
                 {"activations", held[ValueKind::kIntermediate] + held[ValueKind::kInput]},
                 {"limit", nullptr}};
    if (problem.memory) json["limit"] = *problem.memory;
    return json;
}

std::string entries_text(const Json& form) {
    std::string text;
    for (const Json& entry : form) text += (text.empty() ? "" : ", ") + entry.get<std::string>();
    return "[" + text + "]";
}

/// The exchange's time for one decoded token.
std::string exchange_text(const Json& box) {
    if (!box.contains("exchange")) return "";
    const Json& exchange = box.at("exchange");
    std::string text = fmt::format("; of one token {:.3g} us", exchange.at("microseconds").get<double>());
    if (exchange.contains("measured_microseconds"))
        text += fmt::format(", measured {:.3g} us", exchange.at("measured_microseconds").get<double>());
    return text;
}

std::string groups_of(const Json& json) {
    std::string out = fmt::format("devices  {}\n", json.at("devices").get<std::string>());
    for (const Json& group : json.at("groups")) {
        out += fmt::format("\n{}, {} times\n", group.at("name").get<std::string>(),
                           group.at("repeat").get<int64_t>());
        for (const Json& tensor : group.at("tensors")) {
            out += fmt::format("  {:<40} {:<9} {:<24} {:>14.0f} bytes\n",
                               tensor.at("name").get<std::string>(), tensor.at("kind").get<std::string>(),
                               entries_text(tensor.at("form")), tensor.at("bytes").get<double>());
            for (const Json& box : tensor.at("boxes"))
                out += fmt::format("    {} -> {}: {}{}{}, {:.0f} bytes, {:.4g} us{}\n",
                                   entries_text(box.at("from")), entries_text(box.at("to")),
                                   box.at("collective").get<std::string>(),
                                   box.at("algorithm").get<std::string>().empty() ? "" : " by ",
                                   box.at("algorithm").get<std::string>(), box.at("bytes").get<double>(),
                                   box.at("microseconds").get<double>(), exchange_text(box));
        }
    }
    const Json& held = json.at("held");
    double all = 0;
    out += "\nmemory of a device\n";
    for (const char* kind : {"weights", "states", "activations"}) {
        out += fmt::format("  {:<12} {:>16.0f} bytes\n", kind, held.at(kind).get<double>());
        all += held.at(kind).get<double>();
    }
    return out + fmt::format("  {:<12} {:>16.0f} bytes of {}\n", "all", all,
                             held.at("limit").is_null() ? "unlimited"
                                                        : fmt::to_string(held.at("limit").get<int64_t>()));
}

}  // namespace

std::string text(const ModelReport& report) {
    std::string out =
        fmt::format("devices         {}: {}\n", report.cluster.name, shape_text(report.cluster));
    out += fmt::format("carried         {}\n", distribution::text(report.found.carried));
    if (report.by_hand)
        out += report.by_hand->found.has_plan()
                   ? fmt::format("by hand         {:.6g} s, {:.4g} times as long\n",
                                 report.by_hand->found.plan.seconds,
                                 report.by_hand->found.plan.seconds / report.found.found.plan.seconds)
                   : fmt::format("by hand         {}\n", tessera::name(report.by_hand->found.status));
    return out + distribution::report(report.found.model.problem, report.found.found);
}

std::string json_text(const ModelReport& report) {
    Json json = {{"devices", report.cluster.name}, {"levels", levels_json(report.cluster)}};
    json["carried"] = Json::array();
    for (const facts::Sbp& entry : report.found.carried) json["carried"].push_back(facts::text(entry));
    if (report.by_hand) {
        json["by_hand"] = Json{{"status", tessera::name(report.by_hand->found.status)}};
        if (report.by_hand->found.has_plan()) json["by_hand"]["cost"] = report.by_hand->found.plan.seconds;
    }
    json.update(Json::parse(distribution::json_text(report.found.model.problem, report.found.found)));
    if (report.found.found.has_plan()) {
        json["groups"] = groups_json(report.found);
        json["held"] = held_json(report.found);
    }
    return json.dump(1) + "\n";
}

std::string groups_text(std::string_view json, const std::string& where) {
    try {
        return groups_of(Json::parse(json));
    } catch (const Json::exception& problem) {
        throw Error(where, "distribution", fmt::format("is damaged: {}", problem.what()),
                    "compile the model again");
    }
}

}  // namespace tessera::spmd
