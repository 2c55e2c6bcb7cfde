#include "cli/serve/http_client.h"

#include <cstdlib>

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace tessera::serve::testing {

std::string Answered::header(const std::string& name) const {
    const size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
}

Client::Client(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) leave();
}

void Client::leave() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
}

void Client::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return;  // the server has closed: what it said can still be read
        bytes.remove_prefix(static_cast<size_t>(count));
    }
}

bool Client::receive() {
    char bytes[4096];
    const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    received_.append(bytes, static_cast<size_t>(count));
    return true;
}

std::string Client::read_until(std::string_view text) {
    size_t at = 0;
    while ((at = received_.find(text)) == std::string::npos)
        if (!receive()) return std::exchange(received_, {});
    const std::string result = received_.substr(0, at + text.size());
    received_.erase(0, result.size());
    return result;
}

Answered Client::read_answer() {
    Answered answer;
    answer.head = read_until("\r\n\r\n");
    if (!answer.head.starts_with("HTTP/1.1 ")) return answer;
    answer.status = std::atoi(answer.head.c_str() + 9);
    if (answer.header("Transfer-Encoding") == "chunked") {
        while (true) {
            const size_t size = std::strtoul(read_until("\r\n").c_str(), nullptr, 16);
            while (received_.size() < size + 2)
                if (!receive()) return {};
            answer.body += received_.substr(0, size);
            received_.erase(0, size + 2);
            if (size == 0) return answer;
        }
    }
    const size_t size = std::strtoul(answer.header("Content-Length").c_str(), nullptr, 10);
    while (received_.size() < size)
        if (!receive()) return {};
    answer.body = received_.substr(0, size);
    received_.erase(0, size);
    return answer;
}

Answered Client::get(const std::string& path, const std::string& headers) {
    send(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n{}\r\n", path, headers));
    return read_answer();
}

void Client::send_post(const std::string& path, const std::string& body, const std::string& headers) {
    send(fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n{}\r\n{}", path, body.size(),
                     headers, body));
}

Answered Client::post(const std::string& path, const nlohmann::json& body, const std::string& headers) {
    send_post(path, body.dump(), headers);
    return read_answer();
}

}  // namespace tessera::serve::testing
