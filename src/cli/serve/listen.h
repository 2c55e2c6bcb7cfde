#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tessera::serve {

/// Listens at every address that `host` stands for: a number ("127.0.0.1", "::1", "[::1]") or a name
/// ("localhost"), all of them at one port. `port` 0: any that is free.
/// @throws Error where no address can be had.
std::vector<boost::asio::ip::tcp::acceptor> listen(boost::asio::io_context& io, const std::string& host,
                                                   uint16_t port);

/// "[::1]" is "::1".
std::string without_brackets(const std::string& host);

}  // namespace tessera::serve
