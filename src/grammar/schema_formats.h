#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::grammar {

/// What a `format` asks for.
struct SchemaFormat {
    enum class Kind {
        kText,     ///< strings that match `pattern`
        kInteger,  ///< numbers from `low` to `high`
        kRemark    ///< nothing that a text could break
    };
    Kind kind = Kind::kRemark;
    std::string pattern = {};  ///< as in regular_expression.h
    const char* low = "";
    const char* high = "";
};

/// The formats of JSON Schema 2020-12 and OpenAPI, and those that pydantic writes, as far as a finite
/// automaton can follow them. Of what a format allows, everyday texts come: domain names of letters, digits
/// and hyphens, mail addresses without comments and quotes, fractions of seconds down to microseconds. None
/// for others.
std::optional<SchemaFormat> find_format(std::string_view name);

}  // namespace tessera::grammar
