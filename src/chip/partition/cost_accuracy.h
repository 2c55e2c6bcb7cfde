#pragma once

#include <string>
#include <vector>

#include "chip/partition/chip_tables.h"
#include "support/plot/chart.h"

/// Measures how well the costs of the tables predict the simulator's cycles (paper 003, figure 12).
namespace tessera::partition {

/// Cycles of one operator in one of its rows, alone on the chip.
struct MeasuredRow {
    std::string name;
    double execute = 0, simulated_execute = 0;
    double preload = 0, simulated_preload = 0;  ///< 0: it needs none
};

/// The agreement of predictions with measurements.
struct Agreement {
    double median_error = 0;  ///< |predicted - measured| / measured; 0 of nothing
    double correlation = 0;   ///< Pearson's; 1 where all are equal
};

Agreement agreement(const std::vector<double>& predicted, const std::vector<double>& measured);

/// Measures every distinct operator in the rows that the schedule takes, each by itself in the simulator.
std::vector<MeasuredRow> measure_rows(const ChipTables& tables, const chip::Schedule& schedule,
                                      const chip::ChipDescription& chip);

Agreement execute_agreement(const std::vector<MeasuredRow>& rows);
Agreement preload_agreement(const std::vector<MeasuredRow>& rows);  ///< of those that have a preload

/// Charts of predicted over measured, executes and preloads beside each other.
std::vector<plot::Chart> accuracy_charts(const std::vector<MeasuredRow>& rows);

}  // namespace tessera::partition
