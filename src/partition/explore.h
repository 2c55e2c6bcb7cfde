#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "chip/designs.h"
#include "machine/toml_document.h"

namespace tessera::partition {

/// A field of the chip, and the values that it takes.
struct SweptField {
    std::vector<std::string> path;  ///< "hbm", "bytes_per_second": of every module
    toml::array values;
    uint32_t line = 0;  ///< of the file
};

/// Chips, models and shapes to be planned: every combination (docs/chip-plan.md has the file).
struct ExploreSpace {
    std::string chip_file;
    toml::table chip;
    std::vector<std::string> models;  ///< as in the file; relative to its folder
    std::filesystem::path folder;
    std::vector<int64_t> batches, sequences;
    std::vector<chip::Design> designs;
    int64_t work = 0;  ///< of the search, for each point
    std::vector<SweptField> swept;

    size_t points() const;
    /// The head of the table, with a name for each column.
    std::string header() const;
};

/// @throws Error naming a field that is missing, unknown or out of its range, or one of `sweep` that the chip
/// does not have.
ExploreSpace parse_explore_space(std::string_view toml, const std::string& where);
ExploreSpace read_explore_space(const std::filesystem::path& path);

/// The columns of a point that tell it from others, with a comma behind each.
std::string point_key(const ExploreSpace& space, size_t point);

/// The lines of a point, one for each design, each ended: its key, then what was found. A point that cannot
/// be planned has the reason in its last column.
std::string point_lines(const ExploreSpace& space, size_t point, const std::function<bool()>& must_stop = {});

}  // namespace tessera::partition
