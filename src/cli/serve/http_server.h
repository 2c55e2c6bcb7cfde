#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/serve/service.h"

namespace tessera::serve {

struct ServerSettings {
    std::string address =
        "127.0.0.1";       ///< of this machine, or a name of it: every address that it stands for
    uint16_t port = 8080;  ///< 0: any that is free
    size_t body_bytes = size_t{4} << 20;
    size_t header_bytes = size_t{16} << 10;
    /// Open at one time. The connection that was silent longest gives its place to a new one. If all are
    /// being answered, new ones get status 503, or an answer that can be given at once.
    size_t connections = 256;
    std::chrono::milliseconds idle_time{60'000};      ///< for the next request of a connection
    std::chrono::milliseconds transfer_time{30'000};  ///< for the next bytes of a request or an answer
    std::chrono::milliseconds drain_time{30'000};  ///< for answers that are under way when the server stops
    std::vector<std::string> origins = {};         ///< allows_origin (cli/serve/cross_origin.h)
};

/// HTTP/1.1 for a service, in the thread that runs it. A connection has one request at a time; one that the
/// client closes, or half-closes, before its answer is complete cancels the request.
class HttpServer {
public:
    /// Listens from now on. @throws Error if the address cannot be had.
    HttpServer(Service& service, const ServerSettings& settings);
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();

    uint16_t port() const;
    /// SIGTERM, SIGINT and SIGHUP stop the server; a second one ends the process at once. A SIGHUP that the
    /// process ignores, as under nohup, stays ignored.
    void stop_on_signals();
    /// Serves until it is stopped and every answer is complete. When the time for that is over the rest is
    /// ended, and its clients are told.
    void run();
    /// Takes no more connections and requests. Any thread may call it.
    void stop();

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

}  // namespace tessera::serve
