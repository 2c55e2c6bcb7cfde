#include "cli/serve/http_server.h"

#include <algorithm>
#include <csignal>
#include <deque>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include "cli/serve/connection.h"
#include "cli/serve/listen.h"
#include "support/error.h"

namespace tessera::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Stage = Connection::Stage;

constexpr std::chrono::milliseconds kAcceptPause{100};
/// Connections beyond all places: for /health, and to tell clients that there is no place.
constexpr size_t kExtra = 16;
/// The time for answers that are ended when the server stops.
constexpr std::chrono::seconds kFarewell{3};

/// True if `a` gives its place to a new client sooner than `b`: silent ones first, then incomplete requests,
/// then clients that do not read; among equals, the one that has not moved for longest.
bool gives_way_before(const Connection& a, const Connection& b) {
    const auto rank = [](const Connection& one) {
        return one.stage() == Stage::kIdle ? 0 : one.stage() == Stage::kLingering ? 2 : 1;
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.last_progress() < b.last_progress();
}

}  // namespace

struct HttpServer::Contents {
    struct Listener {
        tcp::acceptor acceptor;
        asio::steady_timer pause;
    };

    Contents(Service& service, const ServerSettings& settings)
        : io(std::make_shared<asio::io_context>(1)),
          hub{.service = service, .settings = settings, .io = io},
          deadline(*io),
          signals(*io) {
        hub.on_close = [this] {
            if (hub.is_draining && hub.open.empty()) deadline.cancel();
        };
        for (tcp::acceptor& acceptor : listen(*io, settings.address, settings.port))
            listeners.push_back({std::move(acceptor), asio::steady_timer(*io)});
        for (Listener& listener : listeners) accept(listener);
    }

    void accept(Listener& listener) {
        listener.acceptor.async_accept([this, &listener](const ErrorCode& error, tcp::socket socket) {
            if (hub.is_draining) return;
            if (!error) {
                admit(std::move(socket));
                return accept(listener);
            }
            // Mostly too many open files: an immediate retry would loop.
            (void)make_room(false);
            listener.pause.expires_after(kAcceptPause);
            listener.pause.async_wait([this, &listener](const ErrorCode& stopped) {
                if (!stopped) accept(listener);
            });
        });
    }

    void admit(tcp::socket socket) {
        const bool is_extra = hub.count(false) >= hub.settings.connections && !make_room(false);
        if (is_extra && hub.count(true) >= kExtra && !make_room(true)) return;
        std::make_shared<Connection>(std::move(socket), hub, is_extra)->start();
    }

    /// Closes the first connection to give way, if there is one.
    bool make_room(bool among_extra) {
        std::shared_ptr<Connection> first;
        for (const auto& one : hub.open)
            if (one->is_extra() == among_extra && one->stage() != Stage::kAnswering &&
                (!first || gives_way_before(*one, *first)))
                first = one;
        if (first) first->evict();
        return first != nullptr;
    }

    void for_all(void (Connection::*act)()) {
        for (const auto& connection : std::vector(hub.open.begin(), hub.open.end()))
            (connection.get()->*act)();
    }

    void stop() {
        if (std::exchange(hub.is_draining, true)) return;
        hub.service.drain();
        ErrorCode ignored;
        for (Listener& listener : listeners) {
            listener.acceptor.close(ignored);
            listener.pause.cancel();
        }
        signals.clear(ignored);
        signals.cancel(ignored);
        for_all(&Connection::drain);
        after(hub.settings.drain_time, [this] {
            for_all(&Connection::interrupt);
            after(kFarewell, [this] { for_all(&Connection::close); });
        });
    }

    /// Does nothing once nobody is left.
    template <typename Act>
    void after(std::chrono::milliseconds time, Act act) {
        if (hub.open.empty()) return;
        deadline.expires_after(time);
        deadline.async_wait([act](const ErrorCode& error) {
            if (!error) act();
        });
    }

    std::shared_ptr<asio::io_context> io;
    Hub hub;
    std::deque<Listener> listeners;
    asio::steady_timer deadline;
    asio::signal_set signals;
};

HttpServer::HttpServer(Service& service, const ServerSettings& settings)
    : contents_(std::make_unique<Contents>(service, settings)) {}

HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const {
    return contents_->listeners.front().acceptor.local_endpoint().port();
}

void HttpServer::stop_on_signals() {
    contents_->signals.add(SIGTERM);
    contents_->signals.add(SIGINT);
    struct sigaction before {};
    if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
        contents_->signals.add(SIGHUP);
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
