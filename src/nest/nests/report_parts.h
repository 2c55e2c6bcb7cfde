#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "nest/nests/buffer.h"
#include "nest/nests/nest_facts.h"

/// Parts that the reports of nests share.
namespace tessera::nests {

nlohmann::ordered_json json_of(const OperatorFacts& op);
/// The counts that a buffer of this role has.
void add_transfers(nlohmann::ordered_json& json, BufferRole role, const Transfers& loads,
                   const Transfers& stores, const Transfers& reloads);

/// Rows of cells, columns as wide as they need. `align` has a letter for each column: `l` left, `r` right.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view align);
std::string operator_table(const std::vector<OperatorFacts>& operators);
std::string moved(const Transfers& transfers);  ///< "3 (512 B)"

}  // namespace tessera::nests
