#pragma once

#include <map>
#include <string>
#include <vector>

#include "chip/trace_checker.h"

namespace tessera::chip {

/// Checks that the events of a trace do all work of the program, and no more.
std::vector<TraceFault> check_work(const nlohmann::json& program, const std::vector<nlohmann::json>& packets,
                                   const std::vector<nlohmann::json>& tiles);

/// Checks that the trailer says what the events add up to. `rate`: of each link; `peaks`: of the SRAM of
/// each core.
std::vector<TraceFault> check_trailer(const nlohmann::json& trailer, const nlohmann::json& chip,
                                      const std::map<std::string, double>& rate,
                                      const std::vector<nlohmann::json>& packets,
                                      const std::vector<nlohmann::json>& tiles,
                                      const std::vector<double>& peaks);

}  // namespace tessera::chip
