#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::jinja {

/// Bytes [begin, end) of a text.
struct ByteRange {
    size_t begin = 0;
    size_t end = 0;
    bool operator==(const ByteRange&) const = default;
};

/// The source of a text: the template and its caller, or a message, a tool, a document.
enum class Origin { kTemplate, kForeign };

/// A string that remembers which of its bytes are foreign. Every operation on texts keeps the origin of each
/// byte, so that a user's text can be told from the template around it after rendering.
class Text {
public:
    Text() = default;
    explicit Text(std::string bytes, Origin origin = Origin::kTemplate);

    const std::string& bytes() const { return bytes_; }
    size_t size() const { return bytes_.size(); }
    bool empty() const { return bytes_.empty(); }
    /// Ascending, apart from each other, none empty.
    const std::vector<ByteRange>& foreign() const { return foreign_; }
    Origin origin_at(size_t byte) const;

    Text& append(const Text& text);
    Text& append(std::string_view bytes, Origin origin = Origin::kTemplate);
    /// Bytes [begin, end). @pre begin <= end <= size()
    Text slice(size_t begin, size_t end) const;

    /// Compares bytes, not their origin.
    bool operator==(const Text& other) const { return bytes_ == other.bytes_; }
    auto operator<=>(const Text& other) const { return bytes_ <=> other.bytes_; }

private:
    std::string bytes_;
    std::vector<ByteRange> foreign_;
};

/// The offset of each character of a text, and of its end. A byte that is not UTF-8 is a character of its
/// own.
std::vector<size_t> character_offsets(std::string_view bytes);

/// The first character of a non-empty text. A byte that is not UTF-8 has the code point -1.
struct Character {
    int code_point = -1;
    size_t size = 1;
};
Character first_character(std::string_view bytes);

/// White space as in Python's `str.isspace`.
bool is_space(int code_point);
/// The text without white space at its ends.
std::string_view trim_left(std::string_view bytes);
std::string_view trim_right(std::string_view bytes);

}  // namespace tessera::jinja
