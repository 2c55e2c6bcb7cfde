#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "chip/partition/device_plan.h"

namespace tessera::partition {
namespace {

nlohmann::ordered_json transfer_json(const chip::Transfer& transfer, chip::TransferKind kind) {
    using chip::TransferKind;
    nlohmann::ordered_json json;
    if (kind == TransferKind::kShift || kind == TransferKind::kReduce) json["step"] = transfer.step;
    if (kind != TransferKind::kPreload) json["from"] = transfer.from;
    if (kind == TransferKind::kStore)
        json["to"] = {fmt::format("h{}", transfer.to.front())};
    else
        json["to"] = transfer.to;
    json["bytes"] = transfer.bytes;
    return json;
}

}  // namespace

std::string device_program_json(const chip::DeviceProgram& program, const chip::Chip& chip) {
    return device_program_json(program, chip, {});
}

std::string device_program_json(const chip::DeviceProgram& program, const chip::Chip& chip,
                                const std::vector<nlohmann::ordered_json>& plans) {
    nlohmann::ordered_json operators = nlohmann::ordered_json::array(), entries = operators;
    for (size_t i = 0; i < program.size(); ++i) {
        const chip::ProgramOperator& op = program.at(i);
        nlohmann::ordered_json json = {{"name", op.name}};
        if (!plans.empty()) json["plan"] = plans[i];
        for (const chip::TransferKind kind : chip::kTransferKinds)
            for (const chip::Transfer& transfer : op.of(kind))
                json[name(kind)].push_back(transfer_json(transfer, kind));
        for (const chip::Tile& tile : op.tiles)
            json["compute"].push_back({{"step", tile.step},
                                       {"core", tile.core},
                                       {"unit", chip.units[tile.unit].name},
                                       {"flops", tile.flops}});
        json["preload_bytes"] = op.preload_bytes;
        json["execute_bytes"] = op.execute_bytes;
        operators.push_back(std::move(json));
    }
    for (const chip::ProgramEntry& entry : program.entries)
        entries.push_back({entry.is_execute ? "execute" : "preload", entry.op});
    return nlohmann::ordered_json{
               {"name", program.name}, {"operators", std::move(operators)}, {"program", std::move(entries)}}
               .dump() +
           "\n";
}

}  // namespace tessera::partition
