#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "support/json.h"
#include "tessera/grammar.h"

namespace tessera::serve {

/// The grammar of `response_format` and `grammar` of a request. `body`: the text of the document, which keeps
/// the order of a schema's members. @throws ApiError
std::optional<Grammar> read_grammar(const JsonCursor& root, std::string_view body);
/// The grammar of a schema under these keys of the document. @throws ApiError
Grammar read_schema(const JsonCursor& schema, std::string_view body,
                    const std::vector<std::string_view>& keys);

}  // namespace tessera::serve
