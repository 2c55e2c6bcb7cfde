#include "acceptance/plan_text_edits.h"

#include <functional>
#include <regex>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace tessera::testing {
namespace {

/// Lines for which `edit` returns true have been changed; an empty line has been removed.
int edit_lines(std::string& text,
               const std::function<bool(std::string& line, const std::string& specialisation)>& edit) {
    std::istringstream in(text);
    std::string out, line, specialisation;
    int edits = 0;
    while (std::getline(in, line)) {
        const bool was_empty = line.empty();
        if (line.starts_with("name = '")) specialisation = line.substr(8, line.size() - 9);
        if (edit(line, specialisation)) ++edits;
        if (!line.empty() || was_empty) out += line + "\n";
    }
    text = out;
    return edits;
}

bool is_kernel_of(const std::string& line, const std::string& root) {
    static const std::regex kernel(R"re(^    \{ block = '\w+', nest = '(.*)' \},$)re");
    std::smatch match;
    if (!std::regex_match(line, match, kernel)) return false;
    // The last operator of the nest: behind it come only closing braces.
    static const std::regex last(R"re((\w+)\[[^\]]*\][ }]*$)re");
    const std::string nest = match[1];
    return std::regex_search(nest, match, last) && match[1] == root;
}

std::string block_of(const std::string& line) {
    return line.substr(15, line.find('\'', 15) - 15);
}

std::string kernel_line(const std::string& block, const std::string& nest) {
    return fmt::format("    {{ block = '{}', nest = '{}' }},", block, nest);
}

}  // namespace

PlanDocument& PlanDocument::stored(const std::string& value, const std::string& layout) {
    const std::string line_of_value = fmt::format("'{}' = '{}'", value, layout);
    bool is_in_stored = false, is_done = false;
    const int edits = edit_lines(text_, [&](std::string& line, const std::string&) {
        if (line == "[stored]") is_in_stored = true;
        if (is_done || !is_in_stored) return false;
        const bool is_value = line.starts_with("'" + value + "' = ");
        if (!is_value && !line.empty()) return false;
        line = is_value ? line_of_value : line_of_value + "\n";
        is_done = true;
        return true;
    });
    EXPECT_EQ(edits, 1) << value;
    return *this;
}

PlanDocument& PlanDocument::tensor(const std::string& value, const std::string& place,
                                   const std::string& specialisation) {
    const int edits = edit_lines(text_, [&](std::string& line, const std::string& in) {
        if (in.empty() || (!specialisation.empty() && in != specialisation) ||
            !line.starts_with("'" + value + "' = "))
            return false;
        line = fmt::format("'{}' = '{}'", value, place);
        return true;
    });
    EXPECT_GE(edits, 1) << value;
    return *this;
}

PlanDocument& PlanDocument::nest(const std::string& root, const std::string& nests) {
    const int edits = edit_lines(text_, [&](std::string& line, const std::string&) {
        if (!is_kernel_of(line, root)) return false;
        const std::string block = block_of(line);
        std::istringstream all(nests);
        std::string lines, nest;
        while (std::getline(all, nest)) lines += (lines.empty() ? "" : "\n") + kernel_line(block, nest);
        line = lines;
        return true;
    });
    EXPECT_GE(edits, 1) << root;
    return *this;
}

PlanDocument& PlanDocument::before(const std::string& root, const std::string& nest) {
    const int edits = edit_lines(text_, [&](std::string& line, const std::string&) {
        if (!is_kernel_of(line, root)) return false;
        line = kernel_line(block_of(line), nest) + "\n" + line;
        return true;
    });
    EXPECT_GE(edits, 1) << root;
    return *this;
}

PlanDocument& PlanDocument::replace(const std::string& piece, const std::string& by) {
    size_t at = text_.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    for (; at != std::string::npos; at = text_.find(piece, at + by.size()))
        text_.replace(at, piece.size(), by);
    return *this;
}

PlanDocument& PlanDocument::unplaced() {
    static const std::regex placed(" at [0-9]+ for [0-9]+");
    text_ = std::regex_replace(text_, placed, "");
    return *this;
}

}  // namespace tessera::testing
