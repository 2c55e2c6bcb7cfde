#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

/// Published models of the time of a kernel, for comparison with what the planner counts (cost/evaluate.h).
/// Each is a formula over totals that follow from a nest; the machine enters by two or three rates.
namespace tessera::machine {

enum class PublishedModel : uint8_t {
    kNncase,    ///< paper 000, eq. 15 and 16
    kMcfuser,   ///< paper 002, eq. 2 to 5
    kRoofline,  ///< Williams, Waterman and Patterson, "Roofline", 2009
};

std::string_view name(PublishedModel model);  ///< "nncase", "mcfuser", "roofline"
/// Empty for another name.
std::optional<PublishedModel> find_published_model(std::string_view name);
std::vector<std::string> published_model_names();

/// The rates of a machine that published models ask for.
struct PeakRates {
    double bytes_per_second = 0;       ///< of the main memory, all units together
    double operations_per_second = 0;  ///< of all units together
    int64_t units = 1;                 ///< that run at the same time
    bool operator==(const PeakRates&) const = default;
};

/// The larger of all traffic and all computing: max(T_mem, T_comp), eq. 16 of paper 000.
/// @param memory T_mem: the sum over the levels l of (Reads_l + Writes_l) / BW_l
/// @param compute T_comp, eq. 15: the sum over operators of the time of one call of the micro-kernel by the
/// number of its calls
double nncase_seconds(double memory, double compute);

/// (t_mem + t_comp) alpha, eq. 2 of paper 002.
struct McfuserTimes {
    double memory = 0;    ///< t_mem, eq. 3: the bytes that all blocks load and store, by the bandwidth
    double compute = 0;   ///< t_comp, eq. 4: the flops of all blocks, by the peak; special functions are free
    double alpha = 0;     ///< eq. 5: (N_block + N_SM) / N_block
    double estimate = 0;  ///< seconds
    bool operator==(const McfuserTimes&) const = default;
};
/// @param blocks N_block: parts of the nest that run independently of each other. @pre at least 1
McfuserTimes mcfuser_times(double bytes, double flops, double blocks, const PeakRates& machine);
/// The same for exact counts.
inline McfuserTimes mcfuser_times(int64_t bytes, int64_t flops, int64_t blocks, const PeakRates& machine) {
    return mcfuser_times(static_cast<double>(bytes), static_cast<double>(flops), static_cast<double>(blocks),
                         machine);
}

/// The larger of the operations by the peak and of the bytes by the bandwidth, no byte being moved twice.
double roofline_seconds(double operations, double bytes, const PeakRates& machine);

/// A nest priced by one of them.
struct PublishedPrice {
    PublishedModel model = PublishedModel::kMcfuser;
    double seconds = 0;
    double memory = 0;   ///< seconds
    double compute = 0;  ///< seconds
    double alpha = 1;    ///< of MCFuser
    bool operator==(const PublishedPrice&) const = default;
};

nlohmann::ordered_json to_json(const PublishedPrice& price);
/// "mcfuser  3.3e-06 s = (6.1e-07 s memory + 1.0e-06 s compute) x 2"
std::string to_text(const PublishedPrice& price);

}  // namespace tessera::machine
