#include "run/grammar/number_texts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

// The automaton is explored: a state is what has to be remembered of the characters before. For a bound that
// is how the digits so far compare with as many of its own. Until the point it is not known which digits
// stand above each other:
//
//     bound 138      "1" is equal, "13" is equal, "14" is above
//                    "2" at the end of the digits is below, since 138 has more; "1380" is above, since it has
//                    fewer
//
// Behind the point digits stand above each other. For a factor 25 * 10^-2 it is the remainder of the digits
// down to the second behind the point by 25; further ones are zeros.

namespace tessera::grammar {
namespace {

constexpr int64_t kMostExponent = 400;
constexpr int64_t kMostFactor = 10'000;

/// A bound's absolute value.
struct Magnitude {
    std::string whole;  ///< digits before the point; empty: 0
    std::string fraction;
};

Magnitude magnitude_of(const Decimal& value) {
    if (value.digits.empty()) return {};
    const auto count = static_cast<int64_t>(value.digits.size());
    if (value.exponent >= 0)
        return {value.digits + std::string(static_cast<size_t>(value.exponent), '0'), ""};
    const int64_t places = -value.exponent;
    if (places >= count) return {"", std::string(static_cast<size_t>(places - count), '0') + value.digits};
    return {value.digits.substr(0, static_cast<size_t>(count - places)),
            value.digits.substr(static_cast<size_t>(count - places))};
}

std::strong_ordering compare(const Magnitude& a, const Magnitude& b) {
    if (a.whole.size() != b.whole.size()) return a.whole.size() <=> b.whole.size();
    if (const auto order = a.whole <=> b.whole; order != 0) return order;
    return a.fraction <=> b.fraction;  // neither ends in zeros
}

/// The bounds of numbers of one sign, by their absolute values; unset `high`: none.
struct Side {
    bool exists = true;
    bool is_low_open = false;
    bool is_high_open = false;
    Magnitude low = {};
    std::optional<Magnitude> high = {};
};

Side side_of(const NumberTexts& wanted, bool is_negative) {
    const auto& near = is_negative ? wanted.high : wanted.low;
    const auto& far = is_negative ? wanted.low : wanted.high;
    Side side;
    if (far) {
        // Zero has no sign here: "-0" comes only where numbers below it do.
        if (is_negative ? !far->is_negative : far->is_negative) return {.exists = false};
        side.high = magnitude_of(*far);
        side.is_high_open = is_negative ? wanted.is_low_open : wanted.is_high_open;
    }
    // A bound of zero is one of both signs.
    if (near && (near->is_negative == is_negative || near->digits.empty())) {
        side.low = magnitude_of(*near);
        side.is_low_open = is_negative ? wanted.is_high_open : wanted.is_low_open;
    }
    if (side.high && compare(side.low, *side.high) > 0) side.exists = false;
    return side;
}

enum class Phase {
    kStart,
    kSign,
    kZero,
    kWhole,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigit,
    kEnd
};

struct Progress {
    Phase phase = Phase::kStart;
    bool is_negative = false;
    int64_t digits = 0;  ///< before the point, then behind it
    int low = 0;         ///< the text against the bound: -1, 0, 1
    int high = 0;
    int64_t remainder = 0;
    bool is_zero = false;           ///< one digit that is 0: a number with an exponent has another
    bool is_exponent_high = false;  ///< 16 and more, else -5 and less
    char exponent_digit = '0';

    auto operator<=>(const Progress&) const = default;
};

class Explorer {
public:
    explicit Explorer(const NumberTexts& wanted)
        : wanted_(wanted), sides_{side_of(wanted, false), side_of(wanted, true)} {
        if (!wanted.factor) return;
        for (const char digit : wanted.factor->digits) divisor_ = divisor_ * 10 + (digit - '0');
        places_ = std::max<int64_t>(0, -wanted.factor->exponent);
        for (int64_t i = 0; i < wanted.factor->exponent; ++i) divisor_ *= 10;
    }

    std::optional<TextAutomaton> explore() {
        if (!sides_[0].exists && !sides_[1].exists) return TextAutomaton();
        number_of({});
        for (uint32_t i = 0; i < found_.size(); ++i) {
            if (found_.size() > kMostTextStates) return std::nullopt;
            const Progress at = found_[i];
            result_.states[i].is_final = may_end(at);
            for (const std::string_view characters : {"+", "-", ".", "0123456789", "E", "e"})
                for (const char c : characters)
                    if (const auto next = after(at, c)) {
                        const uint32_t target = number_of(*next);
                        const auto code = static_cast<char32_t>(c);
                        result_.states[i].edges.push_back({{code, code}, target});
                    }
        }
        return trimmed(result_);
    }

private:
    uint32_t number_of(const Progress& progress) {
        const auto [found, is_new] = numbers_.emplace(progress, static_cast<uint32_t>(found_.size()));
        if (is_new) {
            found_.push_back(progress);
            result_.states.emplace_back();
        }
        return found->second;
    }

    const Side& side(const Progress& at) const { return sides_[at.is_negative ? 1 : 0]; }

    std::optional<Progress> after(Progress at, char c) const {
        const bool is_digit = c >= '0' && c <= '9';
        switch (at.phase) {
            case Phase::kStart:
                if (c == '-' && sides_[1].exists) return Progress{.phase = Phase::kSign, .is_negative = true};
                return is_digit && sides_[0].exists ? first_digit(at, c) : std::nullopt;
            case Phase::kSign:
                return is_digit ? first_digit(at, c) : std::nullopt;
            case Phase::kZero:
            case Phase::kWhole:
                if (is_digit && at.phase == Phase::kWhole && at.digits < kMostWholeDigits)
                    return with_digit(at, c);
                if (c == '.' && !wanted_.are_whole) return behind_point(at);
                return c == 'e' || c == 'E' ? exponent(at) : std::nullopt;
            case Phase::kPoint:
            case Phase::kFraction:
                if (is_digit) return at.digits < kMostFractionDigits ? fraction_digit(at, c) : std::nullopt;
                return at.phase == Phase::kFraction && (c == 'e' || c == 'E') ? exponent(at) : std::nullopt;
            default:
                return exponent_part(at, c);
        }
    }

    std::optional<Progress> first_digit(Progress at, char c) const {
        if (c == '0' && at.is_negative && wanted_.are_whole) return std::nullopt;  // integers have one zero
        at.phase = c == '0' ? Phase::kZero : Phase::kWhole;
        at.is_zero = c == '0';
        return c == '0' ? at : with_digit(at, c);
    }

    /// The order of the digits with one more, `i` the index of it.
    static int ordered(int order, const std::string& bound, int64_t i, char c) {
        if (i >= static_cast<int64_t>(bound.size())) return 1;
        return order != 0 ? order : (c > bound[static_cast<size_t>(i)]) - (c < bound[static_cast<size_t>(i)]);
    }

    std::optional<Progress> with_digit(Progress at, char c) const {
        at.low = ordered(at.low, side(at).low.whole, at.digits, c);
        if (side(at).high) at.high = ordered(at.high, side(at).high->whole, at.digits, c);
        ++at.digits;
        add_to_remainder(at, c);
        return at;
    }

    void add_to_remainder(Progress& at, char c) const {
        if (divisor_ > 0) at.remainder = (at.remainder * 10 + (c - '0')) % divisor_;
    }

    /// Before the point no digit is 0 digits: 0 itself is written so.
    static int whole_order(int order, int64_t digits, const std::string& bound) {
        return digits < static_cast<int64_t>(bound.size()) ? -1 : order;
    }

    void finish_whole(Progress& at) const {
        at.low = whole_order(at.low, at.digits, side(at).low.whole);
        if (side(at).high) at.high = whole_order(at.high, at.digits, side(at).high->whole);
    }

    std::optional<Progress> behind_point(Progress at) const {
        finish_whole(at);
        at.phase = Phase::kPoint;
        at.is_zero =
            at.is_zero || at.digits != 1;  // a number with an exponent has one digit before the point
        at.digits = 0;
        return at;
    }

    static int fraction_order(int order, const std::string& bound, int64_t i, char c) {
        const char other = i < static_cast<int64_t>(bound.size()) ? bound[static_cast<size_t>(i)] : '0';
        return order != 0 ? order : (c > other) - (c < other);
    }

    std::optional<Progress> fraction_digit(Progress at, char c) const {
        at.low = fraction_order(at.low, side(at).low.fraction, at.digits, c);
        if (side(at).high) at.high = fraction_order(at.high, side(at).high->fraction, at.digits, c);
        if (divisor_ > 0 && at.digits >= places_ && c != '0') return std::nullopt;
        if (at.digits < places_) add_to_remainder(at, c);
        ++at.digits;
        at.phase = Phase::kFraction;
        return at;
    }

    static int end_order(int order, int64_t digits, const std::string& bound) {
        return order == 0 && digits < static_cast<int64_t>(bound.size()) ? -1 : order;
    }

    bool may_end(Progress at) const {
        if (at.phase == Phase::kEnd) return true;
        if (at.phase == Phase::kExponentDigit) return !at.is_exponent_high && at.exponent_digit >= '5';
        if (at.phase != Phase::kZero && at.phase != Phase::kWhole && at.phase != Phase::kFraction)
            return false;
        if (at.phase != Phase::kFraction) {
            finish_whole(at);
            at.digits = 0;
        }
        for (int64_t i = at.digits; i < places_; ++i) add_to_remainder(at, '0');
        const auto& [exists, is_low_open, is_high_open, low, high] = side(at);
        const int above = end_order(at.low, at.digits, low.fraction);
        const int below = high ? end_order(at.high, at.digits, high->fraction) : -1;
        return at.remainder == 0 && (is_low_open ? above > 0 : above >= 0) &&
               (is_high_open ? below < 0 : below <= 0);
    }

    // d.ddde-5 or e-05 and less, d.ddde+16 and more, the digit before the point not 0.

    bool allows_small(const Side& side) const {
        static const Magnitude least{"", std::string(98, '0') + "1"}, most{"", "0001"};
        return compare(side.low, least) <= 0 && (!side.high || compare(*side.high, most) >= 0);
    }
    bool allows_large(const Side& side) const {
        return !side.high && compare(side.low, {"1" + std::string(16, '0'), ""}) <= 0;
    }

    std::optional<Progress> exponent(const Progress& at) const {
        const bool has_one_digit = at.phase == Phase::kFraction || at.digits == 1;
        if (wanted_.are_whole || wanted_.factor || at.is_zero || !has_one_digit) return std::nullopt;
        if (!allows_small(side(at)) && !allows_large(side(at))) return std::nullopt;
        return Progress{.phase = Phase::kExponent, .is_negative = at.is_negative};
    }

    std::optional<Progress> exponent_part(Progress at, char c) const {
        const bool is_digit = c >= '0' && c <= '9';
        switch (at.phase) {
            case Phase::kExponent:
                if ((c != '+' || !allows_large(side(at))) && (c != '-' || !allows_small(side(at))))
                    return std::nullopt;
                at.is_exponent_high = c == '+';
                at.phase = Phase::kExponentSign;
                return at;
            case Phase::kExponentSign:
                if (!is_digit || (at.is_exponent_high && c == '0')) return std::nullopt;
                at.exponent_digit = c;
                at.phase = Phase::kExponentDigit;
                return at;
            case Phase::kExponentDigit:
                if (!is_digit || (at.is_exponent_high ? at.exponent_digit == '1' && c < '6'
                                                      : at.exponent_digit == '0' && c < '5'))
                    return std::nullopt;
                return Progress{.phase = Phase::kEnd};
            default:
                return std::nullopt;
        }
    }

    const NumberTexts& wanted_;
    std::array<Side, 2> sides_;
    int64_t divisor_ = 0;  ///< 0: none
    int64_t places_ = 0;   ///< digits behind the point that count for the remainder
    std::map<Progress, uint32_t> numbers_;
    std::vector<Progress> found_;
    TextAutomaton result_;
};

}  // namespace

std::optional<Decimal> decimal_of(std::string_view number) {
    Decimal result{.is_negative = number.starts_with('-'), .digits = {}};
    if (result.is_negative) number.remove_prefix(1);
    const size_t mark = std::min(number.find_first_of("eE"), number.size());
    if (mark < number.size()) {
        std::string_view text = number.substr(mark + 1);
        if (text.starts_with('+')) text.remove_prefix(1);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.exponent);
        if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    }
    bool is_fraction = false;
    for (const char c : number.substr(0, mark)) {
        if (c == '.') {
            is_fraction = true;
            continue;
        }
        if (is_fraction) --result.exponent;
        if (c != '0' || !result.digits.empty()) result.digits += c;
    }
    while (result.digits.ends_with('0')) {
        result.digits.pop_back();
        ++result.exponent;
    }
    if (result.digits.empty()) return Decimal();
    const int64_t size = static_cast<int64_t>(result.digits.size());
    if (std::abs(result.exponent) > kMostExponent || std::abs(result.exponent + size) > kMostExponent)
        return std::nullopt;
    return result;
}

std::strong_ordering compare(const Decimal& a, const Decimal& b) {
    if (a.is_negative != b.is_negative) return b.is_negative <=> a.is_negative;
    return a.is_negative ? compare(magnitude_of(b), magnitude_of(a))
                         : compare(magnitude_of(a), magnitude_of(b));
}

std::optional<TextAutomaton> number_texts(const NumberTexts& wanted) {
    if (wanted.factor) {
        const int64_t digits = static_cast<int64_t>(wanted.factor->digits.size());
        if (digits + std::max<int64_t>(0, wanted.factor->exponent) > 5 ||
            -wanted.factor->exponent > kMostFractionDigits)
            return std::nullopt;
        int64_t value = 0;
        for (const char digit : wanted.factor->digits) value = value * 10 + (digit - '0');
        if (value > kMostFactor) return std::nullopt;
    }
    return Explorer(wanted).explore();
}

}  // namespace tessera::grammar
