#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "machine/toml_fields.h"

namespace tessera::machine {

/// A TOML text of bounded length. @throws Error with "FILE:LINE" for text that is no TOML.
class TomlDocument {
public:
    TomlDocument(std::string_view text, std::string where);
    /// Refers to the document.
    TomlFields fields() const { return {table_, where_}; }
    const toml::table& table() const { return table_; }

private:
    std::string where_;
    toml::table table_;
};

/// The text of such a file, of which `what` says what it should be. @throws Error if it cannot be read or is
/// too long.
std::string read_toml_text(const std::filesystem::path& path, std::string_view what);

}  // namespace tessera::machine
