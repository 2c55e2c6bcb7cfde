#include "serve/http_server.h"

#include <csignal>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include "serve/http_text.h"
#include "support/error.h"

namespace tessera::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

/// Bytes of further requests that are read while one is answered.
constexpr size_t kMostAhead = size_t{64} << 10;
/// Bytes of a refused body that are read, so that the client sees the refusal rather than a reset.
constexpr size_t kMostRefused = size_t{64} << 20;
constexpr std::chrono::seconds kLinger{2};
constexpr std::chrono::milliseconds kAcceptPause{100};

class Connection;

/// What connections share.
struct Hub {
    Service& service;
    ServerSettings settings;
    std::shared_ptr<asio::io_context> io;
    std::set<std::shared_ptr<Connection>> open;  ///< keeps them alive
    bool is_draining = false;
    std::function<void()> on_close;
};

/// One client. All functions run in the thread of the server.
///
///     head -> body -> answering, and watching for the client to leave -> head | linger -> closed
class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(tcp::socket&& socket, Hub& hub) : hub_(hub), stream_(std::move(socket)) {}

    void start() {
        hub_.open.insert(shared_from_this());
        ErrorCode ignored;
        stream_.socket().set_option(tcp::no_delay(true), ignored);
        read_head();
    }
    /// The server stops: nothing more is read.
    void drain() {
        if (is_idle_) close();
    }
    void close() {
        if (std::exchange(is_closed_, true)) return;
        if (cancel_) std::exchange(cancel_, {})();
        stream_.close();
        const auto self = shared_from_this();
        hub_.open.erase(self);
        hub_.on_close();
    }

private:
    template <typename Handle>
    auto handler(Handle handle) {
        return [self = shared_from_this(), handle](const ErrorCode& error, size_t bytes) {
            if (!self->is_closed_) handle(error, bytes);
        };
    }

    void read_head() {
        is_idle_ = true;
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(hub_.settings.header_bytes));
        parser_->body_limit(hub_.settings.body_bytes);
        stream_.expires_after(hub_.settings.idle_time);
        http::async_read_header(stream_, buffer_, *parser_, handler([this](const ErrorCode& error, size_t) {
                                    is_idle_ = false;
                                    if (error) return refuse(error);
                                    take_head();
                                }));
    }

    void take_head() {
        const auto& head = parser_->get();
        framing_ = {.keeps_alive = parser_->keep_alive(),
                    .is_head = head.method() == http::verb::head,
                    .in_chunks = head.version() >= 11};
        head_ = {.method = std::string(head.method_string()),
                 .path = path_of({head.target().data(), head.target().size()}),
                 .authorization = std::string(head[http::field::authorization])};
        if (const auto refusal = hub_.service.refusal(head_)) return refuse(*refusal);
        const std::string expected(head[http::field::expect]);
        if (expected.empty() || parser_->is_done()) return read_body();
        if (!beast::iequals(expected, "100-continue"))
            return refuse(ApiError{.status = 417, .message = "Expect can be 100-continue alone"});
        out_ = "HTTP/1.1 100 Continue\r\n\r\n";
        stream_.expires_after(hub_.settings.transfer_time);
        asio::async_write(stream_, asio::buffer(out_), handler([this](const ErrorCode& error, size_t) {
                              if (error) return close();
                              read_body();
                          }));
    }

    void read_body() {
        stream_.expires_after(hub_.settings.transfer_time);
        http::async_read(stream_, buffer_, *parser_, handler([this](const ErrorCode& error, size_t) {
                             if (error) return refuse(error);
                             answer();
                         }));
    }

    void answer() {
        is_answering_ = true;
        const auto later = [io = hub_.io, weak = weak_from_this()](auto act) {
            asio::post(*io, [weak, act = std::move(act)]() mutable {
                const auto self = weak.lock();
                if (self && !self->is_closed_) act(*self);
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
        cancel_ = hub_.service.handle(head_, parser_->get().body(), sink);
        parser_->get().body().clear();
        if (cancel_) watch();
    }

    /// Reads while an answer is made, to learn of a client that leaves.
    void watch() {
        if (buffer_.size() >= kMostAhead) return;
        is_watching_ = true;
        stream_.expires_never();
        stream_.async_read_some(buffer_.prepare(4096), handler([this](const ErrorCode& error, size_t bytes) {
                                    is_watching_ = false;
                                    buffer_.commit(bytes);
                                    if (!is_answering_) return read_head();
                                    if (error) return close();
                                    watch();
                                }));
    }

    /// A request that could not be read.
    void refuse(const ErrorCode& error) {
        if (error == http::error::header_limit || error == http::error::buffer_overflow)
            return refuse(ApiError{.status = 431, .message = "the headers are too large"});
        if (error == http::error::body_limit)
            return refuse(ApiError{
                .status = 413,
                .message = fmt::format("the body is larger than {} bytes", hub_.settings.body_bytes)});
        const bool is_malformed = error.category() == ErrorCode(http::error::bad_method).category() &&
                                  error != http::error::end_of_stream &&
                                  error != http::error::partial_message;
        if (!is_malformed) return close();
        refuse(ApiError{.message = "the request is not HTTP: " + error.message()});
    }

    /// The rest of the request is not read as one, so nothing can follow it.
    void refuse(const ApiError& error) {
        framing_.keeps_alive = framing_.keeps_alive && parser_->is_done();
        is_answering_ = true;
        send_whole(reply_of(error));
    }

    void send_whole(const Reply& reply) {
        framing_.keeps_alive = framing_.keeps_alive && !hub_.is_draining;
        hub_.service.count_reply(reply.status);
        is_complete_ = true;
        send(print(reply, framing_));
    }
    void send_piece(const std::string& piece) {
        if (!std::exchange(has_begun_, true)) {
            framing_.keeps_alive = framing_.keeps_alive && framing_.in_chunks && !hub_.is_draining;
            hub_.service.count_reply(200);
            send(print_stream_head(framing_));
        }
        send(print_piece(piece, framing_));
    }
    void send_end() {
        is_complete_ = true;
        send(print_stream_end(framing_));
    }

    void send(const std::string& text) {
        waiting_ += text;
        if (!is_writing_) write();
    }
    void write() {
        if (waiting_.empty()) {
            if (is_complete_) finish();
            return;
        }
        is_writing_ = true;
        out_ = std::exchange(waiting_, {});
        stream_.expires_after(hub_.settings.transfer_time);
        asio::async_write(stream_, asio::buffer(out_), handler([this](const ErrorCode& error, size_t) {
                              is_writing_ = false;
                              if (error) return close();
                              write();
                          }));
    }

    /// The answer is written.
    void finish() {
        cancel_ = {};
        is_answering_ = is_complete_ = has_begun_ = false;
        if (!framing_.keeps_alive || hub_.is_draining) return linger();
        if (!is_watching_) return read_head();
        stream_.cancel();  // then the watch reads the next head
    }

    /// Lets the client read the answer before the connection is closed: bytes that nobody has read would
    /// reset it.
    void linger() {
        if (is_watching_) return close();
        ErrorCode ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        stream_.expires_after(kLinger);
        read_refused(0);
    }
    void read_refused(size_t so_far) {
        buffer_.clear();
        stream_.async_read_some(buffer_.prepare(16384),
                                handler([this, so_far](const ErrorCode& error, size_t bytes) {
                                    if (error || so_far + bytes > kMostRefused) return close();
                                    read_refused(so_far + bytes);
                                }));
    }

    Hub& hub_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    RequestHead head_;
    Framing framing_;
    std::function<void()> cancel_;
    std::string waiting_;  ///< to be written after `out_`
    std::string out_;
    bool is_idle_ = false;
    bool is_answering_ = false;
    bool is_watching_ = false;
    bool is_writing_ = false;
    bool has_begun_ = false;    ///< a stream
    bool is_complete_ = false;  ///< everything is in `waiting_` and `out_`
    bool is_closed_ = false;
};

}  // namespace

struct HttpServer::Contents {
    Contents(Service& service, const ServerSettings& settings)
        : io(std::make_shared<asio::io_context>(1)),
          hub{service, settings, io, {}, false, {}},
          acceptor(*io),
          pause(*io),
          deadline(*io),
          signals(*io) {
        hub.on_close = [this] {
            if (hub.is_draining && hub.open.empty()) deadline.cancel();
            if (!is_accepting) accept();
        };
    }

    void accept() {
        is_accepting = !hub.is_draining && hub.open.size() < hub.settings.connections;
        if (!is_accepting) return;
        acceptor.async_accept([this](const ErrorCode& error, tcp::socket socket) {
            if (hub.is_draining) return;
            if (!error) {
                std::make_shared<Connection>(std::move(socket), hub)->start();
                return accept();
            }
            // Mostly too many open files: trying again at once would be a loop.
            pause.expires_after(kAcceptPause);
            pause.async_wait([this](const ErrorCode&) { accept(); });
        });
    }

    void stop() {
        if (std::exchange(hub.is_draining, true)) return;
        hub.service.drain();
        ErrorCode ignored;
        acceptor.close(ignored);
        pause.cancel();
        signals.clear(ignored);
        signals.cancel(ignored);
        for (const auto& connection : std::vector(hub.open.begin(), hub.open.end())) connection->drain();
        if (hub.open.empty()) return;
        deadline.expires_after(hub.settings.drain_time);
        deadline.async_wait([this](const ErrorCode& error) {
            if (error) return;
            for (const auto& connection : std::vector(hub.open.begin(), hub.open.end())) connection->close();
        });
    }

    std::shared_ptr<asio::io_context> io;
    Hub hub;
    tcp::acceptor acceptor;
    asio::steady_timer pause;
    asio::steady_timer deadline;
    asio::signal_set signals;
    bool is_accepting = false;
};

HttpServer::HttpServer(Service& service, const ServerSettings& settings)
    : contents_(std::make_unique<Contents>(service, settings)) {
    const std::string where = fmt::format("{} port {}", settings.address, settings.port);
    ErrorCode error;
    const auto address = asio::ip::make_address(settings.address, error);
    if (error)
        throw Error(where, "", "is no numeric address of IP", "127.0.0.1, ::1 or 0.0.0.0", ErrorKind::kUsage);
    try {
        const tcp::endpoint endpoint(address, settings.port);
        contents_->acceptor.open(endpoint.protocol());
        contents_->acceptor.set_option(tcp::acceptor::reuse_address(true));
        contents_->acceptor.bind(endpoint);
        contents_->acceptor.listen();
    } catch (const boost::system::system_error& failure) {
        throw Error(where, "", "cannot be listened at: " + failure.code().message(),
                    "choose another --port or --host");
    }
    contents_->accept();
}

HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const {
    return contents_->acceptor.local_endpoint().port();
}

void HttpServer::stop_on_signals() {
    contents_->signals.add(SIGTERM);
    contents_->signals.add(SIGINT);
    contents_->signals.async_wait([contents = contents_.get()](const ErrorCode& error, int) {
        if (!error) contents->stop();
    });
}

void HttpServer::run() {
    contents_->io->run();
}

void HttpServer::stop() {
    asio::post(*contents_->io, [contents = contents_.get()] { contents->stop(); });
}

}  // namespace tessera::serve
