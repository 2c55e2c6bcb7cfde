// The tables of micro-kernels and their parameters in docs/plan.md follow from the declarations.
// TESSERA_UPDATE_GOLDEN=1 in the environment rewrites them.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"

namespace tessera::kernels {
namespace {

constexpr const char* kPage = TESSERA_SOURCE_DIR "/docs/plan.md";
constexpr std::string_view kBegin =
    "<!-- micro-kernels: from src/lowering/kernels, checked and rewritten by "
    "tests/lowering/kernels/documentation_test.cpp "
    "-->\n";
constexpr std::string_view kEnd = "<!-- end of micro-kernels -->\n";

std::string default_text(const plan::Parameter& parameter) {
    if (parameter.is_required) return "required";
    return parameter.is_iterator() ? "none" : std::to_string(parameter.otherwise);
}

std::string range_text(const plan::Parameter& parameter) {
    if (parameter.is_iterator()) return "an iterator";
    std::string text = fmt::format("{} to {}", parameter.least, parameter.most);
    if (parameter.is_power_of_two) text += ", a power of two";
    if (parameter.multiple_of > 1) text += fmt::format(", a multiple of {}", parameter.multiple_of);
    return text;
}

std::string tables() {
    std::string text = "| micro-kernel | implements | parameters |\n|-|-|-|\n";
    using Row = std::tuple<std::string, std::string, std::string, std::string>;
    std::map<Row, std::string> rows;  // -> the micro-kernels that have it
    for (const plan::MicroKernel* kernel : micro_kernels()) {
        std::string names;
        for (const plan::Parameter& p : kernel->parameters) {
            names += fmt::format("{}`{}`", names.empty() ? "" : ", ", p.name);
            std::string& of =
                rows[{std::string(p.name), range_text(p), default_text(p), std::string(p.meaning)}];
            of += fmt::format("{}`{}`", of.empty() ? "" : ", ", kernel->name);
        }
        text += fmt::format("| `{}` | {} | {} |\n", kernel->name, kernel->implements, names);
    }
    text += "\n| parameter | of | default | range | meaning |\n|-|-|-|-|-|\n";
    for (const auto& [row, of] : rows) {
        const auto& [name, range, otherwise, meaning] = row;
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, of, otherwise, range, meaning);
    }
    return text;
}

TEST(Documentation, ThePageOnPlansShowsWhatIsDeclared) {
    std::ifstream file(kPage);
    std::string page{std::istreambuf_iterator<char>(file), {}};
    const size_t begin = page.find(kBegin), end = page.find(kEnd);
    ASSERT_NE(begin, std::string::npos);
    ASSERT_NE(end, std::string::npos);
    const size_t from = begin + kBegin.size();
    const std::string shown = page.substr(from, end - from), expected = tables();
    if (shown != expected && std::getenv("TESSERA_UPDATE_GOLDEN") != nullptr) {
        page.replace(from, end - from, expected);
        std::ofstream(kPage) << page;
        return;
    }
    EXPECT_EQ(shown, expected) << "TESSERA_UPDATE_GOLDEN=1 rewrites " << kPage;
}

}  // namespace
}  // namespace tessera::kernels
