#include "cli/rank_measurements.h"

#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "machine/processors.h"
#include "measure/rank_exchanges.h"
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

}  // namespace

std::shared_ptr<runtime::Communicator> join_or_start_ranks(int64_t ranks, int64_t workers,
                                                           const Environment& environment) {
    if (environment.is_launched_by_mpi) {
        std::shared_ptr<runtime::Communicator> joined = runtime::join_mpi();
        if (joined->ranks() != ranks)
            throw Error("mpirun", "",
                        fmt::format("has started {} ranks, expected {}", joined->ranks(), ranks),
                        fmt::format("start mpirun with -np {}", ranks));
        return joined;
    }
    const auto processors = static_cast<int64_t>(machine::worker_processors().size());
    return runtime::start_local_ranks(ranks, ranks * workers <= processors ? runtime::kRankSpins : 0);
}

bool measure_link(machine::Machine& machine, int64_t ranks, const Environment& environment) {
    const auto all = join_or_start_ranks(ranks, 1, environment);
    set_rank_link(machine,
                  measure::measure_rank_link(*all, environment.is_launched_by_mpi ? "mpi" : "memory"));
    return all->rank() == 0;
}

std::string with_measured_boxes(const std::string& account, const std::string& where,
                                const Environment& environment) {
    Json json;
    try {
        json = Json::parse(account);
        const auto ranks = json.at("levels").at(0).at("count").get<int64_t>();
        const auto all = join_or_start_ranks(ranks, 1, environment);
        std::map<measure::RankExchange, double> known;
        for (Json& group : json.at("groups"))
            for (Json& tensor : group.at("tensors"))
                for (Json& box : tensor.at("boxes")) {
                    if (!box.contains("exchange")) continue;
                    const measure::RankExchange exchange = exchange_of(box.at("exchange"));
                    const auto [at, is_new] = known.try_emplace(exchange, 0);
                    if (is_new) at->second = measure::exchange_seconds(*all, exchange);
                    box["exchange"]["measured_microseconds"] = at->second * 1e6;
                }
        if (all->rank() != 0) return "";
    } catch (const Json::exception& problem) {
        throw Error(where, "distribution", fmt::format("is damaged: {}", problem.what()),
                    "compile the model again");
    }
    return json.dump(1) + "\n";
}

}  // namespace tessera::cli
