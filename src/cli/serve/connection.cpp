#include "cli/serve/connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <fmt/core.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "cli/serve/cross_origin.h"

namespace tessera::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

/// Bytes of further requests that are read while one is answered.
constexpr size_t kMostAhead = size_t{64} << 10;
/// Bytes of a refused body that are read, so that the client sees the refusal rather than a reset.
constexpr size_t kMostRefused = size_t{64} << 20;
/// For a client to close after an answer that is the last one; less where the server stops.
constexpr std::chrono::milliseconds kLinger{2000};
constexpr std::chrono::milliseconds kShortLinger{250};

}  // namespace

size_t Hub::count(bool are_extra) const {
    return static_cast<size_t>(std::count_if(open.begin(), open.end(),
                                             [&](const auto& one) { return one->is_extra() == are_extra; }));
}

Connection::Connection(tcp::socket&& socket, Hub& hub, bool is_extra)
    : hub_(hub), socket_(std::move(socket)), timer_(*hub.io), is_extra_(is_extra) {}

void Connection::start() {
    hub_.open.insert(shared_from_this());
    ErrorCode ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
    begin_head();
}

void Connection::drain() {
    if (stage_ == Stage::kIdle) close();
    if (stage_ == Stage::kHead || stage_ == Stage::kBody)
        close_with({.status = 503, .message = "the server stops", .retry_after = 5});
}

void Connection::interrupt() {
    if (cancel_) cancel_();
}

void Connection::evict() {
    if (stage_ != Stage::kHead && stage_ != Stage::kBody) return close();
    close_with({.status = 408, .message = "the rest of the request has not come, and others need its place"});
}

void Connection::close() {
    if (std::exchange(stage_, Stage::kClosed) == Stage::kClosed) return;
    if (cancel_) std::exchange(cancel_, {})();
    timer_.cancel();
    ErrorCode ignored;
    socket_.close(ignored);
    const auto self = shared_from_this();
    hub_.open.erase(self);
    hub_.on_close();
}

/// The last words to a client that is not waited for.
void Connection::close_with(const ApiError& error) {
    framing_.keeps_alive = false;
    const std::string text = print(reply_of(error, api_of(head_.path)), framing_);
    if (!is_writing_) {
        ErrorCode ignored;
        (void)socket_.write_some(asio::buffer(text), ignored);
        hub_.service.count_reply(error.status);
    }
    close();
}

template <typename Handle>
auto Connection::handler(Handle handle) {
    return [self = shared_from_this(), handle](const ErrorCode& error, size_t bytes) {
        if (self->stage_ == Stage::kClosed) return;
        if (bytes > 0) self->last_progress_ = Clock::now();
        handle(error, bytes);
    };
}

void Connection::begin_head() {
    stage_ = Stage::kIdle;
    framing_ = {};
    head_ = {};
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(hub_.settings.header_bytes));
    parser_->body_limit(hub_.settings.body_bytes);
    expect_progress(hub_.settings.idle_time);
    advance();
}

/// Reads whatever comes next, also while an answer is made, to learn of a client that leaves.
void Connection::read() {
    if (is_reading_ || (stage_ == Stage::kAnswering && input_.size() >= kMostAhead)) return;
    is_reading_ = true;
    socket_.async_read_some(asio::buffer(incoming_), handler([this](const ErrorCode& error, size_t bytes) {
                                is_reading_ = false;
                                input_.append(incoming_.data(), bytes);
                                if (error) return close();
                                advance();
                            }));
}

/// Makes of the input what the stage can take.
void Connection::advance() {
    switch (stage_) {
        case Stage::kIdle:
            // Empty lines in front of a request are to be skipped: RFC 9112, 2.2.
            while (input_.starts_with("\r\n")) input_.erase(0, 2);
            if (input_.empty() || input_ == "\r") break;
            stage_ = Stage::kHead;
            [[fallthrough]];
        case Stage::kHead:
            expect_progress(hub_.settings.transfer_time);
            if (!parse()) return;
            if (parser_->is_header_done()) return take_head();
            break;
        case Stage::kBody:
            expect_progress(hub_.settings.transfer_time);
            if (!parse()) return;
            if (parser_->is_done()) return answer();
            break;
        case Stage::kAnswering:
            break;
        case Stage::kLingering:
            dropped_ += std::exchange(input_, {}).size();
            if (dropped_ > kMostRefused) return close();
            break;
        case Stage::kClosed:
            return;
    }
    read();
}

/// Gives the input to the parser, up to the end of the head or of the body. False: it was refused.
bool Connection::parse() {
    size_t used = 0;
    ErrorCode error;
    while (used < input_.size() && !error && !parser_->is_done()) {
        const size_t taken = parser_->put(asio::buffer(input_.data() + used, input_.size() - used), error);
        used += taken;
        if (taken == 0 || (stage_ == Stage::kHead && parser_->is_header_done())) break;
    }
    input_.erase(0, used);
    if (!error || error == http::error::need_more) return true;
    refuse(error);
    return false;
}

void Connection::take_head() {
    const auto& head = parser_->get();
    const std::string origin(head[http::field::origin]);
    head_ = {.method = std::string(head.method_string()),
             .path = path_of({head.target().data(), head.target().size()}),
             .authorization = std::string(head[http::field::authorization]),
             .requested_headers = std::string(head["Access-Control-Request-Headers"])};
    framing_ = {.keeps_alive = parser_->keep_alive(),
                .is_head = head.method() == http::verb::head,
                .in_chunks = head.version() >= 11};
    if (allows_origin(hub_.settings.origins, origin)) framing_.headers = cross_origin_headers(origin);
    if (const auto refusal = hub_.service.refusal(head_)) return refuse(*refusal);
    if (is_extra_ && hub_.count(false) < hub_.settings.connections) is_extra_ = false;
    if (is_extra_ && hub_.service.is_long(head_))
        return refuse(ApiError{.status = 503,
                               .message = "all connections are taken: try again",
                               .code = "connections_full",
                               .retry_after = 1});
    const std::string encoding(head[http::field::content_encoding]);
    if (!encoding.empty() && !beast::iequals(encoding, "identity"))
        return refuse(
            ApiError{.status = 415, .message = "Content-Encoding: bodies are read as they are alone"});
    const std::string expected(head[http::field::expect]);
    if (!expected.empty() && !parser_->is_done()) {
        if (!beast::iequals(expected, "100-continue"))
            return refuse(ApiError{.status = 417, .message = "Expect can be 100-continue alone"});
        send("HTTP/1.1 100 Continue\r\n\r\n");
    }
    stage_ = Stage::kBody;
    if (parser_->is_done()) return answer();
    advance();
}

void Connection::answer() {
    stage_ = Stage::kAnswering;
    expect_nothing();
    const auto later = [io = hub_.io, weak = weak_from_this()](auto act) {
        asio::post(*io, [weak, act = std::move(act)]() mutable {
            const auto self = weak.lock();
            if (self && self->stage_ != Stage::kClosed) act(*self);
        });
    };
    const ReplySink sink{
        .whole =
            [later](Reply reply) {
                later([reply = std::move(reply)](Connection& self) { self.send_whole(reply); });
            },
        .piece =
            [later](std::string piece) {
                later([piece = std::move(piece)](Connection& self) { self.send_piece(piece); });
            },
        .end = [later] { later([](Connection& self) { self.send_end(); }); }};
    cancel_ = hub_.service.handle(head_, std::move(parser_->get().body()), sink);
    read();
}

/// A request that could not be read.
void Connection::refuse(const ErrorCode& error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
        return refuse(ApiError{.status = 431, .message = "the headers are too large"});
    if (error == http::error::body_limit)
        return refuse(
            ApiError{.status = 413,
                     .message = fmt::format("the body is larger than {} bytes", hub_.settings.body_bytes)});
    refuse(ApiError{.message = "the request is not HTTP: " + error.message()});
}

/// The rest of the request is not read as one, so nothing can follow it.
void Connection::refuse(const ApiError& error) {
    framing_.keeps_alive = framing_.keeps_alive && parser_->is_done();
    stage_ = Stage::kAnswering;
    expect_nothing();
    send_whole(reply_of(error, api_of(head_.path)));
    if (stage_ == Stage::kAnswering) read();
}

void Connection::send_whole(const Reply& reply) {
    framing_.keeps_alive = framing_.keeps_alive && !hub_.is_draining;
    hub_.service.count_reply(reply.status);
    is_complete_ = true;
    send(print(reply, framing_));
}

void Connection::send_piece(const std::string& piece) {
    if (!std::exchange(has_begun_, true)) {
        framing_.keeps_alive = framing_.keeps_alive && framing_.in_chunks && !hub_.is_draining;
        hub_.service.count_reply(200);
        send(print_stream_head(stream_type(api_of(head_.path)), framing_));
    }
    send(print_piece(piece, framing_));
}

void Connection::send_end() {
    is_complete_ = true;
    send(print_stream_end(framing_));
}

void Connection::send(const std::string& text) {
    waiting_ += text;
    if (!is_writing_) write();
}

void Connection::write() {
    if (waiting_.empty()) {
        if (stage_ == Stage::kAnswering) expect_nothing();
        if (is_complete_) finish();
        return;
    }
    is_writing_ = true;
    out_ = std::exchange(waiting_, {});
    written_ = 0;
    write_rest();
}

void Connection::write_rest() {
    expect_progress(hub_.settings.transfer_time);
    socket_.async_write_some(asio::buffer(out_.data() + written_, out_.size() - written_),
                             handler([this](const ErrorCode& error, size_t bytes) {
                                 if (error) return close();
                                 written_ += bytes;
                                 if (written_ < out_.size()) return write_rest();
                                 is_writing_ = false;
                                 write();
                             }));
}

/// The answer is written.
void Connection::finish() {
    cancel_ = {};
    is_complete_ = has_begun_ = false;
    if (!framing_.keeps_alive || hub_.is_draining) return linger();
    begin_head();
}

/// Lets the client read the answer before the connection is closed: unread bytes would reset it.
void Connection::linger() {
    stage_ = Stage::kLingering;
    ErrorCode ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    expect_progress(hub_.is_draining ? kShortLinger : kLinger);
    advance();
}

void Connection::expect_progress(Clock::duration within) {
    limit_ = within;
    unsent_ = unsent_bytes();
    timer_.expires_after(within);
    timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
        const bool is_over = !error && self->timer_.expiry() <= Clock::now();
        if (is_over && self->stage_ != Stage::kClosed) self->on_late();
    });
}

void Connection::expect_nothing() {
    timer_.cancel();
}

void Connection::on_late() {
    // The system takes much at once for a client that reads slowly: what it has passed on is progress.
    if ((is_writing_ || stage_ == Stage::kLingering) && unsent_bytes() < unsent_)
        return expect_progress(limit_);
    if (is_writing_ || (stage_ != Stage::kHead && stage_ != Stage::kBody)) return close();
    refuse(ApiError{.status = 408, .message = "the rest of the request has not come in time"});
}

/// Bytes that were written, and that the client has not confirmed.
int Connection::unsent_bytes() {
    int bytes = 0;
    return ioctl(socket_.native_handle(), SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

}  // namespace tessera::serve
