#pragma once

#include <optional>
#include <string_view>

#include "machine/level.h"
#include "machine/toml_fields.h"

/// Parts of a level, which the formats of descriptions have in common.
namespace tessera::machine {

constexpr int64_t kMostInstances = int64_t{1} << 20;  ///< of a level within one of the level around it

/// The clock of the description; none where it states none, and no quantity may be by the cycle.
using Clock = std::optional<double>;

/// QUANTITY_per_second or QUANTITY_per_cycle; none where the table has neither.
/// @throws Error for both, and for cycles without a clock
std::optional<Rate> read_rate(TomlFields& fields, std::string_view quantity, const Clock& clock);
/// The same. @throws Error where the table has neither
Rate required_rate(TomlFields& fields, std::string_view quantity, const Clock& clock);

/// `latency_seconds` or `latency_cycles`, likewise.
std::optional<Latency> read_latency(TomlFields& fields, const Clock& clock);
Latency required_latency(TomlFields& fields, const Clock& clock);

/// `topology`, `shape` of a grid of `count` instances, the rate of a link, and its latency.
Links read_links(TomlFields& fields, std::string_view quantity, int64_t count, const Clock& clock);

/// Appends modules to those of `level`: `count_key` of them, and their ports on the level inside.
void add_modules(TomlFields& fields, std::string_view count_key, const Level& inside, const Clock& clock,
                 Level& level);

}  // namespace tessera::machine
