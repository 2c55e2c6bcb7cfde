#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "run/jinja/operators.h"
#include "run/jinja/text_operations.h"

// "%s has %d" % values, as Python formats it.

namespace tessera::jinja {
namespace {

constexpr int64_t kWidest = 10'000;

/// %[flags][width][.precision]kind
struct Conversion {
    bool to_left = false;
    bool with_zeros = false;
    bool with_plus = false;
    bool with_blank = false;
    int64_t width = 0;
    int64_t precision = -1;
    char kind = 0;
};

class Reader {
public:
    Reader(Context& context, std::string_view format) : context_(context), rest_(format) {}

    /// @pre the percent sign has passed
    Conversion read() {
        Conversion result;
        for (; !rest_.empty(); rest_.remove_prefix(1)) {
            if (rest_.front() == '-')
                result.to_left = true;
            else if (rest_.front() == '0')
                result.with_zeros = true;
            else if (rest_.front() == '+')
                result.with_plus = true;
            else if (rest_.front() == ' ')
                result.with_blank = true;
            else
                break;
        }
        result.width = number();
        if (rest_.starts_with('.')) {
            rest_.remove_prefix(1);
            result.precision = number();
        }
        if (rest_.empty()) context_.fail("a format ends behind %");
        result.kind = rest_.front();
        rest_.remove_prefix(1);
        return result;
    }
    std::string_view rest() const { return rest_; }

private:
    int64_t number() {
        int64_t value = 0;
        for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; rest_.remove_prefix(1)) {
            value = value * 10 + (rest_.front() - '0');
            if (value > kWidest) context_.fail(fmt::format("a format is wider than {} characters", kWidest));
        }
        return value;
    }

    Context& context_;
    std::string_view rest_;
};

/// The digits of a number with their sign.
std::string digits(Context& context, const Conversion& how, const Value& value) {
    if (!value.is_number()) context.fail(fmt::format("%{} cannot have {}", how.kind, described(value)));
    std::string text;
    if (how.kind == 'f') {
        text = fmt::format("{:.{}f}", value.real(), how.precision < 0 ? 6 : how.precision);
    } else {
        if (how.precision >= 0) context.fail("a precision of integers is not supported");
        if (how.kind == 'x' && !value.is_integer()) context.fail("%x needs an integer");
        if (!value.is_integer() && !(value.real() > -9e18 && value.real() < 9e18))
            context.fail("an integer does not fit into 64 bits");
        const int64_t integer = value.is_integer() ? value.integer() : static_cast<int64_t>(value.real());
        text = how.kind == 'x' ? fmt::format("{:x}", integer) : fmt::format("{}", integer);
    }
    if (text.front() != '-' && how.with_plus) text.insert(0, "+");
    if (text.front() != '-' && !how.with_plus && how.with_blank) text.insert(0, " ");
    if (how.with_zeros && !how.to_left && static_cast<int64_t>(text.size()) < how.width) {
        const size_t sign = text.front() == '-' || text.front() == '+' || text.front() == ' ' ? 1 : 0;
        text.insert(sign, std::string(static_cast<size_t>(how.width) - text.size(), '0'));
    }
    return text;
}

Text converted(Context& context, const Conversion& how, const Value& value) {
    switch (how.kind) {
        case 's':
        case 'r': {
            Text text = how.kind == 's' ? to_text(context, value) : representation(context, value);
            const std::vector<size_t> offsets = character_offsets(text.bytes());
            const auto count = static_cast<int64_t>(offsets.size()) - 1;
            if (how.precision < 0 || how.precision >= count) return text;
            return text.slice(0, offsets[static_cast<size_t>(how.precision)]);
        }
        case 'd':
        case 'i':
        case 'x':
        case 'f':
            return Text(digits(context, how, value));
        default:
            context.fail(fmt::format("the format %{} is not supported", how.kind));
    }
}

}  // namespace

Value format_percent(Context& context, const Text& format, const std::vector<Value>& values,
                     bool may_be_left) {
    const std::string_view bytes = format.bytes();
    Text result;
    size_t used = 0;
    size_t at = 0;
    while (at < bytes.size()) {
        const size_t sign = std::min(bytes.find('%', at), bytes.size());
        result.append(format.slice(at, sign));
        if (sign == bytes.size()) break;
        Reader reader(context, bytes.substr(sign + 1));
        const Conversion how = reader.read();
        at = bytes.size() - reader.rest().size();
        if (how.kind == '%') {
            result.append(format.slice(sign, sign + 1));
            continue;
        }
        if (used == values.size()) context.fail("a format has more places than values");
        const Text text = converted(context, how, values[used++]);
        const Text filled =
            justified(context, text, how.width, Text(" "), how.to_left ? Ends::kLeft : Ends::kRight);
        context.allocate(filled.size());
        result.append(filled);
    }
    if (used < values.size() && !may_be_left) context.fail("a format has fewer places than values");
    return context.make(std::move(result));
}

}  // namespace tessera::jinja
