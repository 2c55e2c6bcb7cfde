#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/serve/parse_request.h"

namespace tessera::serve {

struct ResponsesRequest {
    ChatRequest chat;
    nlohmann::ordered_json
        echo;  ///< fields of the request that its answer repeats, those with defaults among them
};

/// The body of /v1/responses as that of a chat: pure, as parse_request.h.
/// @throws ApiError as there, and for what needs answers that a server keeps, or tools of OpenAI's own
ResponsesRequest parse_responses(std::string_view body, const SamplingOptions& usual = {.temperature = 1});

}  // namespace tessera::serve
