#pragma once

#include <string_view>

namespace tessera::serve {

/// The APIs that clients speak here. They differ in the form of errors and of streams.
enum class Api {
    kOpenAi,  ///< events, and {"error": {"message": .., "type": .., "param": .., "code": ..}}
    kOllama,  ///< lines of JSON, and {"error": ".."}
};

/// That of a path: Ollama's are below /api.
constexpr Api api_of(std::string_view path) {
    return path.starts_with("/api/") ? Api::kOllama : Api::kOpenAi;
}

constexpr std::string_view stream_type(Api api) {
    return api == Api::kOllama ? "application/x-ndjson" : "text/event-stream; charset=utf-8";
}

}  // namespace tessera::serve
