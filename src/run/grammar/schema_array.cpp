#include <algorithm>

#include "run/grammar/schema_reader.h"
#include "support/error.h"

namespace tessera::grammar {

namespace {

using Kind = SchemaValue::Kind;

}  // namespace

NodeId SchemaReader::array(const Schemas& leaves) {
    const auto [least, most] = counts(leaves, "minItems", "maxItems");
    if (most && least > *most) return nothing(leaves, *leaves.front(), "has a maxItems below its minItems");
    // An item must hold by each schema. Items beyond the given ones come only if a schema mentions them.
    size_t given = 0;
    bool has_rest = false, forbids_rest = false;
    for (const SchemaValue* schema : leaves) {
        if (const SchemaValue* prefix = schema->find("prefixItems"))
            given = std::max(given, expect(*prefix, Kind::kList, "a list of schemas").items.size());
        const SchemaValue* items = schema->find("items");
        if (items == nullptr) continue;
        if (items->is(Kind::kList)) fail(*items, "is a list, expected a schema", "write prefixItems");
        (items->is_false() ? forbids_rest : has_rest) = true;
    }
    const auto item = [&](size_t i) {
        Conjunction all;
        for (const SchemaValue* schema : leaves) {
            const SchemaValue* prefix = schema->find("prefixItems");
            const bool is_first = prefix != nullptr && i < prefix->items.size();
            if (const SchemaValue* one = is_first ? &prefix->items[i] : schema->find("items"))
                all.all.push_back(one);
        }
        return joined(all);
    };
    std::vector<NodeId> first;
    for (size_t i = 0; i < given && (!most || static_cast<int64_t>(i) < *most); ++i) first.push_back(item(i));
    const bool needs_rest = least > static_cast<int64_t>(given);
    if (forbids_rest && needs_rest)
        return nothing(leaves, *leaves.front(), "has a minItems of more than the items that are allowed");
    std::optional<NodeId> rest;
    if (!forbids_rest && (has_rest || given == 0 || needs_rest)) rest = item(given);
    return rules_.list(first, rest, least, most);
}

}  // namespace tessera::grammar
