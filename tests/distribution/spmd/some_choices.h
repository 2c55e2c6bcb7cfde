#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distribution/spmd/distribute_model.h"

namespace tessera::testing {

/// A filter of choices that leaves two of three, others for each seed, and always those that split nothing:
/// the best plan of these splits and exchanges in ways that the best of all does not.
inline auto some_choices(uint64_t seed) {
    return [seed](const Node& node, const std::vector<distribution::Form>& forms) {
        size_t hash = std::hash<std::string>()(node.name) + seed;
        bool is_whole = true;
        for (const distribution::Form& form : forms) {
            hash = hash * 31 + std::hash<std::string>()(distribution::text(form));
            is_whole = is_whole && distribution::text(form) == "[B]";
        }
        return is_whole || hash % 3 != 0;
    };
}

}  // namespace tessera::testing
