#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/serve/api_error.h"

namespace tessera::serve {

/// An answer of HTTP.
struct Reply {
    int status = 200;
    std::string body = {};
    std::string type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers = {};
};

Reply reply_of(const ApiError& error, Api api = Api::kOpenAi);

/// Takes an answer, from any thread: either `whole` once, or pieces of a stream and `end`.
struct ReplySink {
    std::function<void(Reply)> whole;
    std::function<void(std::string)> piece;
    std::function<void()> end;
};

}  // namespace tessera::serve
