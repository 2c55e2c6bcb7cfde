#include "cli/serve/chat_page.h"

#include <random>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "cli/serve/chat_page_text.h"

namespace tessera::serve {
namespace {

constexpr std::string_view kPlaceOfNonce = "{{nonce}}";

/// 128 bits, as Content Security Policy Level 3, 7.1, asks for.
std::string draw_nonce() {
    std::random_device device;
    std::string nonce;
    for (int i = 0; i < 4; ++i) nonce += fmt::format("{:08x}", device());
    return nonce;
}

std::string with_nonce(std::string page, std::string_view nonce) {
    for (size_t at = 0; (at = page.find(kPlaceOfNonce, at)) != std::string::npos; at += nonce.size())
        page.replace(at, kPlaceOfNonce.size(), nonce);
    return page;
}

}  // namespace

Reply chat_page() {
    const std::string nonce = draw_nonce();
    const std::string policy = fmt::format(
        "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        nonce);
    return {.body = with_nonce(std::string(kChatPage), nonce),
            .type = "text/html; charset=utf-8",
            .headers = {{"Content-Security-Policy", policy},
                        {"Cache-Control", "no-store"},
                        {"Referrer-Policy", "no-referrer"},
                        {"X-Content-Type-Options", "nosniff"}}};
}

Reply chat_icon() {
    return {.body = std::string(kChatIcon),
            .type = "image/svg+xml",
            .headers = {{"Cache-Control", "max-age=86400"}, {"X-Content-Type-Options", "nosniff"}}};
}

}  // namespace tessera::serve
