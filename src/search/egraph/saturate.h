#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "search/egraph/rule.h"

namespace tessera::egraph {

/// A rule that matches too often in one iteration does not take part in the next ones, so that rules that
/// always match (commutativity) leave room for the others. Each time both numbers double.
/// Source: egg's BackoffScheduler.
struct BackOff {
    size_t matches = 1000;  ///< more than so many: the rule rests, and none of them is applied
    int iterations = 5;     ///< so long
};

struct SaturationOptions {
    int64_t nodes = 100'000;  ///< e-nodes; the iteration in which they are passed is the last
    int iterations = 100;
    BackOff back_off = {};
};

enum class StopReason : uint8_t {
    kSaturated,   ///< no rule says anything new
    kNodes,       ///< the limit of nodes
    kIterations,  ///< the limit of iterations
};
/// "saturated", "limit of nodes", "limit of iterations".
std::string_view name(StopReason reason);

struct RuleReport {
    std::string name;
    int64_t matches = 0;
    int64_t unions = 0;  ///< matches that were news
    int rests = 0;       ///< times that it matched too often
    bool operator==(const RuleReport&) const = default;
};

struct SaturationReport {
    StopReason stop = StopReason::kSaturated;
    int iterations = 0;
    int64_t nodes = 0;
    int64_t classes = 0;
    std::vector<RuleReport> rules;  ///< in the order of the rules
    bool operator==(const SaturationReport&) const = default;
};

/// Applies all rules to all their matches, until nothing new follows or a limit strikes. Leaves the e-graph
/// rebuilt.
SaturationReport saturate(EGraph& graph, std::span<const Rule> rules, const SaturationOptions& options = {});

}  // namespace tessera::egraph
