#pragma once

#include <span>
#include <string>
#include <vector>

#include "tessera/bench.h"

namespace tessera::cli {

/// A benched model, as the user named it.
struct BenchedModel {
    std::string file;
    std::string description;
    int64_t workers = 1;
};

/// One table for each model: medians and quartiles, and their shares of the machine's limits where these were
/// measured.
std::string bench_table(std::span<const BenchedModel> models, std::span<const BenchCase> cases);

/// "decode 64 @ 4096".
std::string name_of(const BenchCase& one);

/// Everything that was measured, with every repetition, for other programs.
std::string bench_json(std::span<const BenchedModel> models, std::span<const BenchCase> cases);

}  // namespace tessera::cli
