#pragma once

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tessera::chip {

/// A rule that a trace breaks, and why.
struct TraceFault {
    std::string rule;
    std::string reason;
};

/// Checks the JSON lines of a trace against chip and program as JSON. It shares no code with the simulator,
/// and names the rules as docs/chip.md does.
std::vector<TraceFault> check_trace(const std::string& lines, const nlohmann::json& chip,
                                    const nlohmann::json& program);

inline std::set<std::string> rules_of(const std::vector<TraceFault>& faults) {
    std::set<std::string> rules;
    for (const TraceFault& fault : faults) rules.insert(fault.rule);
    return rules;
}

}  // namespace tessera::chip
