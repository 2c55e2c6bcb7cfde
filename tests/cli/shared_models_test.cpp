// Checkpoints with logits and greedy ids of independent implementations, through the command line, in both
// formats: as one chunk, in chunks of 7 and one by one.

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/shared_data.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

struct SharedModel {
    std::string name;  ///< of the test
    std::string model, ids, logits, greedy;
    std::string rows, equal;  ///< the contents of the files, as `verify` prints them
};

void PrintTo(const SharedModel& model, std::ostream* out) {
    *out << model.name;
}

std::vector<SharedModel> shared_models() {
    std::vector<SharedModel> models;
    for (const std::string architecture : {"llama", "llama3", "qwen2", "qwen3"}) {
        const std::string folder = "tiny-random/" + architecture + "/";
        for (const std::string form : {"hf", "model.gguf"})
            models.push_back({architecture + (form == "hf" ? "_hf" : "_gguf"), folder + form,
                              folder + "prompt_ids.json", folder + "expected_logits_f32.bin",
                              folder + "expected_greedy.json", "80 rows of 512", "32 of 32 ids are equal\n"});
    }
    const std::string stories = "stories260K/", expected = stories + "expected_greedy_numpy_f64";
    for (const std::string form : {"hf", "stories260K.gguf"})
        models.push_back({std::string("stories260K") + (form == "hf" ? "_hf" : "_gguf"), stories + form,
                          expected + ".json", expected + "_logits_f32.bin", expected + ".json",
                          "256 rows of 512", "256 of 256 ids are equal\n"});
    return models;
}

class SharedModels : public ::testing::TestWithParam<SharedModel> {};

TEST_P(SharedModels, AgreeAtEveryPosition) {
    TESSERA_SKIP_WITHOUT_SHARED("data", "logits and greedy ids of published checkpoints");
    const std::filesystem::path data = test::shared_data("data");
    const SharedModel& model = GetParam();
    const TemporaryFolder folder;
    for (const std::string chunk : {"", "7", "3", "1"}) {
        std::vector<std::string> arguments = {"XDG_CACHE_HOME=" + folder.path().string(),
                                              TESSERA_PROGRAM,
                                              "verify",
                                              (data / model.model).string(),
                                              "--ids",
                                              (data / model.ids).string(),
                                              "--logits",
                                              (data / model.logits).string(),
                                              "--greedy",
                                              (data / model.greedy).string()};
        if (!chunk.empty()) arguments.insert(arguments.end(), {"--chunk", chunk});
        const ProcessResult result = run_process({.program = "/usr/bin/env", .arguments = arguments});
        EXPECT_EQ(result.exit_code, 0) << "chunk " << chunk << "\n" << result.output << result.errors;
        EXPECT_THAT(result.output, HasSubstr(model.rows));
        EXPECT_THAT(result.output, HasSubstr(model.equal));
    }
}

INSTANTIATE_TEST_SUITE_P(Data, SharedModels, ::testing::ValuesIn(shared_models()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tessera
