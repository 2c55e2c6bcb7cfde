#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chip/designs.h"
#include "chip/partition/explore_plots.h"
#include "chip/partition/model_workload.h"
#include "machine/toml_document.h"

namespace tessera::partition {

/// A field of the chip, and the values that it takes.
struct SweptField {
    std::vector<std::string> path;  ///< "level", "chip", "module", "bytes_per_second": of every module
    toml::array values;
    uint32_t line = 0;  ///< of the file
};

/// Values of several fields that go together, as one choice among others.
struct ChipVariant {
    std::string name;
    std::vector<SweptField> fields;  ///< with one value each
};

struct ExploredChip {
    std::string name;  ///< of the file, without folder and ending
    std::string file;
    toml::table description;
};

/// Chips, models and shapes to be planned: every combination (docs/chip-plan.md has the file).
struct ExploreSpace {
    std::filesystem::path folder;
    std::vector<ExploredChip> chips;
    std::vector<std::string> models;  ///< as in the file; relative to its folder
    /// Empty: what a model has without it.
    std::vector<std::optional<Phase>> phases;
    std::vector<int64_t> batches;
    std::vector<std::optional<int64_t>> sequences;
    std::vector<chip::Design> designs;
    int64_t work = 0;                   ///< of the search, for each point
    std::vector<ChipVariant> variants;  ///< none: the chips as they are
    std::vector<SweptField> swept;
    std::vector<PlotSpec> plots;

    size_t points() const;
    /// The head of the table, with a name for each column.
    std::string header() const;
};

/// @throws Error naming a field that is missing, unknown or out of its range, or one of `sweep` that a chip
/// does not have.
ExploreSpace parse_explore_space(std::string_view toml, const std::string& where);
/// @throws Error besides naming a model that does not exist
ExploreSpace read_explore_space(const std::filesystem::path& path);

/// Sets a field of a chip: in all tables of an array, unless a name in the path picks one. The path may be
/// one of the older format (machine/older_formats.h). @return true if there is such a field
bool set_chip_field(toml::node& chip, const SweptField& field, size_t value);

/// The columns of a point that tell it from others, with a comma behind each.
std::string point_key(const ExploreSpace& space, size_t point);

/// The lines of a point, one for each design, each ended: its key, then what was found. A point that cannot
/// be planned has the reason in its last column.
std::string point_lines(const ExploreSpace& space, size_t point, const std::function<bool()>& must_stop = {});

}  // namespace tessera::partition
