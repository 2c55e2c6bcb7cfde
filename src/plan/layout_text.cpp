#include "plan/layout_text.h"

#include <cctype>
#include <charconv>

#include "support/error.h"

namespace tessera {
namespace {

constexpr int64_t kLargestAxis = 64;
constexpr int64_t kLargestLane = 4096;

class LayoutParser {
public:
    LayoutParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    Layout layout() {
        Layout result;
        if (take("row-major")) {
            finish();
            return result;
        }
        if (take("order")) {
            expect("[");
            do {
                result.order.push_back(static_cast<int>(number(kLargestAxis)));
            } while (take(","));
            expect("]");
        }
        if (take("lanes")) {
            expect("<");
            do {
                const auto axis = static_cast<int>(number(kLargestAxis));
                expect(":");
                result.lanes.push_back({axis, number(kLargestLane)});
            } while (take(","));
            expect(">");
        }
        if (result.order.empty() && result.lanes.empty()) fail("expected row-major, order [..] or lanes <..>");
        finish();
        return result;
    }

private:
    [[noreturn]] void fail(const std::string& problem) const {
        throw Error(where_, std::string(text_), fmt::format("is no layout: {} at position {}", problem, at_ + 1));
    }
    bool take(std::string_view token) {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
        if (text_.substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) fail(fmt::format("expected {}", token));
    }
    int64_t number(int64_t largest) {
        (void)take("");
        int64_t value = -1;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc() || value < 0 || value > largest) fail(fmt::format("expected a number up to {}", largest));
        at_ = static_cast<size_t>(end - text_.data());
        return value;
    }
    void finish() {
        (void)take("");
        if (at_ != text_.size()) fail("expected the end");
    }

    std::string_view text_;
    const std::string& where_;
    size_t at_ = 0;
};

}  // namespace

Layout parse_layout(std::string_view text, const std::string& where) { return LayoutParser(text, where).layout(); }

}  // namespace tessera
