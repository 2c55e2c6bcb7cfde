#define PCRE2_CODE_UNIT_WIDTH 8
#include "run/llm/regex.h"

#include <array>
#include <cstdint>
#include <utility>

#include <pcre2.h>

#include "run/llm/utf8.h"
#include "support/error.h"

// PCRE2 reads nearly the dialect of Oniguruma with Ruby syntax. Syntax that differs is rewritten before
// compiling:
//
//   \s, \S   PCRE2 counts U+180E as white space; Unicode and Oniguruma do not
//   \h, \H   hexadecimal digits there, horizontal space here
//   ^, $     match at every line there: PCRE2_MULTILINE
//   \p{Han} PCRE2 counts characters that several scripts share to each of them (since 10.40)
//   [a[bc]], [a-z&&[^aeiou]]: nested classes and intersections, which would compile here with another meaning

namespace tessera::llm {
namespace {

// Steps of one match, counted by PCRE2. A line of a million spaces needs about a million.
constexpr uint32_t kMatchLimit = 50'000'000;
constexpr uint32_t kHeapLimitKibibytes = 64 * 1024;
constexpr size_t kSmallestStack = size_t{32} * 1024;
constexpr size_t kLargestStack = size_t{8} * 1024 * 1024;

constexpr std::string_view kWhiteSpace =
    "\\t-\\r\\x20\\x85\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";
constexpr std::string_view kHexadecimal = "0-9a-fA-F";

template <auto free>
struct Free {
    template <typename T>
    void operator()(T* pointer) const {
        free(pointer);
    }
};

using Program = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;

struct Compiled {
    Program program;  ///< null: `code` and `offset` say why
    int code = 0;
    PCRE2_SIZE offset = 0;
};

Compiled compiled(std::string_view pattern) {
    Compiled result;
    result.program.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                       PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                                       &result.code, &result.offset, nullptr));
    return result;
}

/// Rewrites one pattern, left to right.
class Translation {
public:
    Translation(std::string_view pattern, const std::string& where) : pattern_(pattern), where_(where) {}

    std::string run() {
        std::string out;
        while (at_ < pattern_.size()) {
            if (is_escape())
                out += escape(false);
            else if (pattern_[at_] == '[')
                out += character_class();
            else
                out += pattern_[at_++];
        }
        return out;
    }

private:
    bool is_escape() const { return pattern_[at_] == '\\' && at_ + 1 < pattern_.size(); }

    std::string escape(bool in_class) {
        const char letter = pattern_[at_ + 1];
        at_ += 2;
        switch (letter) {
            case 's':
                return in_class ? std::string(kWhiteSpace) : fmt::format("[{}]", kWhiteSpace);
            case 'h':
                return in_class ? std::string(kHexadecimal) : fmt::format("[{}]", kHexadecimal);
            case 'H':
                if (in_class) fail("\\H inside a class");
                return fmt::format("[^{}]", kHexadecimal);
            case 'S':
                // Inside a class there is no other way to say it; differs in U+180E alone.
                return in_class ? "\\S" : fmt::format("[^{}]", kWhiteSpace);
            case 'p':
            case 'P':
                return property(letter);
            default:
                return {'\\', letter};
        }
    }

    /// The name of a script says so, and means the characters of this script alone.
    std::string property(char letter) {
        const std::string_view rest = pattern_.substr(at_);
        const size_t end = rest.find('}');
        if (!rest.starts_with('{') || end == rest.npos) return {'\\', letter};
        std::string_view name = rest.substr(1, end - 1);
        at_ += end + 1;
        const bool is_negated = name.starts_with('^');
        if (is_negated) name.remove_prefix(1);
        const bool is_script = compiled(fmt::format("\\p{{sc:{}}}", name)).program != nullptr;
        return fmt::format("\\{}{{{}{}{}}}", letter, is_negated ? "^" : "", is_script ? "sc:" : "", name);
    }

    /// An expression that matches one character of the class:
    ///
    ///     [a-c]            [a-c]
    ///     [a[bc]]          (?:[a]|[bc])
    ///     [a-z&&[^aeiou]]  (?:(?=[^aeiou])[a-z])
    ///     [^a[bc]]         (?:(?!(?:[a]|[bc]))(?s:.))
    std::string character_class() {
        if (++depth_ > kDeepestClass) fail(fmt::format("classes nested more than {} deep", kDeepestClass));
        ++at_;
        const bool is_negated = at_ < pattern_.size() && pattern_[at_] == '^';
        if (is_negated) ++at_;
        std::vector<std::string> operands;
        std::string all;  // beyond the last &&
        bool is_plain = true;
        // A bracket right after the opening one is a character.
        std::string characters;
        if (at_ < pattern_.size() && pattern_[at_] == ']') {
            characters = "\\]";
            ++at_;
        }
        const auto finish_operand = [&] {
            if (!characters.empty()) all += fmt::format("{}[{}]", all.empty() ? "" : "|", characters);
            if (all.empty()) fail("an intersection with nothing");
            operands.push_back(fmt::format("(?:{})", all));
            all.clear();
            characters.clear();
        };
        for (bool is_open = true; is_open;) {
            const std::string_view rest = pattern_.substr(at_);
            if (rest.empty())
                return fmt::format("[{}{}", is_negated ? "^" : "", characters);  // PCRE2 says so
            if (is_escape()) {
                characters += escape(true);
            } else if (const size_t end = rest.find(":]"); rest.starts_with("[:") && end != rest.npos) {
                characters += rest.substr(0, end + 2);
                at_ += end + 2;
            } else if (rest.front() == '[') {
                is_plain = false;
                all += (all.empty() ? "" : "|") + character_class();
            } else if (rest.starts_with("&&")) {
                is_plain = false;
                finish_operand();
                at_ += 2;
            } else {
                is_open = rest.front() != ']';
                if (is_open) characters += rest.front();
                ++at_;
            }
        }
        --depth_;
        if (is_plain) return fmt::format("[{}{}]", is_negated ? "^" : "", characters);
        finish_operand();
        std::string both = operands.front();
        for (size_t i = 1; i < operands.size(); ++i) both = fmt::format("(?={}){}", operands[i], both);
        return is_negated ? fmt::format("(?:(?!{})(?s:.))", both) : fmt::format("(?:{})", both);
    }

    [[noreturn]] void fail(std::string_view construct) const {
        throw Error(where_, std::string(pattern_), fmt::format("uses {}, which is not supported", construct));
    }

    static constexpr int kDeepestClass = 32;

    std::string_view pattern_;
    const std::string& where_;
    size_t at_ = 0;
    int depth_ = 0;
};

std::string message(int code) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

}  // namespace

Regex Regex::compile(std::string_view pattern, std::string where) {
    Regex result;
    result.pattern_ = pattern;
    result.where_ = std::move(where);
    const std::string translated = Translation(pattern, result.where_).run();
    Compiled made = compiled(translated);
    if (!made.program)
        throw Error(result.where_, result.pattern_,
                    fmt::format("is not a regular expression that can be compiled: {} at offset {} of {}",
                                message(made.code), made.offset, translated));
    // Without JIT, the interpreter matches.
    pcre2_jit_compile(made.program.get(), PCRE2_JIT_COMPLETE);
    result.program_ = std::shared_ptr<const pcre2_code>(std::move(made.program));
    return result;
}

std::vector<TextRange> Regex::find_all(std::string_view text) const {
    return RegexSearch(*this).find_all(text);
}

/// The state of matching besides the program, which one Regex shares among threads.
struct RegexSearch::Scratch {
    explicit Scratch(const pcre2_code* code)
        : data(pcre2_match_data_create_from_pattern(code, nullptr)),
          context(pcre2_match_context_create(nullptr)),
          stack(pcre2_jit_stack_create(kSmallestStack, kLargestStack, nullptr)) {
        if (!data || !context || !stack) throw std::bad_alloc();
        pcre2_set_match_limit(context.get(), kMatchLimit);
        pcre2_set_heap_limit(context.get(), kHeapLimitKibibytes);
        pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    }

    std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>> data;
    std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>> context;
    std::unique_ptr<pcre2_jit_stack, Free<pcre2_jit_stack_free>> stack;
};

RegexSearch::RegexSearch(const Regex& regex)
    : regex_(regex),
      scratch_(std::make_unique<Scratch>(static_cast<const pcre2_code*>(regex.program_.get()))) {}

RegexSearch::~RegexSearch() = default;

const std::vector<TextRange>& RegexSearch::find_all(std::string_view text) {
    found_.clear();
    const auto* program = static_cast<const pcre2_code*>(regex_.program_.get());
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(scratch_->data.get());
    size_t at = 0;
    while (at <= text.size()) {
        const int code = pcre2_match(program, subject, text.size(), at, PCRE2_NO_UTF_CHECK,
                                     scratch_->data.get(), scratch_->context.get());
        if (code == PCRE2_ERROR_NOMATCH) break;
        if (code < 0)
            throw Error(regex_.where_, regex_.pattern_,
                        fmt::format("cannot be matched against this text: {}", message(code)));
        const TextRange match{ends[0], ends[1]};
        if (match.end < match.begin || match.begin < at)
            throw Error(regex_.where_, regex_.pattern_,
                        "moves the start of its match by \\K, which is not supported");
        // An empty match at the end of the last one does not count.
        if (match.size() > 0 || found_.empty() || match.begin != found_.back().end) found_.push_back(match);
        at = match.end;
        if (match.size() == 0) at += at < text.size() ? first_character(text.substr(at)).length : 1;
    }
    return found_;
}

}  // namespace tessera::llm
