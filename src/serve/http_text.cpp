#include "serve/http_text.h"

#include <charconv>

#include <fmt/core.h>

namespace tessera::serve {
namespace {

std::string_view reason_of(int status) {
    switch (status) {
        case 200:
            return "OK";
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

std::string connection(const Framing& framing) {
    return framing.keeps_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
}

}  // namespace

std::string print(const Reply& reply, const Framing& framing) {
    std::string text = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
                                   reply.status, reason_of(reply.status), reply.type, reply.body.size());
    for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
    text += connection(framing) + "\r\n";
    return framing.is_head ? text : text + reply.body;
}

std::string print_stream_head(const Framing& framing) {
    return fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-store\r\n{}{}"
        "\r\n",
        framing.in_chunks ? "Transfer-Encoding: chunked\r\n" : "", connection(framing));
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
    const std::string_view raw = target.substr(0, target.find_first_of("?#"));
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
    return path;
}

}  // namespace tessera::serve
