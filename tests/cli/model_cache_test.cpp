// A bare model is compiled into the user's cache, once.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class ModelCache : public ToyBench {
protected:
    void SetUp() override {
        fs::copy(TESSERA_SOURCE_DIR "/models/tessera-tiny", path("model"), fs::copy_options::recursive);
    }

    std::set<fs::path> artefacts() const {
        std::set<fs::path> found;
        for (const auto& entry : fs::directory_iterator(path("cache/tessera/models")))
            if (entry.path().extension() == ".tsr") found.insert(entry.path());
        return found;
    }
    ProcessResult verify() const {
        return tessera({"verify", "model", "--ids", "model/reference/ids.json", "--logits",
                        "model/reference/logits.bin", "--greedy", "model/reference/greedy.json"});
    }
};

TEST_F(ModelCache, FirstUseCompilesAndSaysSo) {
    ProcessResult result = verify();
    EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("compiling model into " + path("cache/tessera/models/model-")));
    ASSERT_EQ(artefacts().size(), 1U);

    result = verify();
    EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
    EXPECT_THAT(result.errors, Not(HasSubstr("compiling")));

    const fs::path before = *artefacts().begin();
    fs::last_write_time(path("model/config.json"),
                        fs::last_write_time(path("model/config.json")) + std::chrono::seconds(5));
    EXPECT_THAT(verify().errors, Not(HasSubstr("compiling"))) << "contents count, not times";
    std::ofstream(path("model/config.json"), std::ios::app) << " ";
    EXPECT_THAT(verify().errors, HasSubstr("compiling model into "));
    ASSERT_EQ(artefacts().size(), 1U) << "the older one has gone";
    EXPECT_NE(*artefacts().begin(), before);

    fs::resize_file(*artefacts().begin(), 1000);
    result = verify();
    EXPECT_EQ(result.exit_code, 0) << "a damaged cache is made anew";
    EXPECT_THAT(result.errors, HasSubstr("compiling model into "));
}

// As packages with fixed times, `cp -p` and `rsync -t` do it.
TEST_F(ModelCache, OtherWeightsOfTheSameSizeAndTimeAreAnotherModel) {
    const fs::path weights = path("model/model.safetensors");
    const auto logits = [&] {
        const ProcessResult result =
            tessera({"logits", "model", "--ids", "model/reference/ids.json", "--out", "out.bin"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return read_floats("out.bin");
    };
    const std::vector<float> first = logits();
    const auto time = fs::last_write_time(weights);
    {
        // The sign of one number of the last tensor, in place.
        std::fstream file(weights, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(-1, std::ios::end);
        const char last = static_cast<char>(file.get());
        file.seekp(-1, std::ios::end);
        file.put(static_cast<char>(last ^ '\x80'));
    }
    fs::last_write_time(weights, time);
    EXPECT_NE(logits(), first);
    ASSERT_EQ(artefacts().size(), 1U) << "the older one has gone";
}

TEST_F(ModelCache, FlagsOfCompileMakeAnArtefactOfTheirOwn) {
    const auto run = [&](const std::string& model, std::vector<std::string> flags) {
        flags.insert(flags.begin(), {"run", model, "-p", "12 + 34 =", "--policy", "exact"});
        return tessera(flags);
    };
    ProcessResult result = run("model", {"--cache-type", "q8_0", "--workers", "1"});
    EXPECT_EQ(result.output, " 46\n") << result.errors;
    ASSERT_EQ(artefacts().size(), 1U);
    EXPECT_THAT(run("model", {"--cache-type", "q8_0", "--workers", "1"}).errors, Not(HasSubstr("compiling")));
    EXPECT_THAT(run("model", {"--quantize", "q8_0", "--workers", "1"}).errors, HasSubstr("compiling"));
    ASSERT_EQ(artefacts().size(), 2U) << "a type of the cache is none of the weights";
    const auto is_of_q8_cache = [&](const fs::path& artefact) {
        return tessera({"inspect", artefact.string()}).output.find("cache q8_0") != std::string::npos;
    };
    const std::set<fs::path> both = artefacts();
    fs::rename(*std::find_if(both.begin(), both.end(), is_of_q8_cache), path("q8.tsr"));
    EXPECT_THAT(tessera({"inspect", "q8.tsr"}).output, HasSubstr("policy exact, cache q8_0"));

    EXPECT_EQ(run("q8.tsr", {"--cache-type", "q8_0"}).output, " 46\n");
    for (const auto& [flag, value, problem] :
         {std::tuple{"--cache-type", "f16", "is compiled with the cache type q8_0, and cannot run with f16"},
          std::tuple{"--quantize", "q4_0", "is compiled already, which quantising would change"}}) {
        result = run("q8.tsr", {flag, value});
        EXPECT_EQ(result.exit_code, 2);
        EXPECT_THAT(result.errors, HasSubstr(problem));
    }
}

// The name occurs in the generated C++, the plan, the manifest, the cache and the terminal's output.
TEST_F(ModelCache, ANameOfAFolderIsOnlyAName) {
    const std::string folder = "a\n#error b\\\xff\"'*$(touch run)`touch run`\x1b[2J\\";
    fs::rename(path("model"), path(folder));
    ProcessResult result = tessera({"run", folder, "-p", "12 + 34 ="});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, " 46\n");
    EXPECT_THAT(result.errors, HasSubstr("compiling a\\n#error b\\\\xff"));
    ASSERT_EQ(artefacts().size(), 1U);
    fs::rename(*artefacts().begin(), path("a.tsr"));
    for (const std::string what : {"--plan", "--manifest", "--graph", "--memory"})
        EXPECT_EQ(tessera({"inspect", "a.tsr", what}).exit_code, 0) << what;
    EXPECT_EQ(tessera({"retarget", "a.tsr", "-q", "-o", "b.tsr"}).exit_code, 0);
    for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
             {"inspect", "a.tsr"}, {"check", folder}, {"bench", "a.tsr", "--repeat", "1", "--decode", "2"}}) {
        result = tessera(verb);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        for (const std::string hostile : {"\x1b", "\n#error"})
            EXPECT_EQ((result.output + result.errors).find(hostile), std::string::npos) << verb[0];
    }
    EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(ModelCache, WithoutModelTheShippedOneRuns) {
    const ProcessResult result = tessera({"run", "-p", "12 + 34 ="});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, " 46\n");
    EXPECT_THAT(result.errors, HasSubstr("compiling "));
    EXPECT_THAT(result.errors, HasSubstr("models/tessera-tiny into "));
}

}  // namespace
}  // namespace tessera
