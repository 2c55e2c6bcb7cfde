#include "cli/rank_measurements.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "compiler/measure/rank_exchanges.h"
#include "run/runtime/rank_group.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

measure::RankExchange exchange_of(const Json& json) {
    measure::RankExchange exchange{.call = json.at("call"), .starts = {}};
    if (exchange.call == "place") {
        exchange.rows = json.at("rows");
        exchange.starts = json.at("starts").get<std::vector<int64_t>>();
    } else {
        exchange.part_bytes = json.at("part_bytes");
    }
    return exchange;
}

/// Calls the function as every rank: as threads of this process, or as that of mpirun which this one is.
/// @return whether this process has the first rank, which alone has results
bool on_ranks(int64_t ranks, const Environment& environment,
              const std::function<void(runtime::Communicator&)>& work) {
    if (!environment.is_launched_by_mpi) {
        runtime::on_local_ranks(ranks, work);
        return true;
    }
    const std::shared_ptr<runtime::Communicator> joined = runtime::join_mpi();
    if (joined->ranks() != ranks)
        throw Error("mpirun", "", fmt::format("has started {} ranks, expected {}", joined->ranks(), ranks),
                    fmt::format("start mpirun with -np {}", ranks));
    work(*joined);
    return joined->rank() == 0;
}

/// The boxes of an account that exchange something.
std::vector<Json*> exchanging_boxes(Json& account) {
    std::vector<Json*> boxes;
    for (Json& group : account.at("groups"))
        for (Json& tensor : group.at("tensors"))
            for (Json& box : tensor.at("boxes"))
                if (box.contains("exchange")) boxes.push_back(&box.at("exchange"));
    return boxes;
}

}  // namespace

bool measure_link(machine::Machine& machine, int64_t ranks, const Environment& environment) {
    return on_ranks(ranks, environment, [&](runtime::Communicator& rank) {
        const machine::RankLink link =
            measure::measure_rank_link(rank, environment.is_launched_by_mpi ? "mpi" : "memory");
        if (rank.rank() == 0) set_rank_link(machine, link);
    });
}

std::string with_measured_boxes(const std::string& account, const std::string& where,
                                const Environment& environment) {
    Json json;
    std::map<measure::RankExchange, double> seconds;
    try {
        json = Json::parse(account);
        const auto ranks = json.at("levels").at(0).at("count").get<int64_t>();
        for (const Json* box : exchanging_boxes(json)) seconds[exchange_of(*box)] = 0;
        const bool is_first = on_ranks(ranks, environment, [&](runtime::Communicator& rank) {
            for (auto& [exchange, of_exchange] : seconds) {
                const double measured = measure::exchange_seconds(rank, exchange);
                if (rank.rank() == 0) of_exchange = measured;
            }
        });
        if (!is_first) return "";
        for (Json* box : exchanging_boxes(json))
            (*box)["measured_microseconds"] = seconds.at(exchange_of(*box)) * 1e6;
    } catch (const Json::exception& problem) {
        throw Error(where, "distribution", fmt::format("is damaged: {}", problem.what()),
                    "compile the model again");
    }
    return json.dump(1) + "\n";
}

}  // namespace tessera::cli
