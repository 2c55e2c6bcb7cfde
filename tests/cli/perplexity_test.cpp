#include <cmath>
#include <string>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

using PerplexityVerb = ToyBench;

TEST_F(PerplexityVerb, CountsTheSecondHalfOfEveryChunk) {
    const std::string text = "abcdefghijklmnopqrstuvwabcabc";
    write("text.txt", text);
    // By plain sums: chunks of 8, of which the letters 5 to 7 count.
    double sum = 0;
    int count = 0;
    for (size_t begin = 0; begin + 8 <= text.size(); begin += 8) {
        std::vector<int32_t> ids;
        for (size_t i = begin; i < begin + 8; ++i) ids.push_back(text[i] - 'a');
        const std::vector<float> logits = toy_.logits(ids);
        for (size_t next = 5; next < 8; ++next) {
            const float* row = logits.data() + (next - 1) * 23;
            double total = 0;
            for (int id = 0; id < 23; ++id) total += std::exp(static_cast<double>(row[id]));
            sum += std::log(total) - static_cast<double>(row[ids[next]]);
            ++count;
        }
    }
    const ProcessResult result = tessera({"perplexity", "toy.tsr", "-f", "text.txt", "-c", "8"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr(fmt::format("perplexity {:.4f} +- ", std::exp(sum / count))));
    EXPECT_THAT(result.output, HasSubstr(", of 9 tokens in 3 chunks of 8\n"));
    const std::string piped =
        fmt::format("{} perplexity {} -f - -c 8 < {}", TESSERA_PROGRAM, path("toy.tsr"), path("text.txt"));
    EXPECT_EQ(run_process({.program = "/bin/sh", .arguments = {"-c", piped}}).output, result.output);
    const ProcessResult json =
        tessera({"perplexity", "toy.tsr", "-f", "text.txt", "-c", "8", "--chunks", "1", "--json"});
    EXPECT_THAT(json.output, HasSubstr("\"tokens\": 3,\n \"chunks\": 1,\n \"context\": 8\n"));
}

TEST_F(PerplexityVerb, ATextThatIsTooShortIsAnError) {
    write("text.txt", std::string("abc"));
    const ProcessResult result = tessera({"perplexity", "toy.tsr", "-f", "text.txt"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors,
                HasSubstr("text.txt: has 3 tokens, a chunk has 512 (choose a longer text, or a "
                          "smaller --context)"));
}

}  // namespace
}  // namespace tessera
