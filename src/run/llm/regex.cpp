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
//
// Nested classes and intersections ([a-z&&[^aeiou]]) would compile here with another meaning, so they are
// refused.

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

/// Rewrites one pattern, left to right, tracking only whether it is inside a class.
class Translation {
public:
    Translation(std::string_view pattern, const std::string& where) : pattern_(pattern), where_(where) {}

    std::string run() {
        while (at_ < pattern_.size()) {
            if (pattern_[at_] == '\\' && at_ + 1 < pattern_.size()) {
                escape(pattern_[at_ + 1]);
                at_ += 2;
            } else if (in_class_) {
                inside(pattern_[at_]);
            } else if (pattern_[at_] == '[') {
                open();
            } else {
                out_ += pattern_[at_++];
            }
        }
        return std::move(out_);
    }

private:
    void escape(char letter) {
        switch (letter) {
            case 's':
                out_ += in_class_ ? std::string(kWhiteSpace) : fmt::format("[{}]", kWhiteSpace);
                break;
            case 'h':
                out_ += in_class_ ? std::string(kHexadecimal) : fmt::format("[{}]", kHexadecimal);
                break;
            case 'H':
                complement('H', kHexadecimal);
                break;
            case 'S':
                complement('S', kWhiteSpace);
                break;
            default:
                out_ += '\\';
                out_ += letter;
        }
    }

    void complement(char letter, std::string_view set) {
        if (!in_class_) {
            out_ += fmt::format("[^{}]", set);
        } else if (letter == 'S') {
            out_ += "\\S";  // inside a class there is no other way to say it; differs in U+180E alone
        } else {
            fail("\\H inside a class");
        }
    }

    void open() {
        in_class_ = true;
        out_ += pattern_[at_++];
        if (at_ < pattern_.size() && pattern_[at_] == '^') out_ += pattern_[at_++];
        // A bracket right after the opening one is a character.
        if (at_ < pattern_.size() && pattern_[at_] == ']') {
            out_ += "\\]";
            ++at_;
        }
    }

    void inside(char letter) {
        const std::string_view rest = pattern_.substr(at_);
        if (rest.starts_with("[:")) {
            const size_t end = rest.find(":]");
            if (end == std::string_view::npos) fail("a class inside a class");
            out_ += rest.substr(0, end + 2);
            at_ += end + 2;
            return;
        }
        if (letter == '[') fail("a class inside a class");
        if (rest.starts_with("&&")) fail("an intersection of classes");
        if (letter == ']') in_class_ = false;
        out_ += letter;
        ++at_;
    }

    [[noreturn]] void fail(std::string_view construct) const {
        throw Error(where_, std::string(pattern_), fmt::format("uses {}, which is not supported", construct));
    }

    std::string_view pattern_;
    const std::string& where_;
    std::string out_;
    size_t at_ = 0;
    bool in_class_ = false;
};

std::string message(int code) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

template <auto free>
struct Free {
    template <typename T>
    void operator()(T* pointer) const {
        free(pointer);
    }
};

}  // namespace

Regex Regex::compile(std::string_view pattern, std::string where) {
    Regex result;
    result.pattern_ = pattern;
    result.where_ = std::move(where);
    const std::string translated = Translation(pattern, result.where_).run();
    int code = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* program = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                                        &code, &offset, nullptr);
    if (program == nullptr)
        throw Error(result.where_, result.pattern_,
                    fmt::format("is not a regular expression that can be compiled: {} at offset {} of {}",
                                message(code), offset, translated));
    result.program_ = std::shared_ptr<const void>(
        program, [](const void* p) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(p))); });
    // Without JIT, the interpreter matches.
    pcre2_jit_compile(program, PCRE2_JIT_COMPLETE);
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
