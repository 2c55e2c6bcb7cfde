#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "nest/nests/open_problem.h"

namespace tessera::nests {

struct LevelSearchOptions {
    int64_t candidates = int64_t{1} << 22;  ///< that are walked; some minutes
    WalkOptions walk;                       ///< of each
};

enum class LevelSearchStatus : uint8_t { kOptimal, kInfeasible, kOutOfBudget };
std::string_view name(LevelSearchStatus status);  ///< "optimal", "infeasible", "out of budget"

/// The cheapest nest of an open problem.
struct LevelSearchResult {
    LevelSearchStatus status = LevelSearchStatus::kOptimal;
    std::optional<std::string> nest;  ///< the cheapest that was found
    std::optional<double> cost;       ///< of that nest, in seconds
    double bound = 0;                 ///< no feasible nest costs less
    int64_t structures = 0;
    int64_t candidates = 0;  ///< that were walked
    int64_t feasible = 0;    ///< among them
    bool operator==(const LevelSearchResult&) const = default;
};

/// Walks every candidate: a choice of structure, levels and sizes that keeps the rules of placements.
/// @throws Error if a structure breaks another rule of form, and beyond the steps of a walk
LevelSearchResult search(const OpenProblem& problem, const LevelSearchOptions& options = {});

nlohmann::ordered_json to_json(const LevelSearchResult& result);
/// For people.
std::string to_text(const LevelSearchResult& result);

}  // namespace tessera::nests
