#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nest/nests/nest_facts.h"
#include "nest/nests/report_parts.h"

namespace tessera::nests {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const BufferCounts& buffer) {
    Json json = {{"role", name(buffer.role)}};
    add_transfers(json, buffer.role, buffer.loads, buffer.stores, buffer.reloads);
    json["box_bytes"] = buffer.box_bytes;
    json["depends"] = buffer.depends;
    return json;
}

}  // namespace

Json to_json(const Verdict& verdict) {
    if (const auto* illegal = std::get_if<Illegal>(&verdict))
        return {{"illegal", name(illegal->kind)}, {"reason", illegal->reason}};
    const NestFacts& facts = std::get<NestFacts>(verdict);
    Json json = {{"units", facts.units}};
    if (!facts.operators.empty()) json["operators"] = json["buffers"] = Json::object();
    for (const OperatorFacts& op : facts.operators) json["operators"][op.name] = json_of(op);
    for (const BufferCounts& buffer : facts.buffers) json["buffers"][buffer.name] = json_of(buffer);
    json["footprint"] = facts.footprint;
    json["bytes"] = facts.bytes;
    json["flops"] = facts.flops;
    if (facts.model) {
        json["t_mem"] = facts.model->memory;
        json["t_comp"] = facts.model->compute;
        json["alpha"] = facts.model->alpha;
        json["estimate"] = facts.model->estimate;
    }
    return json;
}

std::string to_text(const NestFacts& facts) {
    std::string text = facts.operators.empty() ? "" : operator_table(facts.operators) + "\n";
    std::vector<std::vector<std::string>> rows = {
        {"buffer", "role", "loads", "stores", "reloads", "box", "depends on"}};
    for (const BufferCounts& buffer : facts.buffers)
        rows.push_back({buffer.name, std::string(name(buffer.role)), moved(buffer.loads),
                        moved(buffer.stores), moved(buffer.reloads), fmt::format("{} B", buffer.box_bytes),
                        buffer.depends.empty() ? "-" : fmt::format("{}", fmt::join(buffer.depends, ", "))});
    if (!facts.operators.empty()) text += table(rows, "llrrrrl") + "\n";
    text += fmt::format("units      {}\nfootprint  {} B\nbytes      {}\nflops      {}\n", facts.units,
                        facts.footprint, facts.bytes, facts.flops);
    if (facts.model)
        text +=
            fmt::format("model      {:.6g} s = ({:.6g} s memory + {:.6g} s compute) x {:.6g}\n",
                        facts.model->estimate, facts.model->memory, facts.model->compute, facts.model->alpha);
    return text;
}

}  // namespace tessera::nests
