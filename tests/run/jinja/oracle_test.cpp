#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>

#include "run/jinja/json_value.h"
#include "run/jinja/template.h"
#include "support/error.h"
#include "support/shared_data.h"

// Templates of this folder, published ones, and random ones, against Debian's python3-jinja2 with the
// settings of `transformers`.
namespace tessera::jinja {
namespace {

namespace fs = std::filesystem;

// Larger campaigns: TESSERA_JINJA_SEED and TESSERA_JINJA_CASES.
std::string number_or(const char* variable, const char* otherwise) {
    const char* value = std::getenv(variable);
    return value == nullptr ? otherwise : value;
}

std::string templates_in(const fs::path& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".jinja") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    std::string arguments;
    for (const std::string& path : paths) arguments += fmt::format(" '{}'", path);
    return arguments;
}

class Oracle : public ::testing::Test {
protected:
    void SetUp() override {
        if (std::system("/usr/bin/python3 -c 'import jinja2' 2>/dev/null") != 0)
            GTEST_SKIP() << "not checked: templates against Jinja2, which needs python3-jinja2";
        std::string pattern = (fs::temp_directory_path() / "tessera-jinja-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override {
        if (!folder_.empty()) fs::remove_all(folder_);
    }

    nlohmann::ordered_json cases(const std::string& templates, const char* count) {
        const std::string command = fmt::format(
            "/usr/bin/python3 -B -W ignore '{}/tests/run/jinja/oracle.py' '{}/cases.json' {} {}{}",
            TESSERA_SOURCE_DIR, folder_.string(), number_or("TESSERA_JINJA_SEED", "45"),
            number_or("TESSERA_JINJA_CASES", count), templates);
        if (std::system(command.c_str()) != 0) return {};
        std::ifstream file(folder_ / "cases.json");
        return nlohmann::ordered_json::parse(file);
    }

    fs::path folder_;
};

/// The text, or "error: ..." where it is refused.
std::string rendered(const nlohmann::ordered_json& item) {
    try {
        const Template parsed = Template::parse(item.at("template").get<std::string>(), "t");
        return parsed.render(variables_of(item.at("variables"), Origin::kTemplate)).bytes();
    } catch (const Error& error) {
        return std::string("error: ") + error.what();
    }
}

/// Features that the module refuses on purpose (docs/chat.md): an error where Jinja2 has a text.
bool is_refused_on_purpose(const std::string& text) {
    for (const char* reason : {"cannot be printed", "is not supported", "does not fit into 64 bits",
                               "has no slices", "is for texts"})
        if (text.starts_with("error: ") && text.find(reason) != std::string::npos) return true;
    return false;
}

void compare(const nlohmann::ordered_json& all) {
    int texts = 0;
    for (const auto& item : all) {
        const std::string got = rendered(item);
        if (item.contains("error")) {
            EXPECT_TRUE(got.starts_with("error: ")) << item.at("template") << "\n"
                                                    << item.at("variables") << "\n"
                                                    << item.at("error") << "\n"
                                                    << got;
            continue;
        }
        if (is_refused_on_purpose(got)) continue;
        ++texts;
        EXPECT_EQ(got, item.at("text").get<std::string>()) << item.at("template") << "\n"
                                                           << item.at("variables");
    }
    EXPECT_GT(texts, static_cast<int>(all.size()) / 4);
}

TEST_F(Oracle, AgreesOnCommittedAndRandomTemplates) {
    const auto all = cases(templates_in(fs::path(TESSERA_SOURCE_DIR) / "tests/run/jinja/templates"), "600");
    ASSERT_GE(all.size(), 800u);
    compare(all);
}

/// A mark for each byte of a rendered text: 'f' if it is foreign.
std::string marks(const Text& text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) result += text.origin_at(i) == Origin::kForeign ? 'f' : '.';
    return result;
}

/// All texts of a conversation are Greek, and nothing else in a template is: the origin of every byte shows.
void check_origins(const nlohmann::ordered_json& all) {
    int64_t foreign = 0;
    for (const auto& item : all) {
        if (item.contains("error") || !item.at("variables").contains("messages")) continue;
        Variables variables;
        for (const auto& [name, value] : item.at("variables").items())
            variables.emplace_back(
                name, value_of(value,
                               name == "messages" || name == "tools" ? Origin::kForeign : Origin::kTemplate));
        const Template parsed = Template::parse(item.at("template").get<std::string>(), "t");
        const Text text = parsed.render(variables);
        std::string expected;
        for (const char c : text.bytes()) expected += static_cast<unsigned char>(c) >= 0x80 ? 'f' : '.';
        std::string got = marks(text);
        foreign += std::count(got.begin(), got.end(), 'f');
        // White space, and the names of roles, are of either kind.
        for (size_t i = 0; i < got.size(); ++i)
            if (got[i] == 'f' && static_cast<unsigned char>(text.bytes()[i]) < 0x80) got[i] = '.';
        EXPECT_EQ(got, expected) << text.bytes();
    }
    EXPECT_GT(foreign, 10000);
}

TEST_F(Oracle, KnowsWhichBytesAreForeign) {
    check_origins(cases(templates_in(fs::path(TESSERA_SOURCE_DIR) / "tests/run/jinja/templates"), "0"));
}

TEST_F(Oracle, AgreesOnPublishedTemplates) {
    TESSERA_SKIP_WITHOUT_SHARED("data/chat_templates", "published chat templates against Jinja2");
    const auto all = cases(templates_in(test::shared_data("data/chat_templates")), "0");
    ASSERT_GE(all.size(), 200u);
    compare(all);
}

}  // namespace
}  // namespace tessera::jinja
