#include "cli/serve/cross_origin.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "support/error.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

constexpr std::array<std::string_view, 2> kSchemes = {"http://", "https://"};
/// Names that lead to this machine from anywhere.
constexpr std::array<std::string_view, 3> kLocalHosts = {"localhost", "127.0.0.1", "[::1]"};

/// "localhost" of "http://localhost:3000"; empty for what is no origin of HTTP.
std::string_view host_of(std::string_view origin) {
    for (const std::string_view scheme : kSchemes) {
        if (!origin.starts_with(scheme)) continue;
        const std::string_view rest = origin.substr(scheme.size());
        const size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
        if (bracket == std::string_view::npos) return {};
        const std::string_view host = rest.substr(0, rest.find(':', bracket));
        const std::string_view port = rest.substr(std::min(rest.size(), host.size() + 1));
        const bool is_port =
            port.size() <= 5 && port.find_first_not_of("0123456789") == std::string_view::npos;
        return is_port && host.find_first_of("/?#@") == std::string_view::npos ? host : std::string_view();
    }
    return {};
}

}  // namespace

bool allows_origin(const std::vector<std::string>& allowed, std::string_view origin) {
    if (origin.empty()) return false;
    const auto is_named = [&](const std::string& one) { return one == "*" || one == origin; };
    if (std::any_of(allowed.begin(), allowed.end(), is_named)) return true;
    return std::find(kLocalHosts.begin(), kLocalHosts.end(), host_of(origin)) != kLocalHosts.end();
}

std::vector<std::pair<std::string, std::string>> cross_origin_headers(std::string_view origin) {
    return {{"Access-Control-Allow-Origin", std::string(origin)},
            {"Access-Control-Expose-Headers", "Retry-After"},
            {"Vary", "Origin"}};
}

void check_origin(std::string_view origin) {
    if (origin == "*" || !host_of(origin).empty()) return;
    throw Error("", "--cors-origin", fmt::format("{} is no origin", printable(std::string(origin))),
                "write it as in https://example.org:8443, or * for all", ErrorKind::kUsage);
}

}  // namespace tessera::serve
