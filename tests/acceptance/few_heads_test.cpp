// Models with fewer heads than workers: each worker folds its part of the cache, and the logits are those of
// one.
#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "acceptance/shipped_model.h"
#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "machine/probe.h"
#include "run/llm/language_model.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

constexpr int64_t kLayersOfFewHeads = 2;

struct FewHeads {
    const char* architecture;
    int64_t heads;
};

class FewHeadsTest : public ::testing::TestWithParam<FewHeads> {
protected:
    void write(int64_t heads, int64_t positions, int64_t cache_heads = 1) const {
        RandomDecoder decoder;
        decoder.architecture = GetParam().architecture;
        decoder.layers = kLayersOfFewHeads;
        decoder.heads = heads;
        decoder.cache_heads = cache_heads;
        decoder.width = 32;
        decoder.hidden = 48;
        decoder.feed_forward = 40;
        decoder.head_norms = decoder.architecture == "qwen3";
        decoder.fill(7);
        write_hugging_face(decoder, folder_.path());
        nlohmann::json config = config_of(decoder);
        config["max_position_embeddings"] = positions;
        write_file(folder_.path() / "config.json", config.dump());
    }

    compiler::CompileOptions options(int64_t workers) const {
        compiler::CompileOptions options = common_options(folder_.path());
        options.workers = workers;
        if (!barriers_.empty()) options.machine.barriers = barriers_;
        options.policy = import::Policy::kExact;
        return options;
    }

    /// The plan of the step for one token.
    plan::SpecialisationPlan decode_plan(int64_t workers) const {
        CompileReport report;
        const Graph graph = import::import_model(folder_.path()).graph;
        return compiler::compile_graph(graph, options(workers), report).plan.specialisations.front();
    }

    std::vector<float> logits(int64_t workers, int64_t chunk) const {
        const auto artefact = folder_.path() / (std::to_string(workers) + ".tsr");
        if (!exists(artefact)) (void)compiler::compile_model(folder_.path(), artefact, options(workers));
        llm::LanguageModel model(std::make_shared<const runtime::Artefact>(runtime::Artefact::open(artefact)),
                                 machine::host_features(), {.chunk = chunk});
        std::vector<int32_t> tokens;
        for (int32_t i = 0; i < 150; ++i) tokens.push_back(i * 5 % 23);
        const llm::Addition addition{model.session().open(), tokens, llm::every_row(tokens)};
        std::vector<float> all;
        model.session().add({&addition, 1}, [&](size_t, int32_t, std::span<const float> row) {
            all.insert(all.end(), row.begin(), row.end());
        });
        const runtime::LoadedProgram& program = model.program();
        EXPECT_LE(program.barriers(),
                  static_cast<int64_t>(tokens.size()) * (kLayersOfFewHeads * kBarriersOfABlock + 2));
        return all;
    }

    TemporaryFolder folder_;
    std::vector<machine::BarrierCost> barriers_;  ///< empty: the machine's
};

/// True if workers share the positions of attention.
bool combines(const plan::SpecialisationPlan& plan) {
    for (const plan::KernelPlan& kernel : plan.kernels) {
        for (const plan::Leaf* leaf : plan::leaves(kernel.nest)) {
            if (leaf->kernel->combines_parts && leaf->node.find("attend") != std::string::npos) return true;
        }
    }
    return false;
}

TEST_P(FewHeadsTest, AreAttendedToByAllWorkers) {
    write(GetParam().heads, 4096);
    barriers_ = {{.threads = 2, .seconds = 1e-6}};
    ASSERT_TRUE(combines(decode_plan(4)));
    for (const int64_t chunk : {0, 3, 1}) {
        const std::vector<float> one = logits(1, chunk), four = logits(4, chunk);
        ASSERT_EQ(one.size(), four.size());
        const auto [low, high] = std::minmax_element(one.begin(), one.end());
        double worst = 0;
        for (size_t i = 0; i < one.size(); ++i)
            worst = std::max(worst, std::fabs(static_cast<double>(one[i]) - static_cast<double>(four[i])));
        EXPECT_LE(worst / (static_cast<double>(*high) - static_cast<double>(*low)), kTolerance)
            << "chunk " << chunk;
        EXPECT_EQ(four, logits(4, chunk)) << "to the bit, chunk " << chunk;
    }
}

TEST_P(FewHeadsTest, AreDividedThemselvesWhereTheyAreEnough) {
    // Heads that shared a cache would each read all of it.
    write(GetParam().heads * 4, 1024, GetParam().heads * 4);
    EXPECT_FALSE(combines(decode_plan(4)));
    EXPECT_FALSE(combines(decode_plan(2)));
    EXPECT_FALSE(combines(decode_plan(1)));
}

TEST_P(FewHeadsTest, AreLeftAloneWhereTheCacheIsTooShortToPay) {
    write(GetParam().heads, 64);
    EXPECT_FALSE(combines(decode_plan(4)));
}

INSTANTIATE_TEST_SUITE_P(Heads, FewHeadsTest,
                         ::testing::Values(FewHeads{"llama", 1}, FewHeads{"llama", 2}, FewHeads{"qwen3", 1},
                                           FewHeads{"qwen3", 2}),
                         [](const auto& test) {
                             return std::string(test.param.architecture) + std::to_string(test.param.heads);
                         });

}  // namespace
}  // namespace tessera::testing
