#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// One file with the artefacts of several ranks: a header of one page, the account of the distribution, then
/// the artefact of each rank at a whole page. A rank maps the file and touches its own part.
namespace tessera::runtime {

struct RanksTable {
    struct Part {
        uint64_t offset = 0;
        uint64_t size = 0;
    };
    Part account;             ///< JSON (spmd/model_report.h)
    std::vector<Part> parts;  ///< by rank; two or more
};

/// Whether the text begins as such a file does.
bool is_ranks_text(std::string_view file);
/// Whether the file begins so. @throws Error if it cannot be read
bool is_ranks_file(const std::filesystem::path& path);
/// @throws Error where the file is truncated or damaged
RanksTable read_ranks_table(std::string_view file, const std::string& where);

/// The account of the distribution in the file. @throws Error if it is for one process
std::string read_ranks_account(const std::filesystem::path& path);

/// Writes `path` whole or not at all, and gives its size in bytes. @param artefacts of the ranks, in order
int64_t write_ranks_file(const std::filesystem::path& path, std::string_view account,
                         const std::vector<std::filesystem::path>& artefacts);

}  // namespace tessera::runtime
