#include "cli/price_report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Traffic of a nest across a level, and the bytes that it holds there.
struct LevelPart {
    std::string level;
    double bytes = 0, seconds = 0, held = 0;
};

std::vector<LevelPart> levels_of(const compiler::NestPrice& price) {
    std::vector<LevelPart> parts;
    const auto part_of = [&](const std::string& level) -> LevelPart& {
        const auto at = std::ranges::find(parts, level, &LevelPart::level);
        return at != parts.end() ? *at : parts.emplace_back(LevelPart{.level = level});
    };
    for (const compiler::HeldBuffer& buffer : price.buffers) part_of(buffer.level).held += buffer.bytes;
    for (const cost::LevelTraffic& moved : price.levels) {
        LevelPart& part = part_of(moved.level);
        part.bytes = moved.bytes;
        part.seconds = moved.seconds;
    }
    return parts;
}

std::string seconds(double value) {
    return fmt::format("{:.6g} s", value);
}

void add_words(std::string& text, const compiler::NestPrice& price) {
    text += fmt::format("  nest     {}\n", price.nest);
    if (!price.why_infinite.empty()) {
        text += fmt::format("  seconds  not known: {}\n", price.why_infinite);
        return;
    }
    text += fmt::format("  seconds  {}\n  compute  {}\n", seconds(price.seconds), seconds(price.compute));
    if (price.stalls > 0) text += fmt::format("  stalls   {}\n", seconds(price.stalls));
    for (const cost::LevelTraffic& level : price.levels)
        text += fmt::format("  {:<8} {} for {:.6g} B\n", level.level, seconds(level.seconds), level.bytes);
    for (const compiler::HeldBuffer& buffer : price.buffers)
        text += fmt::format("  held     {} in {}, {:.6g} B\n", buffer.value, buffer.level, buffer.bytes);
    if (price.barrier > 0) text += fmt::format("  barrier  {} each\n", seconds(price.barrier));
    if (price.published) text += fmt::format("  {}\n", machine::to_text(*price.published));
}

void add_parts(Json& json, const compiler::NestPrice& price) {
    json["nest"] = price.nest;
    if (!price.why_infinite.empty()) json["why_infinite"] = price.why_infinite;
    json["seconds"] = price.seconds;
    json["compute"] = price.compute;
    json["stalls"] = price.stalls;
    json["levels"] = Json::object();
    for (const LevelPart& part : levels_of(price))
        json["levels"][part.level] = {{"bytes", part.bytes}, {"seconds", part.seconds}, {"held", part.held}};
    json["buffers"] = Json::object();
    for (const compiler::HeldBuffer& buffer : price.buffers)
        json["buffers"][buffer.value] = {{"level", buffer.level}, {"bytes", buffer.bytes}};
    json["barrier"] = price.barrier;
    if (price.published) json["cost"] = machine::to_json(*price.published);
}

}  // namespace

std::string reason_of(const planner::StatedRefusal& refusal) {
    lowering::Refusal why = refusal.why;
    why.where.clear();  // the statement is in front of it
    return why.text();
}

std::string prices_in_words(const compiler::GraphPrices& prices) {
    std::string text = fmt::format("machine {}, workers {}{}\n", prices.machine, prices.workers,
                                   prices.is_measured ? "" : ": not measured, so these are roofs");
    for (const compiler::PricedNest& nest : prices.nests) {
        text +=
            fmt::format("{}{}{}\n", nest.where, nest.specialisation.empty() ? "" : ", ", nest.specialisation);
        if (const auto* refusal = std::get_if<planner::StatedRefusal>(&nest.verdict))
            text += fmt::format("  nest     {}\n  illegal  ({}) {}\n", nest.stated, name(refusal->kind),
                                reason_of(*refusal));
        else
            add_words(text, std::get<compiler::NestPrice>(nest.verdict));
    }
    return text;
}

Json prices_as_json(const compiler::GraphPrices& prices) {
    Json json = {{"machine", prices.machine},
                 {"measured", prices.is_measured},
                 {"workers", prices.workers},
                 {"nests", Json::array()}};
    for (const compiler::PricedNest& nest : prices.nests) {
        Json each = {{"where", nest.where}, {"stated", nest.stated}};
        if (!nest.specialisation.empty()) each["specialisation"] = nest.specialisation;
        if (const auto* refusal = std::get_if<planner::StatedRefusal>(&nest.verdict)) {
            each["illegal"] = name(refusal->kind);
            each["reason"] = reason_of(*refusal);
        } else {
            add_parts(each, std::get<compiler::NestPrice>(nest.verdict));
        }
        json["nests"].push_back(std::move(each));
    }
    return json;
}

}  // namespace tessera::cli
