#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "cli/serve/http_server.h"
#include "cli/serve/http_text.h"

namespace tessera::serve {

class Connection;

/// The state that connections share. All of it belongs to the thread of the server.
struct Hub {
    Service& service;
    ServerSettings settings;
    std::shared_ptr<boost::asio::io_context> io;
    std::set<std::shared_ptr<Connection>> open = {};  ///< keeps them alive
    bool is_draining = false;
    std::function<void()> on_close = {};

    /// The number of open connections with a place, or without one.
    size_t count(bool are_extra) const;
};

/// One client of HTTP/1.1. All functions run in the thread of the server.
///
///     idle -> head -> body -> answering, and watching for the client to leave -> idle | lingering -> closed
///
/// Every time limit is for the next bytes, not for a whole transfer: steady slow clients are served.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    using Clock = std::chrono::steady_clock;
    using ErrorCode = boost::system::error_code;
    enum class Stage { kIdle, kHead, kBody, kAnswering, kLingering, kClosed };

    /// @param is_extra there was no place: the client is told so unless its request can be answered at once
    Connection(boost::asio::ip::tcp::socket&& socket, Hub& hub, bool is_extra);

    void start();
    Stage stage() const { return stage_; }
    bool is_extra() const { return is_extra_; }
    Clock::time_point last_progress() const { return last_progress_; }

    /// The server stops: reads nothing more.
    void drain();
    /// Ends the request that is being answered, and tells the client.
    void interrupt();
    /// Gives the place to another client.
    void evict();
    void close();

private:
    template <typename Handle>
    auto handler(Handle handle);

    void begin_head();
    void read();
    void advance();
    bool parse();
    void take_head();
    void answer();
    void refuse(const ErrorCode& error);
    void refuse(const ApiError& error);
    void close_with(const ApiError& error);

    void send_whole(const Reply& reply);
    void send_piece(const std::string& piece);
    void send_end();
    void send(const std::string& text);
    void write();
    void write_rest();
    void finish();
    void linger();

    void expect_progress(Clock::duration within);
    void expect_nothing();
    void on_late();
    int unsent_bytes();

    Hub& hub_;
    boost::asio::ip::tcp::socket socket_;
    boost::asio::steady_timer timer_;
    Stage stage_ = Stage::kIdle;
    bool is_extra_;
    Clock::time_point last_progress_ = Clock::now();
    Clock::duration limit_ = {};
    int unsent_ = 0;  ///< bytes that the system held for the client when the limit began

    std::array<char, 16384> incoming_;
    std::string input_;  ///< read, not parsed yet
    bool is_reading_ = false;
    size_t dropped_ = 0;  ///< bytes of a request that was refused
    std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
    RequestHead head_;
    Framing framing_;
    std::function<void()> cancel_;

    std::string waiting_;  ///< to be written after `out_`
    std::string out_;
    size_t written_ = 0;  ///< of `out_`
    bool is_writing_ = false;
    bool has_begun_ = false;    ///< a stream
    bool is_complete_ = false;  ///< everything is in `waiting_` and `out_`
};

}  // namespace tessera::serve
