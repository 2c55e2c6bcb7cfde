#include "fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string_view>

namespace tessera::fuzz {
namespace {

constexpr std::array<std::string_view, 22> kNumbers = {"0",
                                                       "-0",
                                                       "-1",
                                                       "1",
                                                       "255",
                                                       "256",
                                                       "65536",
                                                       "2147483647",
                                                       "2147483648",
                                                       "4294967295",
                                                       "4294967296",
                                                       "9223372036854775807",
                                                       "9223372036854775808",
                                                       "-9223372036854775808",
                                                       "18446744073709551615",
                                                       "18446744073709551616",
                                                       "1e308",
                                                       "1e999",
                                                       "1e-400",
                                                       "0.5",
                                                       "NaN",
                                                       "1152921504606846976"};

constexpr std::array<std::string_view, 18> kWords = {"null",
                                                     "true",
                                                     "{}",
                                                     "[]",
                                                     "\"\"",
                                                     "[[",
                                                     "{\"a\":",
                                                     "\\ud800",
                                                     "\xff",
                                                     "\xf0\x9f\x98\x80",
                                                     std::string_view("\0", 1),
                                                     ",",
                                                     "\"",
                                                     "]",
                                                     "}",
                                                     "..",
                                                     "/",
                                                     "\n"};

constexpr std::array<uint64_t, 14> kValues = {
    0,          1,          2,           0x7f,       0xff,       0xffff,     0x7fffffff,
    0x80000000, 0xffffffff, 0x100000000, 1ull << 40, 1ull << 62, 1ull << 63, 0xffffffffffffffff};

class Mutator {
public:
    Mutator(std::string input, const std::vector<std::string>& others, Random& random)
        : text_(std::move(input)), others_(others), random_(random) {}

    std::string run() {
        for (size_t left = 1 + below(4); left > 0; --left) step();
        return std::move(text_);
    }

private:
    size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
    size_t anywhere() { return below(text_.size() + 1); }
    /// A short part more often than a long one.
    size_t part(size_t at) {
        const size_t most = size_t{1} << below(12);
        return std::min(1 + below(most), text_.size() - at);
    }

    void step() {
        switch (below(12)) {
            case 0:
                if (!text_.empty()) text_[below(text_.size())] ^= static_cast<char>(1 << below(8));
                return;
            case 1:
                if (!text_.empty()) text_[below(text_.size())] = static_cast<char>(random_());
                return;
            case 2:
                text_.resize(anywhere());
                return;
            case 3:
            case 4:
                return binary_number();
            case 5:
            case 6:
                return text_number();
            case 7: {
                const size_t at = anywhere();
                text_.erase(at, part(at));
                return;
            }
            case 8: {
                const size_t at = anywhere();
                const std::string copy = text_.substr(at, part(at));
                for (size_t times = 1 + below(3); times > 0; --times) text_.insert(anywhere(), copy);
                return;
            }
            case 9:
                return splice();
            case 10:
                text_.insert(anywhere(), kWords[below(kWords.size())]);
                return;
            default:
                return nest();
        }
    }

    void binary_number() {
        constexpr std::array<size_t, 4> kWidths = {1, 2, 4, 8};
        const size_t width = kWidths[below(kWidths.size())];
        if (text_.size() < width) return;
        const uint64_t value =
            below(3) == 0 ? text_.size() - 2 + below(5) : kValues[below(kValues.size())] - below(2);
        std::memcpy(text_.data() + below(text_.size() - width + 1), &value, width);
    }

    void text_number() {
        const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
        const auto begin =
            std::find_if(text_.begin() + static_cast<std::ptrdiff_t>(anywhere()), text_.end(), is_digit);
        const auto end = std::find_if_not(begin, text_.end(), is_digit);
        if (begin != end) text_.replace(begin, end, kNumbers[below(kNumbers.size())]);
    }

    void splice() {
        if (others_.empty()) return;
        const std::string& other = others_[below(others_.size())];
        const size_t at = below(other.size() + 1);
        const std::string piece = other.substr(at, 1 + below(size_t{1} << below(14)));
        if (below(2) == 0) text_.resize(anywhere());
        text_.insert(anywhere(), piece);
    }

    void nest() {
        constexpr std::array<std::string_view, 6> kOpen = {"[", "{\"a\":", "(", "{", "-", "[{\"a\":"};
        const std::string_view open = kOpen[below(kOpen.size())];
        std::string many;
        for (size_t times = size_t{1} << below(14); times > 0; --times) many += open;
        text_.insert(anywhere(), many);
    }

    std::string text_;
    const std::vector<std::string>& others_;
    Random& random_;
};

}  // namespace

std::string mutate(std::string input, const std::vector<std::string>& others, size_t longest,
                   Random& random) {
    std::string result = Mutator(std::move(input), others, random).run();
    if (result.size() > longest) result.resize(longest);
    return result;
}

}  // namespace tessera::fuzz
