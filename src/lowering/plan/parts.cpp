#include "lowering/plan/parts.h"

namespace tessera::plan {
namespace {

constexpr std::string_view kPrefix = "parts of ";  // no name of a value holds a space

}  // namespace

std::string parts_of(std::string_view value) {
    return std::string(kPrefix).append(value);
}

std::optional<std::string> whole_of(std::string_view key) {
    if (!key.starts_with(kPrefix)) return std::nullopt;
    return std::string(key.substr(kPrefix.size()));
}

}  // namespace tessera::plan
