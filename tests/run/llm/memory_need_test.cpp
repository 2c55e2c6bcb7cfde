#include "run/llm/memory_need.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/probe.h"
#include "run/llm/language_model.h"
#include "run/runtime/toy_model.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(MemoryNeed, CountsWeightsCacheAndBuffers) {
    const runtime::ToyModel
        toy;  // two caches of one i32 for each token, an arena of 32 bytes or 64, 128 bytes of weights
    const MemoryNeed need = memory_need(toy.manifest(), {.context = 40, .sequences = 2});
    EXPECT_EQ(need.weights, 128);
    EXPECT_EQ(need.cache_per_token, 8);
    EXPECT_EQ(need.cache, 2 * 48 * 8);  // whole pages of 16
    EXPECT_EQ(need.step, 64);
    EXPECT_EQ(need.total(), 128 + 768 + 64);
    EXPECT_EQ(memory_need(toy.manifest(), {}).context, 128);
}

TEST(MemoryNeed, IsWhatAProgramAllocates) {
    const TemporaryFolder folder;
    const runtime::ToyModel toy;
    toy.write(folder.path() / "toy.tsr");
    const SessionOptions options{.context = 100, .sequences = 3};
    const LanguageModel model(
        std::make_shared<const runtime::Artefact>(runtime::Artefact::open(folder.path() / "toy.tsr")),
        machine::host_features(), options);
    const MemoryNeed need = memory_need(toy.manifest(), options);
    EXPECT_EQ(model.memory_bytes(), need.cache + need.step);
    EXPECT_EQ(static_cast<int64_t>(model.artefact().constants().size()), need.weights);
}

TEST(MemoryNeed, TheLargestContextFitsAndOneMorePageDoesNot) {
    const runtime::Manifest manifest = runtime::ToyModel().manifest();
    for (const int64_t sequences : {1, 2}) {
        const MemoryNeed need = memory_need(manifest, {.context = 128, .sequences = sequences});
        for (const int64_t available :
             {int64_t{0}, int64_t{191}, int64_t{500}, int64_t{960}, int64_t{5000}}) {
            const int64_t largest = largest_context(manifest, need, available);
            const auto fits = [&](int64_t context) {
                try {
                    check_fits(manifest, memory_need(manifest, {.context = context, .sequences = sequences}),
                               available);
                    return true;
                } catch (const Error&) {
                    return false;
                }
            };
            EXPECT_EQ(fits(std::max<int64_t>(largest, 1)), largest > 0) << available;
            EXPECT_EQ(fits(std::min<int64_t>(largest + 1, 128)), largest == 128) << available;
        }
    }
}

TEST(MemoryNeed, ARefusalSaysWhatWouldFit) {
    const runtime::Manifest manifest = runtime::ToyModel().manifest();
    const auto error_at = [&](int64_t available) -> std::string {
        try {
            check_fits(manifest, memory_need(manifest, {}), available);
        } catch (const Error& error) {
            return error.what();
        }
        return "fits";
    };
    EXPECT_EQ(error_at(128 + 64 + 128 * 8), "fits");
    EXPECT_THAT(error_at(1000), AllOf(HasSubstr("needs 1.22 kB of memory"), HasSubstr("128 B weights"),
                                      HasSubstr("1.00 kB are allowed"), HasSubstr("--context 96 fits")));
    EXPECT_THAT(error_at(100), HasSubstr("no context fits"));
}

TEST(MemoryNeed, IsSaidInOneLine) {
    const runtime::Manifest manifest = runtime::ToyModel().manifest();
    EXPECT_EQ(describe(manifest, memory_need(manifest, {.context = 40}), 1000),
              "weights 128 B mapped, cache 8 B per token x 40, step buffers 64 B; up to 96 tokens fit into "
              "1.00 kB");
}

TEST(MemoryNeed, BytesHaveThreeDigits) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(999), "999 B");
    EXPECT_EQ(bytes_text(1000), "1.00 kB");
    EXPECT_EQ(bytes_text(9996), "10.0 kB");
    EXPECT_EQ(bytes_text(229376), "229 kB");
    EXPECT_EQ(bytes_text(999'500), "1.00 MB");
    EXPECT_EQ(bytes_text(2388393984), "2.39 GB");
}

}  // namespace
}  // namespace tessera::llm
