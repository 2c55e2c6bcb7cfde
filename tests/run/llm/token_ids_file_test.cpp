#include "run/llm/token_ids_file.h"

#include <array>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::llm {
namespace {

constexpr std::array<std::string_view, 2> kKeys = {"prompt_ids", "ids"};

class TokenIdsFile : public ::testing::Test {
protected:
    std::vector<TokenId> read(const std::string& text) {
        std::ofstream(path_) << text;
        return read_token_ids(path_, kKeys);
    }
    std::string problem(const std::string& text) {
        try {
            read(text);
        } catch (const Error& error) {
            return std::string(error.what()).substr(path_.string().size());
        }
        return "";
    }

    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_.path() / "ids.json";
};

TEST_F(TokenIdsFile, AListOrAKeyedOne) {
    const std::vector<TokenId> expected = {1, 0, 2147483647};
    EXPECT_EQ(read("[1, 0, 2147483647]\n"), expected);
    EXPECT_EQ(read(R"({"greedy_ids": [7], "ids": [8], "prompt_ids": [1, 0, 2147483647]})"), expected);
    EXPECT_EQ(read("[]"), std::vector<TokenId>());
}

TEST_F(TokenIdsFile, AnythingElseIsNamed) {
    EXPECT_EQ(problem("{}"),
              ": holds no token ids: expected a list, or an object with one under prompt_ids or ids");
    EXPECT_EQ(problem("3"),
              ": holds no token ids: expected a list, or an object with one under prompt_ids or ids");
    EXPECT_EQ(problem(R"({"ids": "1 2"})"), ": `ids`: is \"1 2\", expected a list");
    EXPECT_EQ(problem("[1, -2]"), ": `[1]`: is -2, expected a token id");
    EXPECT_EQ(problem("[2147483648]"), ": `[0]`: is 2147483648, expected a token id");
    EXPECT_EQ(problem("[1.0]"), ": `[0]`: is 1.0, expected a token id");
    EXPECT_EQ(problem("[[1]]"), ": `[0]`: is [1], expected a token id");
    EXPECT_NE(problem("[1, 2").find("is not valid JSON"), std::string::npos);
    EXPECT_THROW(read_token_ids(folder_.path() / "missing", kKeys), Error);
}

}  // namespace
}  // namespace tessera::llm
