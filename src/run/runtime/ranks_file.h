#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/mapped_file.h"

/// One file with the artefacts of several ranks: a header of one page, the account of the distribution, a
/// table of runs, then the runs that make up the artefacts. A weight that several ranks hold whole lies in it
/// once, and is in memory once for all ranks of a machine (run/runtime/shared_runs.h).
namespace tessera::runtime {

struct RanksTable {
    using Part = MappedFile::Range;
    Part account;                          ///< JSON (distribution/spmd/model_report.h)
    std::vector<std::vector<Part>> parts;  ///< of each rank, two or more: one behind the other its artefact
};

/// True if the text begins as such a file does.
bool is_ranks_text(std::string_view file);
/// True if the file begins as one. @throws Error if it cannot be read
bool is_ranks_file(const std::filesystem::path& path);
/// @throws Error if the file is truncated or damaged
RanksTable read_ranks_table(std::string_view file, const std::string& where);

/// The account of the distribution in the file. @throws Error if it is for one process
std::string read_ranks_account(const std::filesystem::path& path);

/// Writes `path` whole or not at all, and gives its size in bytes. @param artefacts of the ranks, in order
int64_t write_ranks_file(const std::filesystem::path& path, std::string_view account,
                         const std::vector<std::filesystem::path>& artefacts);

}  // namespace tessera::runtime
