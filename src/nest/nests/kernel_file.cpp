#include "nest/nests/kernel_file.h"

#include <algorithm>
#include <array>

#include "ir/definition_parser.h"
#include "ir/lexer.h"
#include "nest/nests/level_lines.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

// Limits far beyond any kernel: they keep hostile text from costing time.
constexpr size_t kLargestFile = size_t{1} << 20;  // bytes
constexpr size_t kMostOperators = 64;

constexpr std::array<std::string_view, 4> kNotInKernels = {"update", "tile", "lanes", "unit"};
constexpr std::array<std::string_view, 5> kOtherWords = {"visible", "machine", "batch", "multiple",
                                                         "capacity"};

bool is_one_of(std::string_view word, const auto& words) {
    return std::ranges::find(words, word) != words.end();
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

std::string_view without_comment(std::string_view line) {
    line = line.substr(0, line.find('#'));
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    return line;
}

std::string_view first_word(std::string_view line) {
    return line.substr(0, std::min(line.size(), line.find_first_of(" \t")));
}

machine::PeakRates parse_machine(TokenStream& tokens) {
    machine::PeakRates machine;
    tokens.expect("bandwidth", "as in `machine bandwidth 1e10 peak 1e11 units 2`");
    machine.bytes_per_second = positive_real(tokens, "bandwidth");
    tokens.expect("peak", "as in `machine bandwidth 1e10 peak 1e11 units 2`");
    machine.operations_per_second = positive_real(tokens, "peak");
    tokens.expect("units", "as in `machine bandwidth 1e10 peak 1e11 units 2`");
    machine.units = tokens.expect_integer("the units of the machine");
    tokens.expect_end("the units");
    return machine;
}

class FileReader {
public:
    FileReader(std::string_view text, const std::string& where) : text_(text) { file_.where = where; }

    KernelFile run() {
        if (text_.size() > kLargestFile)
            throw Error(file_.where, "",
                        fmt::format("has {} bytes, expected at most {}", text_.size(), kLargestFile));
        while (!text_.empty() && !file_.nest) {
            ++line_;
            const std::string_view line = without_comment(next_line());
            if (!line.empty()) read(line);
        }
        finish_operator();
        if (file_.operators.empty())
            throw Error(file_.where, "", "holds no operator, expected a definition that starts with `op`");
        check_levels(file_);
        return std::move(file_);
    }

private:
    std::string_view next_line() {
        const size_t end = text_.find('\n');
        const std::string_view line = text_.substr(0, end);
        text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
        return line;
    }

    [[noreturn]] void fail(std::string_view word, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(place(file_.where, line_), std::string(word), problem, advice);
    }

    void read(std::string_view line) {
        const std::string_view word = first_word(line);
        const std::string_view rest = without_comment(line.substr(word.size()));
        if (word == "nest") return read_nest(rest);
        if (is_one_of(word, kOtherWords) || is_level_line(word)) return read_other(word, rest);
        if (is_one_of(word, kNotInKernels)) fail(word, "has no place in a kernel", "remove the line");
        if (word == "op") {
            if (has_others_) fail(word, "follows a line that must stand below all operators");
            finish_operator();
            is_in_operator_ = true;
        }
        if (!is_in_operator_)
            fail(word, has_others_ ? "has no meaning below the operators" : "stands in no operator",
                 has_others_ ? "" : "start with a line `op NAME(...)`");
        // Errors of the definition then name the line of the file.
        for (; lines_in_definition_ < line_ - 1; ++lines_in_definition_) definition_.push_back('\n');
        definition_.append(line).push_back('\n');
        ++lines_in_definition_;
    }

    void finish_operator() {
        if (!is_in_operator_) return;
        if (file_.operators.size() == kMostOperators)
            fail("op", fmt::format("begins one operator more than {}", kMostOperators));
        file_.operators.push_back(parse_definition_file(definition_, file_.where));
        is_in_operator_ = false;
        definition_.clear();
        lines_in_definition_ = 0;
    }

    void read_nest(std::string_view rest) {
        finish_operator();
        std::string nest(rest);
        while (!text_.empty()) {
            nest.push_back('\n');
            nest.append(without_comment(next_line()));
        }
        file_.nest = std::move(nest);
    }

    void read_other(std::string_view word, std::string_view rest) {
        finish_operator();
        if (file_.operators.empty()) fail(word, "stands above the operators");
        has_others_ = true;
        TokenStream tokens(tokenize(rest, place(file_.where, line_)), place(file_.where, line_));
        const auto once = [&](const auto& known) {
            if (known) fail(word, "stands twice");
        };
        if (is_level_line(word)) {
            read_level_line(word, tokens, file_);
        } else if (word == "visible") {
            once(file_.visible);
            file_.visible.emplace();
            do file_.visible->push_back(tokens.expect_name("the name of a result"));
            while (tokens.accept(","));
            tokens.expect_end("the names");
        } else if (word == "machine") {
            once(file_.machine);
            file_.machine = parse_machine(tokens);
        } else if (word == "batch") {
            once(file_.batch);
            file_.batch.emplace();
            while (!tokens.at_end()) file_.batch->push_back(tokens.expect_name("the name of an iterator"));
        } else {
            std::optional<int64_t>& number = word == "multiple" ? file_.multiple : file_.capacity;
            once(number);
            number = tokens.expect_integer("its number");
            tokens.expect_end("the number");
        }
    }

    std::string_view text_;
    KernelFile file_;
    int line_ = 0;
    bool is_in_operator_ = false;
    std::string definition_;  ///< text of the operator so far, below as many lines as stand above it
    int lines_in_definition_ = 0;
    bool has_others_ = false;
};

}  // namespace

KernelFile read_kernel_file(std::string_view text, const std::string& where) {
    return FileReader(text, where).run();
}

}  // namespace tessera::nests
