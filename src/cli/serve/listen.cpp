#include "cli/serve/listen.h"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/v6_only.hpp>

#include "support/error.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

std::vector<asio::ip::address> addresses_of(asio::io_context& io, const std::string& host) {
    ErrorCode error;
    const auto number = asio::ip::make_address(host, error);
    if (!error) return {number};
    tcp::resolver resolver(io);
    std::vector<asio::ip::address> addresses;
    for (const auto& entry : resolver.resolve(host, "", tcp::resolver::passive, error)) {
        const asio::ip::address address = entry.endpoint().address();
        if (std::find(addresses.begin(), addresses.end(), address) == addresses.end())
            addresses.push_back(address);
    }
    // The older protocol first: at a port that is free, its number is that of the others.
    std::stable_sort(addresses.begin(), addresses.end(),
                     [](const auto& a, const auto& b) { return a.is_v4() && !b.is_v4(); });
    return addresses;
}

void open(tcp::acceptor& acceptor, const tcp::endpoint& endpoint, ErrorCode& error) {
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    // Otherwise "::" could take the port of "0.0.0.0" as well.
    if (!error && endpoint.protocol() == tcp::v6() && !endpoint.address().is_unspecified())
        acceptor.set_option(asio::ip::v6_only(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
}

}  // namespace

std::string without_brackets(const std::string& host) {
    const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    return has_brackets ? host.substr(1, host.size() - 2) : host;
}

std::vector<tcp::acceptor> listen(asio::io_context& io, const std::string& host, uint16_t port) {
    const std::string where = fmt::format("{} port {}", printable(host), port);
    const auto addresses = addresses_of(io, without_brackets(host));
    if (addresses.empty())
        throw Error(where, "", "is neither an address of IP nor a name that stands for one",
                    "127.0.0.1, ::1, localhost or 0.0.0.0", ErrorKind::kUsage);
    std::vector<tcp::acceptor> acceptors;
    ErrorCode fault;
    for (const asio::ip::address& address : addresses) {
        tcp::acceptor acceptor(io);
        ErrorCode error;
        open(acceptor, tcp::endpoint(address, port), error);
        // A name may stand for an address of a protocol that the machine does not have.
        if (error == asio::error::address_family_not_supported ||
            error == boost::system::errc::address_not_available) {
            fault = error;
            continue;
        }
        if (error)
            throw Error(where, "", "cannot be listened at: " + error.message(),
                        "choose another --port or --host");
        port = acceptor.local_endpoint().port();
        acceptors.push_back(std::move(acceptor));
    }
    if (acceptors.empty())
        throw Error(where, "", "cannot be listened at: " + fault.message(),
                    "choose another --port or --host");
    return acceptors;
}

}  // namespace tessera::serve
