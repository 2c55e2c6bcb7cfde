#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "compiler/measure/options.h"
#include "machine/machine.h"

namespace tessera {

/// Runs a bench of single kernels and returns its results, for instances that have `filter` in their names.
using KernelBench = std::function<nlohmann::ordered_json(
    const machine::Machine&, const measure::MeasureOptions&, const std::string& filter)>;

/// `NAME_bench MACHINE.toml INCLUDE CACHE [FILTER]`: prints its results, and the machine, as one JSON object
/// on stdout, errors on stderr. Returns the exit status.
int bench_main(int argc, char** argv, const KernelBench& bench);

}  // namespace tessera
