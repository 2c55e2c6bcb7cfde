#include "cli/serve/api_error.h"

#include <nlohmann/json.hpp>

#include "support/printable.h"

namespace tessera::serve {
namespace {

const char* type_of(int status) {
    if (status == 401) return "authentication_error";
    if (status == 503 || status == 504) return "overloaded_error";
    return status >= 500 ? "server_error" : "invalid_request_error";
}

nlohmann::ordered_json text_or_null(const std::string& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(valid_utf8(text));
}

}  // namespace

std::string print(const ApiError& error, Api api) {
    if (api == Api::kOllama) return nlohmann::ordered_json{{"error", valid_utf8(error.message)}}.dump();
    const nlohmann::ordered_json all = {{"error",
                                         {{"message", valid_utf8(error.message)},
                                          {"type", type_of(error.status)},
                                          {"param", text_or_null(error.param)},
                                          {"code", text_or_null(error.code)}}}};
    return all.dump();
}

}  // namespace tessera::serve
