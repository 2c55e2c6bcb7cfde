#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/serve/parse_request.h"
#include "support/json.h"

namespace tessera::serve {

/// Reads a body with `read`, and refuses fields that were not read. @throws ApiError
void read_body(std::string_view body, const std::function<void(const JsonCursor& root)>& read);
/// Reads the fields of TextRequest but `likeliest`. `body`: the text of the document; `usual`: the options of
/// sampling that it does not have. @throws ApiError
TextRequest read_text_fields(const JsonCursor& root, std::string_view body, const SamplingOptions& usual);
/// Reads those that all APIs name alike: temperature, top_p, top_k, min_p, typical_p, frequency_penalty and
/// presence_penalty. @throws Error
void read_common_sampling(const JsonCursor& root, SamplingOptions& sampling);
/// A text or a list of texts that end an answer. @throws Error
std::vector<std::string> read_stops(const JsonCursor& field);
bool is_text(const JsonCursor& field, std::string_view text);
/// A whole number, however it is written: R and JavaScript send 3.0. @throws Error as JsonCursor::integer
int64_t whole_number(const JsonCursor& field, int64_t low = INT64_MIN, int64_t high = INT64_MAX);
/// @throws ApiError with the code `unsupported_parameter`
[[noreturn]] void refuse_field(const JsonCursor& field, std::string_view why);

}  // namespace tessera::serve
