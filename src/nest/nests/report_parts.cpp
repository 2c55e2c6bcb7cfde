#include "nest/nests/report_parts.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tessera::nests {
namespace {

using Json = nlohmann::ordered_json;

/// "2", "14/11".
std::string reduced_fraction(int64_t above, int64_t below) {
    const int64_t common = std::gcd(above, below);
    return below == common ? fmt::format("{}", above / common)
                           : fmt::format("{}/{}", above / common, below / common);
}

}  // namespace

Json json_of(const OperatorFacts& op) {
    return {{"executions", op.executions},
            {"points", op.points},
            {"recompute", reduced_fraction(op.points, op.iterations)},
            {"flops", op.flops},
            {"special", op.special}};
}

void add_transfers(Json& json, BufferRole role, const Transfers& loads, const Transfers& stores,
                   const Transfers& reloads) {
    if (role == BufferRole::kRead) {
        json["loads"] = loads.count;
        json["load_bytes"] = loads.bytes;
    }
    if (role == BufferRole::kWritten) {
        json["stores"] = stores.count;
        json["store_bytes"] = stores.bytes;
        json["reloads"] = reloads.count;
        json["reload_bytes"] = reloads.bytes;
    }
}

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

std::string operator_table(const std::vector<OperatorFacts>& operators) {
    std::vector<std::vector<std::string>> rows = {
        {"operator", "executions", "points", "recompute", "flops", "special"}};
    for (const OperatorFacts& op : operators)
        rows.push_back({op.name, fmt::to_string(op.executions), fmt::to_string(op.points),
                        reduced_fraction(op.points, op.iterations), fmt::to_string(op.flops),
                        fmt::to_string(op.special)});
    return table(rows, "lrrrrr");
}

std::string moved(const Transfers& transfers) {
    return transfers.count == 0 ? "-" : fmt::format("{} ({} B)", transfers.count, transfers.bytes);
}

}  // namespace tessera::nests
