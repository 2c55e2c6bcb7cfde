#include "machine/toml_document.h"

#include <fstream>
#include <utility>

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::machine {
namespace {

// A parsed document takes thirty times the memory of its text.
constexpr size_t kLongestToml = 1 << 20;

std::string first_line_of(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

TomlDocument::TomlDocument(std::string_view text, std::string where) : where_(std::move(where)) {
    if (text.size() > kLongestToml)
        throw Error(
            where_, "",
            fmt::format("is {} bytes long, more than the {} that are read", text.size(), kLongestToml));
    try {
        table_ = toml::parse(text, where_);
    } catch (const toml::parse_error& error) {
        throw Error(fmt::format("{}:{}", where_, error.source().begin.line), "",
                    first_line_of(error.description()), "the file must be TOML 1.0");
    }
}

std::string read_toml_text(const std::filesystem::path& path, std::string_view what) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path))
        throw Error(path.string(), "", fmt::format("cannot read the {} file", what));
    std::string text(kLongestToml + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
    if (text.size() > kLongestToml)
        throw Error(path.string(), "",
                    fmt::format("is larger than {} bytes, so it is no {} file", kLongestToml, what));
    return text;
}

}  // namespace tessera::machine
