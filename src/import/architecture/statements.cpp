#include "import/architecture/statements.h"

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::import {
namespace {

constexpr size_t kContinued = 4;

class Divider {
public:
    Divider(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    std::vector<StatementText> run() {
        for (at_ = 0; at_ < text_.size(); ++at_) step(text_[at_]);
        if (depth_ > 0) fail(opened_, "a bracket is not closed");
        if (ends_in_comma()) fail(line_, "the text ends behind a comma");
        finish();
        return std::move(all_);
    }

private:
    [[noreturn]] void fail(int line, const std::string& problem) const {
        throw Error(fmt::format("{}:{}", where_, line), "", problem);
    }

    void step(char c) {
        if (c == '#') {
            while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
        } else if (c == '"') {
            quote();
        } else if (c == '\n') {
            if (depth_ == 0 && !ends_in_comma() && !is_continued()) finish();
            ++line_;
            own_.text += ' ';
        } else if (c == ';' && depth_ == 0) {
            if (ends_in_comma()) fail(line_, "a statement ends behind a comma");
            finish();
        } else {
            if (c == '(' || c == '[') {
                if (depth_++ == 0) opened_ = line_;
            } else if ((c == ')' || c == ']') && --depth_ < 0) {
                fail(line_, "a bracket closes that was not opened");
            }
            add(c == '\t' || c == '\r' ? ' ' : c);
        }
    }

    void quote() {
        const size_t end = text_.find_first_of("\"\n", at_ + 1);
        if (end == std::string_view::npos || text_[end] == '\n')
            fail(line_, "a text in quotation marks is not closed");
        for (; at_ < end; ++at_) add(text_[at_]);
        add('"');
    }

    void add(char c) {
        if (own_.text.find_first_not_of(' ') == std::string::npos && c != ' ') own_.line = line_;
        own_.text += c;
    }

    bool ends_in_comma() const {
        const size_t last = own_.text.find_last_not_of(' ');
        return last != std::string::npos && own_.text[last] == ',';
    }

    /// The next line begins with four blanks.
    bool is_continued() const {
        const size_t first = text_.find_first_not_of(' ', at_ + 1);
        return first != std::string_view::npos && first >= at_ + 1 + kContinued && text_[first] != '\n' &&
               text_[first] != '#';
    }

    void finish() {
        if (own_.text.find_first_not_of(' ') != std::string::npos) {
            if (all_.size() == kMostStatements)
                fail(line_, fmt::format("the text has more than {} statements", kMostStatements));
            all_.push_back(std::move(own_));
        }
        own_ = {};
    }

    std::string_view text_;
    const std::string& where_;
    size_t at_ = 0;
    int line_ = 1, depth_ = 0, opened_ = 0;
    StatementText own_;
    std::vector<StatementText> all_;
};

}  // namespace

std::vector<StatementText> statements_of(std::string_view text, const std::string& where) {
    if (text.size() > kLongestText)
        throw Error(where, "", fmt::format("has {} bytes, expected at most {}", text.size(), kLongestText));
    return Divider(text, where).run();
}

}  // namespace tessera::import
