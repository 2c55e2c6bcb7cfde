#include "compiler/search_parts.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "search/rules/algebra/algebra_rules.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

struct Part {
    const char* name;
    const char* help;
    void (*leave_out)(SearchParts&);
};

constexpr Part kParts[] = {
    {"rewriting", "the algebra: operators stay as they are imported",
     [](SearchParts& parts) { parts.rewriting = false; }},
    {"layouts", "the search for forms: tensors lie as the default planner has them",
     [](SearchParts& parts) { parts.layouts = false; }},
    {"growth", "kernels larger than the regions that are all looked at",
     [](SearchParts& parts) { parts.growth = false; }},
    {"proof", "the proof of tiles: they are descended to", [](SearchParts& parts) { parts.proof = false; }},
    {"outer-caches", "caches beyond those of a core: what these do not hold is priced as in the main memory",
     [](SearchParts& parts) { parts.outer_caches = false; }},
    {"reorder", "other orders of loops than the operator's own",
     [](SearchParts& parts) { parts.nests.has_other_orders = false; }},
    {"odd-tiles", "tiles that are neither a power of two nor the extent",
     [](SearchParts& parts) { parts.nests.has_odd_sizes = false; }},
    {"padded-tiles", "tiles with more padding than MCFuser's rule 3 allows",
     [](SearchParts& parts) { parts.nests.has_padded_sizes = false; }},
    {"large-tiles", "kernels whose tiles exceed the second cache 1.2 times, MCFuser's rule 4",
     [](SearchParts& parts) { parts.nests.has_large_tiles = false; }},
    {"outer-sums", "loops over sums around loops over results, MCFuser's rule 2",
     [](SearchParts& parts) { parts.nests.has_outer_sums = false; }},
    {"deep", "nests that compute an operator again in each trip of a loop of another one",
     [](SearchParts& parts) { parts.nests.has_private_loops = false; }},
    {"flat", "nests with braces inside of braces, so that all loops stand around all operators",
     [](SearchParts& parts) { parts.nests.has_inner_braces = false; }},
};

bool has(std::span<const std::string> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::vector<SearchPartName> search_part_names() {
    std::vector<SearchPartName> all;
    for (const Part& part : kParts) all.push_back({part.name, part.help});
    for (const std::string_view family : rules::rule_families())
        all.push_back({std::string(family), "this family of rules (docs/rewriting.md)"});
    return all;
}

SearchParts search_parts(std::span<const std::string> without, std::optional<int64_t> regions,
                         const std::string& where) {
    std::vector<std::string> all;
    for (const SearchPartName& part : search_part_names()) all.push_back(part.name);
    for (const std::string& name : without)
        if (!has(all, name))
            throw Error(where, "without",
                        fmt::format("is \"{}\", expected one of {}", name, fmt::join(all, ", ")), "",
                        ErrorKind::kUsage);
    if (regions && (*regions < 1 || *regions > kLargestRegion))
        throw Error(where, "regions", fmt::format("is {}, expected 1 to {}", *regions, kLargestRegion), "",
                    ErrorKind::kUsage);
    SearchParts parts;
    parts.regions = regions;
    std::ranges::copy_if(all, std::back_inserter(parts.without),
                         [&](const std::string& name) { return has(without, name); });
    for (const Part& part : kParts)
        if (has(without, part.name)) part.leave_out(parts);
    for (const std::string_view family : rules::rule_families())
        if (has(without, family)) parts.rule_families.emplace(family);
    return parts;
}

SearchParts search_parts(const runtime::Artefact& artefact) {
    const runtime::Manifest& manifest = artefact.manifest();
    return search_parts(manifest.without, manifest.regions, artefact.where());
}

std::string left_out(const SearchParts& parts) {
    std::string text;
    if (!parts.without.empty()) text += fmt::format(", without {}", fmt::join(parts.without, ", "));
    if (parts.regions) text += fmt::format(", regions of up to {} operators", *parts.regions);
    return text;
}

machine::Machine priced_machine(const machine::Machine& machine, const SearchParts& parts) {
    machine::Machine priced = machine;
    const auto near = priced.memory.begin() + static_cast<ptrdiff_t>(machine::near_level(machine));
    if (!parts.outer_caches && near + 1 < priced.memory.end())
        priced.memory.erase(near + 1, priced.memory.end() - 1);
    return priced;
}

}  // namespace tessera::compiler
