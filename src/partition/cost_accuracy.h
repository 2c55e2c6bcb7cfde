#pragma once

#include <string>
#include <vector>

#include "partition/chip_tables.h"
#include "plot/chart.h"

/// How well the costs of the tables predict what the simulator measures (paper 003, figure 12).
namespace tessera::partition {

/// Cycles of one operator in one of its rows, alone on the chip.
struct MeasuredRow {
    std::string name;
    double execute = 0, simulated_execute = 0;
    double preload = 0, simulated_preload = 0;  ///< 0: it needs none
};

/// Of predictions against measurements.
struct Agreement {
    double median_error = 0;  ///< |predicted - measured| / measured; 0 of nothing
    double correlation = 0;   ///< Pearson's; 1 where all are equal
};

Agreement agreement(const std::vector<double>& predicted, const std::vector<double>& measured);

/// Every distinct operator in the rows that the schedule takes, each in the simulator by itself.
std::vector<MeasuredRow> measure_rows(const ChipTables& tables, const chip::Schedule& schedule,
                                      const chip::ChipDescription& chip);

Agreement execute_agreement(const std::vector<MeasuredRow>& rows);
Agreement preload_agreement(const std::vector<MeasuredRow>& rows);  ///< of those that have a preload

/// Predicted over measured, executes and preloads beside each other.
std::vector<plot::Chart> accuracy_charts(const std::vector<MeasuredRow>& rows);

}  // namespace tessera::partition
