#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "support/json.h"
#include "tessera/grammar.h"

namespace tessera::serve {

/// What `response_format` and `grammar` of a request ask for. `body`: the text of the document, in which the
/// members of a schema have their order. @throws ApiError
std::optional<Grammar> read_grammar(const JsonCursor& root, std::string_view body);
/// Of a schema that stands in the document under these keys. @throws ApiError
Grammar read_schema(const JsonCursor& schema, std::string_view body,
                    const std::vector<std::string_view>& keys);

}  // namespace tessera::serve
