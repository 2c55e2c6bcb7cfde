// `tessera cache` on a folder of artefacts, and the limit after a compilation.

#include <ctime>
#include <filesystem>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CacheVerb : public ToyBench {
protected:
    void SetUp() override {
        ToyBench::SetUp();
        fs::create_directories(models());
        for (const auto& [name, used] : {std::pair{"alpha-1-1", 1'000'000'000},
                                         {"alpha-2-1", 1'000'086'400},
                                         {"beta-1-1", 1'000'172'800}}) {
            fs::copy(path("toy.tsr"), models() / (std::string(name) + ".tsr"));
            const timespec times[] = {{.tv_sec = used, .tv_nsec = 0}, {.tv_sec = used, .tv_nsec = 0}};
            ASSERT_EQ(::utimensat(AT_FDCWD, (models() / (std::string(name) + ".tsr")).c_str(), times, 0), 0);
        }
        fs::create_directories(path("cache/tessera/code"));
        write("cache/tessera/code/0123", "compiled");
    }
    fs::path models() const { return path("cache/tessera/models"); }
    bool has(const std::string& name) const { return fs::exists(models() / (name + ".tsr")); }
    uint64_t size() const { return fs::file_size(path("toy.tsr")); }
};

TEST_F(CacheVerb, ListsTheLastUsedFirst) {
    write("cache/tessera/models/broken.tsr", "no artefact");
    const ProcessResult result = tessera({"cache", "list"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, AllOf(HasSubstr("NAME"), HasSubstr("LAST USED"), HasSubstr("2001-09-09"),
                                     HasSubstr("damaged, or of another version"), HasSubstr("4 models"),
                                     HasSubstr("without a limit")));
    EXPECT_LT(result.output.find("broken"), result.output.find("beta-1-1"));
    EXPECT_LT(result.output.find("beta-1-1"), result.output.find("alpha-2-1"));
    EXPECT_LT(result.output.find("alpha-2-1"), result.output.find("alpha-1-1"));

    const auto document = nlohmann::json::parse(tessera({"cache", "list", "--json"}).output);
    ASSERT_EQ(document.at("models").size(), 4u);
    EXPECT_EQ(document.at("models").at(3).at("name"), "alpha-1-1");
    EXPECT_EQ(document.at("models").at(3).at("bytes"), size());
    EXPECT_EQ(document.at("models").at(3).at("last_used"), "2001-09-09T01:46:40Z");
    EXPECT_EQ(document.at("bytes"), 3 * size() + 11);
    EXPECT_EQ(document.at("limit"), nullptr);
    EXPECT_EQ(document.at("code_bytes"), 8);
}

TEST_F(CacheVerb, AnEmptyCacheHasNoModels) {
    fs::remove_all(path("cache"));
    EXPECT_THAT(tessera({"cache", "list"}).output, HasSubstr("0 models, 0 bytes"));
    EXPECT_EQ(tessera({"cache", "rm", "--all"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(path("cache"))) << "looking makes nothing";
}

TEST_F(CacheVerb, RemovesByNameOrAll) {
    const ProcessResult several = tessera({"cache", "rm", "alpha"});
    EXPECT_EQ(several.exit_code, 1);
    EXPECT_THAT(several.errors, HasSubstr("`alpha`: begins the names of 2 models"));
    const ProcessResult none = tessera({"cache", "rm", "beta-1-1", "gamma"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.errors, HasSubstr("`gamma`: is no model in the cache"));
    EXPECT_TRUE(has("beta-1-1")) << "nothing is removed where a name is wrong";

    const ProcessResult result = tessera({"cache", "rm", "beta", "alpha-1"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.errors, AllOf(HasSubstr("removed beta-1-1, "), HasSubstr("removed alpha-1-1, ")));
    EXPECT_FALSE(has("beta-1-1"));
    EXPECT_TRUE(has("alpha-2-1"));

    EXPECT_EQ(tessera({"cache", "rm", "--all"}).exit_code, 0);
    EXPECT_FALSE(has("alpha-2-1"));
    EXPECT_FALSE(fs::exists(path("cache/tessera/code/0123")));

    EXPECT_EQ(tessera({"cache", "rm"}).exit_code, 2);
    EXPECT_EQ(tessera({"cache", "rm", "x", "--all"}).exit_code, 2);
    EXPECT_EQ(tessera({"cache"}).exit_code, 2);
}

TEST_F(CacheVerb, ALimitRemovesWhatWasNotUsedForLongest) {
    EXPECT_EQ(tessera({"cache", "limit"}).output, "none\n");
    const ProcessResult result = tessera({"cache", "limit", std::to_string(2 * size())});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.errors, AllOf(HasSubstr("removed alpha-1-1"), Not(HasSubstr("beta"))));
    EXPECT_FALSE(has("alpha-1-1"));
    EXPECT_TRUE(has("alpha-2-1"));
    EXPECT_THAT(tessera({"cache", "list"}).output, HasSubstr("at most"));

    EXPECT_EQ(tessera({"cache", "limit", "1.5 GiB"}).exit_code, 0);
    EXPECT_EQ(tessera({"cache", "limit"}).output, "1.5 GiB\n");
    EXPECT_EQ(tessera({"cache", "limit", "none"}).exit_code, 0);
    EXPECT_EQ(tessera({"cache", "limit"}).output, "none\n");
    for (const char* wrong : {"much", "-1", "1X", "1GG", "nan", "1e30"}) {
        const ProcessResult refused = tessera({"cache", "limit", "--", wrong});
        EXPECT_EQ(refused.exit_code, 2) << wrong;
        EXPECT_THAT(refused.errors, HasSubstr("expected a size as 20G")) << wrong;
    }
    write("cache/tessera/models/limit", "large");
    EXPECT_THAT(tessera({"cache", "list"}).errors, HasSubstr("holds no number of bytes"));
}

TEST_F(CacheVerb, ACompilationKeepsTheLimitAndAUseRenewsTheTime) {
    fs::copy(TESSERA_SOURCE_DIR "/models/tessera-tiny", path("model"), fs::copy_options::recursive);
    ASSERT_EQ(tessera({"cache", "limit", "1K"}).exit_code, 0);
    EXPECT_FALSE(has("beta-1-1"));
    const ProcessResult first = tessera({"run", "model", "-p", "1 + 1 =", "-n", "2"});
    ASSERT_EQ(first.exit_code, 0) << first.errors;
    const auto listed = [&] {
        return nlohmann::json::parse(tessera({"cache", "list", "--json"}).output).at("models");
    };
    ASSERT_EQ(listed().size(), 1u) << "the model in use stays though it is too large";
    const std::string name = listed().at(0).at("name");
    fs::copy(path("toy.tsr"), models() / "later.tsr");
    const timespec old[] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (models() / (name + ".tsr")).c_str(), old, 0), 0);
    EXPECT_EQ(listed().at(1).at("name"), name);
    ASSERT_EQ(tessera({"run", "model", "-p", "1 + 1 =", "-n", "2"}).exit_code, 0);
    EXPECT_EQ(listed().at(0).at("name"), name);

    fs::copy(path("model"), path("other"), fs::copy_options::recursive);
    const ProcessResult second = tessera({"run", "other", "-p", "1 + 1 =", "-n", "2"});
    EXPECT_EQ(second.exit_code, 0) << second.errors;
    EXPECT_THAT(second.errors, HasSubstr("for the limit of the cache"));
    EXPECT_EQ(listed().size(), 1u);
}

}  // namespace
}  // namespace tessera
