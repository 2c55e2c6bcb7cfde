// The shipped model by several workers: the same logits, to the bit on repetition, with few barriers.
#include <memory>

#include <gtest/gtest.h>

#include "acceptance/shipped_model.h"
#include "machine/probe.h"
#include "run/llm/language_model.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

constexpr int64_t kLayers = 4;

std::vector<float> logits_of(const std::filesystem::path& artefact, int64_t chunk) {
    llm::LanguageModel model(std::make_shared<const runtime::Artefact>(runtime::Artefact::open(artefact)),
                             machine::host_features(), {.chunk = chunk});
    std::vector<int32_t> tokens;
    for (int32_t i = 0; i < 60; ++i) tokens.push_back(1 + i * 37 % 300);
    const llm::Addition addition{model.session().open(), tokens, llm::every_row(tokens)};
    std::vector<float> all;
    model.session().add({&addition, 1}, [&](size_t, int32_t, std::span<const float> logits) {
        all.insert(all.end(), logits.begin(), logits.end());
    });
    const runtime::LoadedProgram& program = model.program();
    // This holds for each token; a step of many may have more barriers, since it saves more. Outside the
    // layers only the head needs one, or two: the token's embedding, and the rows' norm.
    EXPECT_LE(program.barriers(), static_cast<int64_t>(tokens.size()) * (kLayers * kBarriersOfABlock + 2));
    EXPECT_EQ(program.barriers() > 0, program.workers() > 1);
    return all;
}

class ShippedModelBy : public ::testing::TestWithParam<int64_t> {};

TEST_P(ShippedModelBy, SeveralWorkersAgreesWithTheReference) {
    const TemporaryFolder folder;
    const std::filesystem::path artefact = compile_with("", folder.path(), GetParam());
    EXPECT_EQ(runtime::Artefact::open(artefact).manifest().workers, GetParam());
    for (const int64_t chunk : {0, 7, 3, 1}) {
        const llm::LogitsComparison comparison = compared_with_reference(artefact, chunk);
        EXPECT_LE(comparison.worst_error(), kTolerance)
            << "chunk " << chunk << ": " << comparison.worst_element();
        EXPECT_EQ(logits_of(artefact, chunk), logits_of(artefact, chunk)) << "to the bit, chunk " << chunk;
    }
}

INSTANTIATE_TEST_SUITE_P(Counts, ShippedModelBy, ::testing::Values(1, 2, 3, 5),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace tessera::testing
