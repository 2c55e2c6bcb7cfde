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

/// Where a text comes from: the template and those who call it, or a message, a tool, a document.
enum class Origin { kTemplate, kForeign };

/// A string that remembers which of its bytes are foreign. Every operation on texts keeps the origin of each
/// byte, so that what a user wrote can be told from the template around it after rendering.
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

    /// The bytes count, not their origin.
    bool operator==(const Text& other) const { return bytes_ == other.bytes_; }
    auto operator<=>(const Text& other) const { return bytes_ <=> other.bytes_; }

private:
    std::string bytes_;
    std::vector<ByteRange> foreign_;
};

/// Characters of a text: where each begins, and the end of the text behind them. A byte that is no UTF-8 is a
/// character of its own.
std::vector<size_t> character_offsets(std::string_view bytes);

/// The first character of a text that is not empty. A byte that is no UTF-8 has the code point -1.
struct Character {
    int code_point = -1;
    size_t size = 1;
};
Character first_character(std::string_view bytes);

/// White space as Python's `str.isspace` has it.
bool is_space(int code_point);
/// The text without white space at its ends.
std::string_view trim_left(std::string_view bytes);
std::string_view trim_right(std::string_view bytes);

}  // namespace tessera::jinja
