#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<int32_t> kPrompt = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8};

std::string json(const std::vector<int32_t>& ids) {
    std::string text = "[";
    for (const int32_t id : ids) text += (text.size() == 1 ? "" : ", ") + std::to_string(id);
    return text + "]";
}

class LogitsVerbs : public ToyBench {
protected:
    void SetUp() override {
        ToyBench::SetUp();
        write("ids.json", json(kPrompt));
        write("expected.bin", toy_.logits(kPrompt));
    }
    ProcessResult verify(std::vector<std::string> more, const std::string& logits = "expected.bin") const {
        std::vector<std::string> all = {"verify", "toy.tsr", "--ids", "ids.json", "--logits", logits};
        all.insert(all.end(), more.begin(), more.end());
        return tessera(all);
    }
};

TEST_F(LogitsVerbs, OfEveryPositionInAnyChunks) {
    for (const std::string chunk : {"", "1", "3", "7", "100"}) {
        std::vector<std::string> arguments = {"logits", "toy.tsr", "--ids", "ids.json", "--out", "out.bin"};
        if (!chunk.empty()) arguments.insert(arguments.end(), {"--chunk", chunk});
        const ProcessResult result = tessera(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_THAT(result.output, IsEmpty());
        EXPECT_EQ(read_floats("out.bin"), toy_.logits(kPrompt)) << "chunk " << chunk;
    }
}

TEST_F(LogitsVerbs, LeavesNoFileBehindWhenItFails) {
    write("ids.json", "[1, 23]");
    const ProcessResult result = tessera({"logits", "toy.tsr", "--ids", "ids.json", "--out", "out.bin"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, EndsWith("\ntessera logits: toy: token 23 is not of the vocabulary of 23\n"));
    EXPECT_FALSE(std::filesystem::exists(path("out.bin")));
    write("ids.json", "[]");
    EXPECT_EQ(tessera({"logits", "toy.tsr", "--ids", "ids.json", "--out", "out.bin"}).errors,
              "tessera logits: ids.json: holds no ids\n");
    write("ids.json", json(std::vector<int32_t>(129)));
    EXPECT_THAT(tessera({"logits", "toy.tsr", "--ids", "ids.json", "--out", "out.bin"}).errors,
                HasSubstr("cannot have a context of 129 tokens: the compiled model allows up to 128"));
}

TEST_F(LogitsVerbs, VerifyAcceptsWhatIsEqual) {
    const ProcessResult result = verify({});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output,
              "logits      19 rows of 23, range 5.5\n"
              "error       0 of the range, within the tolerance of 3e-06\n"
              "top-1       19 of 19 rows agree\n"
              "divergence  mean 0, max 0\n");
}

TEST_F(LogitsVerbs, VerifyMeasuresAgainstTheRange) {
    std::vector<float> expected = toy_.logits(kPrompt);
    expected[5 * 23 + 4] += 0.5F;
    write("other.bin", expected);
    const ProcessResult result = verify({}, "other.bin");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(
        result.output,
        HasSubstr("error       0.0909 of the range, BEYOND the tolerance of 3e-06 (row 5, token 4: "));
    EXPECT_EQ(verify({"--tolerance", "0.0908"}, "other.bin").exit_code, 1);
    EXPECT_EQ(verify({"--tolerance", "0.0910"}, "other.bin").exit_code, 0);
}

TEST_F(LogitsVerbs, GreedyIdsContinueThePrompt) {
    const std::vector<int32_t> ids = greedy(kPrompt, 20);
    std::vector<int32_t> all = kPrompt;
    all.insert(all.end(), ids.begin(), ids.end());
    write("greedy.json", "{\"greedy_ids\": " + json(ids) + "}");
    write("all.bin", toy_.logits(all));
    for (const std::string chunk : {"1", "3", "7"}) {
        const ProcessResult result = verify({"--greedy", "greedy.json", "--chunk", chunk}, "all.bin");
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_THAT(result.output, HasSubstr("logits      39 rows of 23"));
        EXPECT_THAT(result.output, HasSubstr("greedy      20 of 20 ids are equal\n"));
    }
    EXPECT_EQ(verify({"--greedy", "greedy.json"}).exit_code, 0) << "rows of the prompt alone";

    std::vector<int32_t> wrong = ids;
    wrong[11] = (wrong[11] + 1) % 23;
    write("greedy.json", json(wrong));
    const ProcessResult result = verify({"--greedy", "greedy.json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output,
                HasSubstr(fmt::format("greedy      11 of 20 ids are equal, then {} where {} is expected\n",
                                      ids[11], wrong[11])));
}

TEST_F(LogitsVerbs, FilesOfAnotherShapeAreRefused) {
    std::vector<float> expected = toy_.logits(kPrompt);
    expected.resize(18 * 23);
    write("short.bin", expected);
    EXPECT_THAT(verify({}, "short.bin").errors,
                EndsWith("\ntessera verify: short.bin: has 18 rows, expected one for each of 19 ids (with "
                         "--greedy the rows may go on with the ids of that file)\n"));
    expected.pop_back();
    write("ragged.bin", expected);
    EXPECT_THAT(verify({}, "ragged.bin").errors,
                EndsWith("\ntessera verify: ragged.bin: has 1652 bytes, expected a multiple of the 92 of one "
                         "row of 23 logits\n"));
    write("empty.bin", "");
    EXPECT_EQ(verify({}, "empty.bin").exit_code, 1);
    expected = toy_.logits(kPrompt);
    expected[24] = NAN;
    write("nan.bin", expected);
    EXPECT_THAT(verify({}, "nan.bin").errors,
                EndsWith("\ntessera verify: nan.bin: holds nan at row 1, token 1\n"));
}

TEST_F(LogitsVerbs, VerifyReadsTheWeights) {
    std::fstream file(path("toy.tsr"), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-1, std::ios::end);
    file.put('x').flush();
    EXPECT_EQ(verify({}).exit_code, 1);
    EXPECT_THAT(verify({}).errors,
                HasSubstr("toy.tsr: `constants`: are damaged: their checksum does not fit"));
}

}  // namespace
}  // namespace tessera
