#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nests/nest_facts.h"

namespace tessera::nests {
namespace {

using Json = nlohmann::ordered_json;

/// "2", "14/11".
std::string reduced_fraction(int64_t above, int64_t below) {
    const int64_t common = std::gcd(above, below);
    return below == common ? fmt::format("{}", above / common)
                           : fmt::format("{}/{}", above / common, below / common);
}

Json json_of(const OperatorFacts& op) {
    return {{"executions", op.executions},
            {"points", op.points},
            {"recompute", reduced_fraction(op.points, op.iterations)},
            {"flops", op.flops},
            {"special", op.special}};
}

Json json_of(const BufferCounts& buffer) {
    Json json = {{"role", name(buffer.role)}};
    if (buffer.role == BufferRole::kRead) {
        json["loads"] = buffer.loads.count;
        json["load_bytes"] = buffer.loads.bytes;
    }
    if (buffer.role == BufferRole::kWritten) {
        json["stores"] = buffer.stores.count;
        json["store_bytes"] = buffer.stores.bytes;
        json["reloads"] = buffer.reloads.count;
        json["reload_bytes"] = buffer.reloads.bytes;
    }
    json["box_bytes"] = buffer.box_bytes;
    json["depends"] = buffer.depends;
    return json;
}

/// Rows of cells, columns as wide as they need. `align` has a letter for each column: `l` left, `r` right.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view align) {
    std::vector<size_t> widths(align.size());
    for (const auto& row : rows)
        for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (size_t c = 0; c < row.size(); ++c)
            line += align[c] == 'l' ? fmt::format("{:<{}}  ", row[c], widths[c])
                                    : fmt::format("{:>{}}  ", row[c], widths[c]);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string moved(const Transfers& transfers) {
    return transfers.count == 0 ? "-" : fmt::format("{} ({} B)", transfers.count, transfers.bytes);
}

}  // namespace

Json to_json(const Verdict& verdict) {
    if (const auto* illegal = std::get_if<Illegal>(&verdict))
        return {{"illegal", name(illegal->kind)}, {"reason", illegal->reason}};
    const NestFacts& facts = std::get<NestFacts>(verdict);
    Json json = {{"units", facts.units}, {"operators", Json::object()}, {"buffers", Json::object()}};
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
    std::vector<std::vector<std::string>> rows = {
        {"operator", "executions", "points", "recompute", "flops", "special"}};
    for (const OperatorFacts& op : facts.operators)
        rows.push_back({op.name, fmt::to_string(op.executions), fmt::to_string(op.points),
                        reduced_fraction(op.points, op.iterations), fmt::to_string(op.flops),
                        fmt::to_string(op.special)});
    std::string text = table(rows, "lrrrrr") + "\n";
    rows = {{"buffer", "role", "loads", "stores", "reloads", "box", "depends on"}};
    for (const BufferCounts& buffer : facts.buffers)
        rows.push_back({buffer.name, std::string(name(buffer.role)), moved(buffer.loads),
                        moved(buffer.stores), moved(buffer.reloads), fmt::format("{} B", buffer.box_bytes),
                        buffer.depends.empty() ? "-" : fmt::format("{}", fmt::join(buffer.depends, ", "))});
    text += table(rows, "llrrrrl") + "\n";
    text += fmt::format("units      {}\nfootprint  {} B\nbytes      {}\nflops      {}\n", facts.units,
                        facts.footprint, facts.bytes, facts.flops);
    if (facts.model)
        text +=
            fmt::format("model      {:.6g} s = ({:.6g} s memory + {:.6g} s compute) x {:.6g}\n",
                        facts.model->estimate, facts.model->memory, facts.model->compute, facts.model->alpha);
    return text;
}

}  // namespace tessera::nests
