#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "serve/service.h"

namespace tessera::serve {

struct ServerSettings {
    std::string address = "127.0.0.1";  ///< of this machine, numeric
    uint16_t port = 8080;               ///< 0: any that is free
    size_t body_bytes = size_t{4} << 20;
    size_t header_bytes = size_t{16} << 10;
    size_t connections = 256;                ///< open at one time; more wait until one is closed
    std::chrono::seconds idle_time{60};      ///< for the next request of a connection
    std::chrono::seconds transfer_time{30};  ///< for a body, and for each write
    std::chrono::seconds drain_time{30};     ///< for answers that are under way when the server stops
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
    /// SIGTERM and SIGINT stop the server; a second one ends the process at once.
    void stop_on_signals();
    /// Serves until it is stopped and every answer is complete, or the time for that is over.
    void run();
    /// Takes no more connections and requests. Any thread may call it.
    void stop();

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

}  // namespace tessera::serve
