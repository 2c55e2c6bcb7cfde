#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "run/runtime/artefact.h"
#include "search/schedule/nest_space.h"

namespace tessera::compiler {

/// The parts of the searches that a compilation carries out: all but those that it leaves out for comparisons
/// (docs/schedule.md). Made by `search_parts`.
struct SearchParts {
    std::vector<std::string> without;  ///< names of those that are left out, in the order of the table
    std::optional<int64_t> regions;    ///< operators of the regions that are all looked at; empty: by effort

    bool rewriting = true;
    std::set<std::string> rule_families = {};  ///< of the algebra that are left out
    bool layouts = true;
    bool growth = true;
    bool proof = true;
    bool outer_caches = true;
    schedule::NestSpace nests = {};
};

/// The largest `regions`: their number, and that of the nests of each, grows with every operator about
/// twofold.
inline constexpr int64_t kLargestRegion = 8;

/// A part that can be left out.
struct SearchPartName {
    std::string name, help;
};
/// The passes and their parts, and the families of rules.
std::vector<SearchPartName> search_part_names();

/// @param where the artefact that names the parts; empty: a user
/// @throws Error of wrong usage, with the list, for a name that is none, and for `regions` out of range
SearchParts search_parts(std::span<const std::string> without, std::optional<int64_t> regions,
                         const std::string& where = "");

/// Those of the searches that the artefact was compiled with.
SearchParts search_parts(const runtime::Artefact& artefact);

/// ", without layouts, growth, regions of up to 2 operators": for a report. Empty if nothing is left out.
std::string left_out(const SearchParts& parts);

/// The machine by which all that is searched is priced.
machine::Machine priced_machine(const machine::Machine& machine, const SearchParts& parts);

}  // namespace tessera::compiler
