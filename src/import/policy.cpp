#include "import/policy.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::import {
namespace {

bool are_equal(std::span<const ops::WeightFormat> formats) {
    return std::all_of(formats.begin(), formats.end(), [&](auto each) { return each == formats.front(); });
}

}  // namespace

std::string_view name(Policy policy) {
    return policy == Policy::kExact ? "exact" : policy == Policy::kFast ? "fast" : "default";
}

std::optional<Policy> policy_of(std::string_view name) {
    for (const Policy policy : {Policy::kDefault, Policy::kExact, Policy::kFast})
        if (name == tessera::import::name(policy)) return policy;
    return std::nullopt;
}

ops::Activation activation_of(Policy policy, std::span<const ops::WeightFormat> readers, int64_t width) {
    TESSERA_CHECK(!readers.empty(), "an activation without readers");
    if (policy == Policy::kExact) return {};
    if (std::none_of(readers.begin(), readers.end(), [](auto each) { return ops::element_of(each); })) {
        if (policy == Policy::kFast) return ops::kInt8Blocks;
        const bool have_super_blocks = std::all_of(readers.begin(), readers.end(), [](auto each) {
            return ops::info(each).block == ops::kInt13Blocks.block;
        });
        return ops::fitted(have_super_blocks ? ops::kInt13Blocks : ops::kInt15Blocks, width);
    }
    if (!are_equal(readers)) return {};
    return {ops::element_of(readers.front()).value()};
}

std::optional<ops::WeightFormat> cache_type_of(std::string_view name) {
    if (name == "q8_0") return ops::WeightFormat::kQ8_0;
    const std::optional<ElementType> type = element_type_of(name);
    return type ? ops::weight_format_of(*type) : std::nullopt;
}

ops::WeightFormat cache_type(Policy policy, std::span<const ops::WeightFormat> makers) {
    TESSERA_CHECK(!makers.empty(), "a cache that nothing makes");
    if (policy == Policy::kExact) return ops::WeightFormat::kF32;
    if (!std::all_of(makers.begin(), makers.end(),
                     [](auto each) { return ops::element_of(each).has_value(); }))
        return ops::WeightFormat::kBF16;
    return are_equal(makers) ? makers.front() : ops::WeightFormat::kF32;
}

}  // namespace tessera::import
