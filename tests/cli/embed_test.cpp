#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// Its figures are tested in tests/python, beside the library's.
using EmbedVerb = ToyBench;

TEST_F(EmbedVerb, NeedsEmbeddingsAndAText) {
    const ProcessResult without = tessera({"embed", "toy.tsr", "-p", "a"});
    EXPECT_EQ(without.exit_code, 2);
    EXPECT_THAT(without.errors,
                HasSubstr("toy.tsr: was compiled without embeddings (compile the model again with "
                          "--embeddings)"));
    const ProcessResult none = tessera({"embed", "toy.tsr"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.errors, HasSubstr("`TEXT`: is missing"));
    EXPECT_EQ(tessera({"embed", "toy.tsr", "-p", "a", "--pooling", "max"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera
