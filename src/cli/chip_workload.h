#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chip/partition/chip_tables.h"
#include "chip/plan_schedule.h"
#include "chip/read_chip_toml.h"
#include "search/rules/compose_maps.h"
#include "support/progress.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// Arguments of all parts of `tessera chip` that plan a workload: the workload, the chip, the search.
struct ChipWorkloadArguments {
    std::string model;
    std::string chip;
    std::optional<int64_t> batch, sequence;
    std::optional<std::string> phase;
    std::vector<std::string> symbols;  ///< of a graph
    std::vector<std::string> dims;     ///< of an ONNX model
    bool fuses = false;
    int64_t work = 80'000'000;  ///< some five seconds on a core of 2020
    uint64_t seed = 0;
};

void add_chip_workload(CLI::App& app, ChipWorkloadArguments& arguments);

struct ChipWorkload {
    chip::ChipDescription chip;
    partition::Workload workload;
    partition::ChipTables tables;
    rules::FusedMaps fusion;  ///< where operators are fused: what became one, and what stays apart
};

/// Reads both, and makes the tables. Remarks go to stderr.
ChipWorkload read_chip_workload(const ChipWorkloadArguments& arguments, Progress& progress,
                                partition::RowChoice choice = partition::RowChoice::kTime);

/// The search of the project, or only its bounds.
chip::PlanResult search_chip_workload(const ChipWorkload& workload, const ChipWorkloadArguments& arguments,
                                      bool searches, const std::function<bool()>& must_stop);

}  // namespace tessera::cli
