#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowering/plan/stated_kernels.h"
#include "machine/published_models.h"

namespace tessera::cli {

/// A question to `tessera price` about a file of operators (.nest, .space, .tier, .tiers).
struct NestQuestion {
    std::string file;
    std::vector<plan::StatedText> stated;  ///< empty: the nest of the file
    std::optional<machine::PublishedModel> cost;
    bool is_space = false;    ///< the file describes the space of a chain
    bool has_levels = false;  ///< the file is to have memory levels, else none
    bool as_json = false;
};

/// Prints the facts and the price of every nest. @return the exit code: 1 if one is illegal
int price_nests(const NestQuestion& question);

}  // namespace tessera::cli
