#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "compiler/kernel_search.h"

/// The output of `tessera inspect --search`, in words and as JSON (docs/schedule.md).
namespace tessera::cli {

std::string in_words(const compiler::KernelSearch& search);
nlohmann::ordered_json as_json(const compiler::KernelSearch& search);

}  // namespace tessera::cli
