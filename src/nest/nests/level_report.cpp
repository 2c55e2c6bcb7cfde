#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nest/nests/level_facts.h"
#include "nest/nests/report_parts.h"

namespace tessera::nests {
namespace {

using Json = nlohmann::ordered_json;

const std::string& level_name(const LevelMachine& machine, int level) {
    return machine.levels[static_cast<size_t>(level)].name;
}

Json json_of(const LevelBufferCounts& buffer, const LevelMachine& machine) {
    Json json = {{"role", name(buffer.role)}};
    add_transfers(json, buffer.role, buffer.loads, buffer.stores, buffer.reloads);
    if (buffer.role != BufferRole::kKept)
        json[buffer.role == BufferRole::kRead ? "from" : "to"] = level_name(machine, buffer.other);
    json["box_bytes"] = buffer.box_bytes;
    return json;
}

}  // namespace

Json to_json(const LevelVerdict& verdict, const LevelMachine& machine) {
    if (const auto* illegal = std::get_if<Illegal>(&verdict))
        return {{"illegal", name(illegal->kind)}, {"reason", illegal->reason}};
    const LevelFacts& facts = std::get<LevelFacts>(verdict);
    Json json = {{"units", facts.units},
                 {"operators", Json::object()},
                 {"levels", Json::object()},
                 {"buffers", Json::object()}};
    for (const OperatorFacts& op : facts.operators) json["operators"][op.name] = json_of(op);
    for (size_t l = 0; l < machine.levels.size(); ++l) {
        const LevelUse& use = facts.price.levels[l];
        Json& level = json["levels"][machine.levels[l].name] = {{"held", use.held}};
        if (l == 0) continue;
        level["in"] = use.bytes_in;
        level["out"] = use.bytes_out;
        level["seconds"] = use.seconds;
    }
    for (const LevelBufferCounts& buffer : facts.buffers)
        json["buffers"][buffer.name] = json_of(buffer, machine);
    json["flops"] = facts.flops;
    json["t_mem"] = facts.price.memory;
    json["t_comp"] = facts.price.compute;
    for (const LevelCost cost : {LevelCost::kNncase, LevelCost::kOverlap, LevelCost::kSerial})
        json[std::string(name(cost))] = facts.price.cost(cost);
    json["feasible"] = facts.price.is_feasible;
    return json;
}

std::string to_text(const LevelFacts& facts, const LevelMachine& machine) {
    std::string text = operator_table(facts.operators) + "\n";
    std::vector<std::vector<std::string>> rows = {
        {"buffer", "role", "from/to", "loads", "stores", "reloads", "box"}};
    for (const LevelBufferCounts& buffer : facts.buffers)
        rows.push_back({buffer.name, std::string(name(buffer.role)),
                        buffer.role == BufferRole::kKept ? "-" : level_name(machine, buffer.other),
                        moved(buffer.loads), moved(buffer.stores), moved(buffer.reloads),
                        fmt::format("{} B", buffer.box_bytes)});
    text += table(rows, "lllrrrr") + "\n";
    rows = {{"level", "held", "capacity", "in", "out", "seconds"}};
    for (size_t l = 0; l < machine.levels.size(); ++l) {
        const MemoryLevel& level = machine.levels[l];
        const LevelUse& use = facts.price.levels[l];
        rows.push_back({level.name, fmt::format("{} B", use.held),
                        level.capacity ? fmt::format("{} B", *level.capacity) : "-",
                        l == 0 ? "-" : fmt::format("{} B", use.bytes_in),
                        l == 0 ? "-" : fmt::format("{} B", use.bytes_out),
                        l == 0 ? "-" : fmt::format("{:.6g}", use.seconds)});
    }
    text += table(rows, "lrrrrr") + "\n";
    text += fmt::format("units    {}{}\nflops    {}\ncompute  {:.6g} s\n", facts.units,
                        facts.price.is_feasible ? "" : " (the machine cannot hold or run this)", facts.flops,
                        facts.price.compute);
    for (const LevelCost cost : {LevelCost::kNncase, LevelCost::kOverlap, LevelCost::kSerial})
        text += fmt::format("{:<8} {:.6g} s\n", name(cost), facts.price.cost(cost));
    return text;
}

}  // namespace tessera::nests
