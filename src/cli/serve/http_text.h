#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/serve/reply.h"

/// HTTP as text: what the server writes, and the targets that it reads.
namespace tessera::serve {

struct Framing {
    bool keeps_alive = true;  ///< the connection takes another request
    bool is_head = false;     ///< the request was HEAD: no body follows
    bool in_chunks = true;    ///< of streams; HTTP/1.0 has none, and ends with the connection
    std::vector<std::pair<std::string, std::string>> headers = {};  ///< of the answer, whatever it is
};

/// A whole answer.
std::string print(const Reply& reply, const Framing& framing);
/// The head of a stream of this type, a piece of it, and its end.
std::string print_stream_head(std::string_view type, const Framing& framing);
std::string print_piece(std::string_view piece, const Framing& framing);
std::string print_stream_end(const Framing& framing);

/// "/v1/models/a%2Fb/?x=y" and "http://host/v1/models/a/b" are "/v1/models/a/b": without a query, the host of
/// the absolute form (RFC 9112, 3.2.2) and a slash at the end. A % that no two digits follow stays.
std::string path_of(std::string_view target);

}  // namespace tessera::serve
