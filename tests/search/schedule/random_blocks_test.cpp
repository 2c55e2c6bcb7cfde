// Random blocks of up to four operators: the search finds what trying every structure finds.
#include <gtest/gtest.h>

#include "search/schedule/every_structure.h"
#include "search/schedule/random_block.h"
#include "search/schedule/search.h"
#include "search/schedule/searched.h"

namespace tessera::schedule {
namespace {

using testing::RandomBlock;
using testing::Searched;

TEST(ScheduleSearch, FindsTheBestStructureOfRandomBlocks) {
    int fused = 0;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        const std::string text = RandomBlock(seed).run();
        Searched searched(text);
        const Schedule found = search(searched.context(), {});
        EXPECT_TRUE(found.is_exhausted) << text;
        // Merges that save less than 0.05 % are not tried.
        double seconds = 0;
        for (const SolvedKernel& kernel : found.kernels) seconds += kernel.seconds;
        EXPECT_NEAR(seconds / least_of(searched.context()), 1, 0.003) << text;
        fused += found.kernels.size() < searched.context().links.operators.size();
    }
    EXPECT_GT(fused, 20);
}

}  // namespace
}  // namespace tessera::schedule
