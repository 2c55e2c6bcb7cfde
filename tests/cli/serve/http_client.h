#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tessera::serve::testing {

/// An answer as the client reads it; a stream's chunks are joined.
struct Answered {
    int status = 0;  ///< 0: the connection ended before an answer
    std::string head;
    std::string body;

    nlohmann::json json() const { return nlohmann::json::parse(body); }
    std::string header(const std::string& name) const;  ///< empty if there is none
};

/// One connection to this machine, over plain sockets: no code of the server's.
class Client {
public:
    explicit Client(uint16_t port);
    ~Client() { leave(); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void send(std::string_view bytes);
    /// Everything up to and with this text; less where the connection ends.
    std::string read_until(std::string_view text);
    Answered read_answer();
    Answered get(const std::string& path, const std::string& headers = "");
    Answered post(const std::string& path, const nlohmann::json& body, const std::string& headers = "");
    void send_post(const std::string& path, const std::string& body, const std::string& headers = "");
    void leave();
    bool is_refused() const { return socket_ < 0; }

private:
    bool receive();

    int socket_ = -1;
    std::string received_;
};

}  // namespace tessera::serve::testing
