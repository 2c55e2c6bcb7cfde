#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "ir/facts/fact_files.h"
#include "ir/random_definition.h"
#include "support/error.h"
#include "support/shared_data.h"

// The zoo's own oracle on definitions that it has not seen, where it and Debian's Python are there. Its sbp
// and linear come from a handful of contents and so may hold by chance where the derivation, which speaks for
// all contents, has nothing: for these facts, only the claims of the derivation are compared.
namespace tessera::facts {
namespace {

constexpr uint64_t kFirst = 5000;
constexpr uint64_t kDefinitions = 80;

class Oracle : public ::testing::Test {
protected:
    void SetUp() override {
        TESSERA_SKIP_WITHOUT_SHARED("zoo/oracle.py", "facts of random definitions against the oracle");
        if (std::system(
                "/usr/bin/python3 -c 'import numpy, sys; assert sys.version_info >= (3, 11)' 2>/dev/null") !=
            0)
            GTEST_SKIP() << "not checked: facts against the oracle, which needs python3 3.11 with numpy";
        std::string pattern = (std::filesystem::temp_directory_path() / "tessera-oracle-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override {
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }

    std::filesystem::path folder_;
};

// Without the oracle's claims that the derivation does not make.
nlohmann::json without_unclaimed(const nlohmann::json& got, nlohmann::json want) {
    for (const char* fact : {"sbp", "linear"})
        for (auto entry = want[fact].begin(); entry != want[fact].end();)
            entry = got[fact].contains(entry.key()) ? std::next(entry) : want[fact].erase(entry);
    return want;
}

TEST_F(Oracle, AgreesOnRandomDefinitions) {
    for (uint64_t seed = kFirst; seed < kFirst + kDefinitions; ++seed)
        std::ofstream(folder_ / fmt::format("{}.op", seed))
            << random_definition_text(seed, {.largest_box = 3000});
    const std::string command = fmt::format("/usr/bin/python3 -B '{}' --write '{}' > /dev/null",
                                            (zoo() / "oracle.py").string(), folder_.string());
    ASSERT_EQ(std::system(command.c_str()), 0);
    for (const auto& file : definitions_in(folder_)) {
        const std::string text = read_text(file);
        SCOPED_TRACE(text);
        const auto got = facts_of(text, file.string(), true);
        const auto want = read_json(std::filesystem::path(file).replace_extension(".json"));
        EXPECT_THAT(differences(got, without_unclaimed(got, want)), ::testing::IsEmpty());
    }
}

}  // namespace
}  // namespace tessera::facts
