// ceil(a / b) ceil(b / c) >= ceil(a / c): the product is an integer and not below a / c. So M = 1537 in tiles
// of m1, and these in blocks of 8, are at least ceil(1537 / 8) = 193 blocks whatever m1 is; a / b alone
// leaves 192.125:
//
//     ceil(M / m2) ceil(m2 / m1) ceil(m1 / 8)    m1 joined: ceil(M / m2) ceil(m2 / 8)    both: ceil(M / 8)
//
// A variable can be joined if it is once above and once below, and in no power.
#include <algorithm>
#include <optional>

#include "search/tiles/factors.h"
#include "search/tiles/trip_count.h"

namespace tessera::tiles {
namespace {

// Enough for all chains through four variables; further ones are left out.
constexpr size_t kMostChains = 16;

FunctionKey* part_of(Chain& chain, size_t variable) {
    for (FunctionKey& part : chain.parts)
        if (std::get<0>(part) == variable) return &part;
    return nullptr;
}

void add_trip(Chain& chain, size_t variable, ConstantTrip trip) {
    std::vector<ConstantTrip>& trips = std::get<2>(*part_of(chain, variable));
    trips.insert(std::upper_bound(trips.begin(), trips.end(), trip), trip);
}

/// The chain without the variable; empty if it cannot be joined.
std::optional<Chain> without(const Chain& chain, const FunctionKey& part) {
    const auto& [variable, exponent, trips] = part;
    if (exponent != 0) return std::nullopt;
    std::vector<Operand> above, below;  // a of a / v, and b of v / b
    for (const ConstantTrip& trip : trips) (trip.is_above ? below : above).push_back(trip.number);
    Chain result{.scale = chain.scale, .parts = {}, .pairs = {}};
    for (const VariablePair& pair : chain.pairs) {
        if (pair.b == variable)
            above.push_back(VariableIndex{pair.a});
        else if (pair.a == variable)
            below.push_back(VariableIndex{pair.b});
        else
            result.pairs.push_back(pair);
    }
    if (above.size() != 1 || below.size() != 1) return std::nullopt;
    for (const FunctionKey& other : chain.parts)
        if (std::get<0>(other) != variable) result.parts.push_back(other);
    const auto* a = std::get_if<VariableIndex>(&above.front());
    const auto* b = std::get_if<VariableIndex>(&below.front());
    if (a != nullptr && b != nullptr) {
        if (a->index != b->index) result.pairs.push_back({a->index, b->index});
        std::sort(result.pairs.begin(), result.pairs.end());
    } else if (a != nullptr) {
        add_trip(result, a->index, {true, std::get<int64_t>(below.front())});
    } else if (b != nullptr) {
        add_trip(result, b->index, {false, std::get<int64_t>(above.front())});
    } else {
        result.scale *= trip_count(std::get<int64_t>(above.front()), std::get<int64_t>(below.front()));
    }
    return result;
}

}  // namespace

std::vector<Chain> joined_chains(const Chain& chain) {
    std::vector<Chain> result = {chain};
    if (chain.pairs.empty()) return result;  // a function of one variable is exact as it is
    for (size_t i = 0; i < result.size(); ++i) {
        const std::vector<FunctionKey> parts = result[i].parts;
        for (const FunctionKey& part : parts) {
            std::optional<Chain> next = without(result[i], part);
            if (!next || std::find(result.begin(), result.end(), *next) != result.end()) continue;
            if (result.size() == kMostChains) return result;
            result.push_back(std::move(*next));
        }
    }
    return result;
}

}  // namespace tessera::tiles
