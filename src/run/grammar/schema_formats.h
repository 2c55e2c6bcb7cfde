#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::grammar {

/// The meaning of a `format`.
struct SchemaFormat {
    enum class Kind {
        kText,     ///< strings that match `pattern`
        kInteger,  ///< numbers from `low` to `high`
        kRemark    ///< nothing that a text could violate
    };
    Kind kind = Kind::kRemark;
    std::string pattern = {};  ///< as in regular_expression.h
    const char* low = "";
    const char* high = "";
};

/// The formats of JSON Schema 2020-12 and OpenAPI, and those that pydantic writes, as far as a finite
/// automaton can follow them; none for others. Only everyday texts are generated: domain names of letters,
/// digits and hyphens, mail addresses without comments and quotes, fractions of seconds down to microseconds.
std::optional<SchemaFormat> find_format(std::string_view name);

}  // namespace tessera::grammar
