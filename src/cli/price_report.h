#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "compiler/price_graph.h"

/// The output of `tessera price` for graphs, in words and as JSON.
namespace tessera::cli {

std::string prices_in_words(const compiler::GraphPrices& prices);
nlohmann::ordered_json prices_as_json(const compiler::GraphPrices& prices);

/// Why a nest is refused, without its place.
std::string reason_of(const planner::StatedRefusal& refusal);

}  // namespace tessera::cli
