#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/definition.h"
#include "machine/published_models.h"
#include "nest/nests/level_machine.h"

/// The files of nests: operators in the notation of definitions, and below them what is to become of them.
namespace tessera::nests {

/// The sizes that an open loop may have: `step`, 2 `step`, .. up to the extent, and the extent.
struct SizeDomain {
    int64_t step = 1;
    bool operator==(const SizeDomain&) const = default;
};

/// A `.nest`, `.space`, `.tier` or `.tiers` file, as written.
struct KernelFile {
    std::string where;                      ///< names the source in errors
    std::vector<DefinitionFile> operators;  ///< at least one, in their order
    std::optional<std::vector<std::string>> visible;
    std::optional<machine::PeakRates> machine;
    std::optional<std::vector<std::string>> batch;
    std::optional<int64_t> multiple;
    std::optional<int64_t> capacity;                  ///< bytes
    std::optional<LevelMachine> levels;               ///< complete if it is there
    std::optional<std::string> cost;                  ///< as written
    std::optional<SizeDomain> sizes;                  ///< of open loops
    std::optional<std::vector<std::string>> reorder;  ///< levels whose loops stand in any order
    std::optional<std::string> nest;                  ///< all that follows the word, without comments
};

/// @throws Error for what is no such file, with the line.
KernelFile read_kernel_file(std::string_view text, const std::string& where);

}  // namespace tessera::nests
