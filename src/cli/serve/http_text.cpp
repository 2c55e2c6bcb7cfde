#include "cli/serve/http_text.h"

#include <charconv>
#include <chrono>

#include <fmt/chrono.h>
#include <fmt/core.h>

namespace tessera::serve {
namespace {

std::string_view reason_of(int status) {
    switch (status) {
        case 200:
            return "OK";
        case 204:
            return "No Content";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 413:
            return "Content Too Large";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        default:
            return "Status";
    }
}

/// The headers that every answer has.
std::string common_headers(const Framing& framing) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    std::string text = fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} GMT\r\n",
                                   fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
    for (const auto& [name, value] : framing.headers) text += fmt::format("{}: {}\r\n", name, value);
    return text + (framing.keeps_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n");
}

/// The part after "http://host" of the absolute form of a target.
std::string_view behind_host(std::string_view target) {
    const size_t scheme = target.find("://");
    if (target.starts_with('/') || scheme == std::string_view::npos) return target;
    const size_t path = target.find_first_of("/?#", scheme + 3);
    return path == std::string_view::npos ? "/" : target.substr(path);
}

}  // namespace

std::string print(const Reply& reply, const Framing& framing) {
    std::string text = fmt::format("HTTP/1.1 {} {}\r\n", reply.status, reason_of(reply.status));
    if (!reply.type.empty()) text += fmt::format("Content-Type: {}\r\n", reply.type);
    // RFC 9110, 8.6: an answer without content has no length either.
    if (reply.status != 204) text += fmt::format("Content-Length: {}\r\n", reply.body.size());
    for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
    text += common_headers(framing) + "\r\n";
    return framing.is_head ? text : text + reply.body;
}

std::string print_stream_head(std::string_view type, const Framing& framing) {
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nCache-Control: no-store\r\n{}{}\r\n", type,
                       framing.in_chunks ? "Transfer-Encoding: chunked\r\n" : "", common_headers(framing));
}

std::string print_piece(std::string_view piece, const Framing& framing) {
    // A chunk of no bytes would end the stream.
    if (!framing.in_chunks || piece.empty()) return std::string(piece);
    return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

std::string print_stream_end(const Framing& framing) {
    return framing.in_chunks ? "0\r\n\r\n" : "";
}

std::string path_of(std::string_view target) {
    const std::string_view behind = behind_host(target);
    const std::string_view raw = behind.substr(0, behind.find_first_of("?#"));
    std::string path;
    for (size_t i = 0; i < raw.size(); ++i) {
        unsigned byte = 0;
        const char* const digits = raw.data() + i + 1;
        if (raw[i] == '%' && i + 2 < raw.size() &&
            std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
            path += static_cast<char>(byte);
            i += 2;
        } else {
            path += raw[i];
        }
    }
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path.empty() ? "/" : path;
}

}  // namespace tessera::serve
