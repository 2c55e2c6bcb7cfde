#include "cli/serve/access.h"

#include <algorithm>
#include <cctype>

namespace tessera::serve {
namespace {

bool are_equal(std::string_view given, std::string_view key) {
    unsigned difference = given.size() == key.size() ? 0 : 1;
    for (size_t i = 0; i < key.size(); ++i)
        difference |= static_cast<unsigned char>(key[i]) ^
                      static_cast<unsigned char>(given.empty() ? 0 : given[i % given.size()]);
    return difference == 0;
}

/// Empty if the scheme is another one.
std::string_view key_of(std::string_view authorization) {
    constexpr std::string_view kScheme = "bearer ";
    const bool is_bearer =
        authorization.size() > kScheme.size() &&
        std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                   [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
    return is_bearer ? authorization.substr(kScheme.size()) : std::string_view();
}

}  // namespace

bool has_key(std::string_view authorization, std::string_view key) {
    return are_equal(key_of(authorization), key);
}

}  // namespace tessera::serve
