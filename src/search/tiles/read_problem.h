#pragma once

#include <string>
#include <string_view>

#include "search/tiles/problem.h"

namespace tessera::tiles {

/// Reads an instance (docs/tiles.md has the whole format):
///
///     {"name": "example", "variables": {"m1": [16, 32, 48], "place_A": [0, 1]},
///      "constraints": [{"name": "L1", "most": 32768,
///                       "terms": [{"coefficient": 4, "powers": {"m1": 1}, "if": {"place_A": 1}}]}],
///      "multiple": [["m1", 16]],
///      "objective": [{"name": "memory", "terms": [{"coefficient": 0.5, "trips": [[1000, "m1"]]}]}]}
///
/// Variables are numbered in the order of their names, so that the order of the file does not matter.
/// @throws Error for anything else, naming the place ("objective memory, term 0"): unknown or repeated keys,
/// numbers outside their range, what could divide by 0, terms that no float64 holds, and more than 256
/// variables, 10,000 values of one, 2,000 terms, 256 trips of one, or 16 MiB.
Problem read_problem(std::string_view json, const std::string& where);

}  // namespace tessera::tiles
