#pragma once

#include <filesystem>
#include <optional>
#include <thread>

#include "cli/serve/http_server.h"

namespace tessera::serve::testing {

/// A server on a port that was free, in a thread of its own.
class RunningServer {
public:
    explicit RunningServer(const std::filesystem::path& artefact, const EngineSettings& settings = {},
                           const ServiceSettings& service = {}, ServerSettings server = {})
        : engine_(ModelFile(artefact), settings), service_(engine_, service) {
        server.port = 0;
        server_.emplace(service_, server);
        port_ = server_->port();
        thread_ = std::thread([this] { server_->run(); });
    }
    ~RunningServer() {
        stop();
        join();
    }
    RunningServer(const RunningServer&) = delete;
    RunningServer& operator=(const RunningServer&) = delete;

    uint16_t port() const { return port_; }
    Engine& engine() { return engine_; }
    void stop() { server_->stop(); }
    void join() {
        if (thread_.joinable()) thread_.join();
    }

private:
    Engine engine_;
    Service service_;
    std::optional<HttpServer> server_;
    uint16_t port_ = 0;
    std::thread thread_;
};

}  // namespace tessera::serve::testing
