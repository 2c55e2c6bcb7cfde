#include "import/npy/npy_header.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error.h"

// A file begins so, numbers little-endian:
//
//     93 'N' 'U' 'M' 'P' 'Y'   major minor   length of the dictionary: 2 bytes in version 1, else 4
//     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 40), }      spaces, line break
//
// The dictionary is text that Python could evaluate; what NumPy writes needs strings, two words and a tuple.

namespace tessera::import {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kNpyAlignment = 64;
/// NumPy itself refuses to evaluate more than 10,000 characters.
constexpr size_t kLongestDictionary = 10'000;
constexpr size_t kMostNpyAxes = 16;
constexpr int64_t kLargestNpyExtent = int64_t{1} << 40;

class DictionaryParser {
public:
    DictionaryParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    NpyHeader run() {
        expect('{');
        while (!take('}')) {
            entry();
            if (!take(',')) {
                expect('}');
                break;
            }
        }
        if (skip_spaces(); at_ != text_.size()) fail("the end");
        for (const auto& [key, is_there] : {std::pair{"descr", type_.has_value()},
                                            {"fortran_order", order_.has_value()},
                                            {"shape", shape_.has_value()}})
            if (!is_there) throw Error(where_, key, "is missing in the header");
        return {std::move(*type_), *order_, std::move(*shape_), 0};
    }

private:
    [[noreturn]] void fail(std::string_view expected) const {
        throw Error(where_, "",
                    fmt::format("has a header with {} at character {}, expected {}",
                                at_ < text_.size() ? fmt::format("`{}`", text_.substr(at_, 1))
                                                   : std::string("its end"),
                                at_, expected));
    }

    void skip_spaces() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    }
    bool take(char c) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!take(c)) fail(fmt::format("`{}`", c));
    }
    bool take_word(std::string_view word) {
        skip_spaces();
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }

    /// Without escapes, which no type and no key has.
    std::string quoted() {
        skip_spaces();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"') fail("a text in quotes");
        const size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) fail("a text that ends");
        std::string text(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return text;
    }

    void entry() {
        const std::string key = quoted();
        expect(':');
        if (key == "descr") {
            if (skip_spaces(); at_ < text_.size() && text_[at_] == '[')
                throw Error(where_, "descr", "describes records, expected an array of numbers");
            once(type_, key, quoted());
        } else if (key == "fortran_order") {
            once(order_, key, boolean());
        } else if (key == "shape") {
            once(shape_, key, shape());
        } else {
            throw Error(where_, key, "is an unknown key of the header");
        }
    }

    template <class T>
    void once(std::optional<T>& field, const std::string& key, T value) {
        if (field) throw Error(where_, key, "occurs twice in the header");
        field = std::move(value);
    }

    bool boolean() {
        if (take_word("True")) return true;
        if (!take_word("False")) fail("True or False");
        return false;
    }

    std::vector<int64_t> shape() {
        std::vector<int64_t> extents;
        expect('(');
        while (!take(')')) {
            if (extents.size() == kMostNpyAxes)
                throw Error(where_, "shape", fmt::format("has more than {} axes", kMostNpyAxes));
            extents.push_back(extent());
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return extents;
    }

    int64_t extent() {
        skip_spaces();
        int64_t number = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
        if (error != std::errc() || number < 0 || number > kLargestNpyExtent)
            fail(fmt::format("an extent of 0 to {}", kLargestNpyExtent));
        at_ = static_cast<size_t>(end - text_.data());
        return number;
    }

    std::string_view text_;
    const std::string& where_;
    size_t at_ = 0;
    std::optional<std::string> type_;
    std::optional<bool> order_;
    std::optional<std::vector<int64_t>> shape_;
};

size_t byte_at(std::string_view file, size_t at) {
    return static_cast<unsigned char>(file[at]);
}

}  // namespace

NpyHeader parse_npy_header(std::string_view file, const std::string& where) {
    if (!file.starts_with(kNpyMagic))
        throw Error(where, "", "is not a NumPy file", "`numpy.save` writes one (.npy)");
    const size_t version = kNpyMagic.size();
    if (file.size() < version + 2) throw Error(where, "", "is truncated within its header");
    const size_t major = byte_at(file, version), minor = byte_at(file, version + 1);
    if (major < 1 || major > 3 || minor != 0)
        throw Error(where, "",
                    fmt::format("has version {}.{} of the format, expected 1.0, 2.0 or 3.0", major, minor));
    const size_t digits = major == 1 ? 2 : 4;
    const size_t begin = version + 2 + digits;
    if (file.size() < begin) throw Error(where, "", "is truncated within its header");
    size_t length = 0;
    for (size_t i = 0; i < digits; ++i) length |= byte_at(file, version + 2 + i) << 8 * i;
    if (length > kLongestDictionary)
        throw Error(
            where, "",
            fmt::format("has a header of {} characters, at most {} are read", length, kLongestDictionary));
    if (length > file.size() - begin) throw Error(where, "", "is truncated within its header");
    NpyHeader header = DictionaryParser(file.substr(begin, length), where).run();
    header.bytes = begin + length;
    return header;
}

std::string print_npy_header(const NpyHeader& header) {
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", header.type,
                    fmt::join(header.shape, ", "), header.shape.size() == 1 ? "," : "");
    const size_t fixed = kNpyMagic.size() + 4;
    const size_t whole = (fixed + text.size() + 1 + kNpyAlignment - 1) / kNpyAlignment * kNpyAlignment;
    text.append(whole - fixed - text.size() - 1, ' ');
    text += '\n';
    TESSERA_CHECK(text.size() < 65536, "{} axes", header.shape.size());
    std::string bytes(kNpyMagic);
    bytes += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
    return bytes + text;
}

}  // namespace tessera::import
