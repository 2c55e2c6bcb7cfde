#include "chip/measured_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::chip {
namespace {

using ::testing::HasSubstr;

TEST(MeasuredCosts, AreReadByColumns) {
    const MeasuredCosts costs = read_measured_costs(
        "cycles,operator, m,n,k,batch,link,bytes,results,iterations,operations,special\r\n"
        "812.5,product,4,8,16,2,,,,,,\r\n"
        "\n"
        "700,,,,,,core,4096,,,,\n"
        "90,reduction,,,,,,,3,12,24,0\n"
        "40,elementwise,,,,,,,,12,24,1e1\n",
        "t.csv");
    ASSERT_EQ(costs.tiles.size(), 3u);
    const CostSample& product = costs.tiles.at(machine::TileKind::kProduct)[0];
    EXPECT_EQ(product.inputs, (std::vector<double>{4, 8, 16, 2, 1024}));  // the last is the volume
    EXPECT_EQ(product.cycles, 812.5);
    EXPECT_EQ(costs.tiles.at(machine::TileKind::kReduction)[0].inputs, (std::vector<double>{3, 12, 24, 0}));
    EXPECT_EQ(costs.tiles.at(machine::TileKind::kElementwise)[0].inputs, (std::vector<double>{12, 24, 10}));
    ASSERT_EQ(costs.links.size(), 1u);
    EXPECT_EQ(costs.links.at(MeasuredLink::kCore)[0].inputs, (std::vector<double>{4096}));
}

TEST(MeasuredCosts, WrongTablesAreRefused) {
    struct Wrong {
        const char* text;
        const char* message;
    };
    const Wrong wrong[] = {
        {"", "t.csv: has an empty first line, expected names of columns"},
        {"operator,m,time\n", "t.csv:1: `time`: is no column of measurements"},
        {"operator,volume,cycles\n", "t.csv:1: `volume`: is no column"},
        {"operator,m,m,cycles\n", "t.csv:1: `m`: is there twice"},
        {"operator,m\n", "t.csv:1: `cycles`: is missing"},
        {"m,cycles\n", "t.csv:1: `operator`: is missing, and so is `link`"},
        {"link,bytes,cycles\n", "`cycles`: has no measurement below it"},
        {"link,bytes,cycles\ncore,1\n",
         "t.csv:2: `cycles`: ends a line of 2 entries, and there are 3 columns"},
        {"link,bytes,cycles\ncore,1,2,3\n", "ends a line of 4 entries"},
        {"link,bytes,cycles\n\nbus,1,2\n", "t.csv:3: `link`: is bus, expected core, hbm or chip"},
        {"link,bytes,cycles\n,1,2\n", "`operator`: is empty, and so is `link`"},
        {"link,operator,bytes,cycles\ncore,product,1,2\n", "`link`: is given beside `operator`"},
        {"operator,cycles\nmatmul,3\n", "`operator`: is matmul, expected product, attention"},
        {"operator,m,n,k,cycles\nproduct,1,1,1,3\n", "`batch`: is missing for product"},
        {"operator,m,n,k,batch,cycles\nproduct,1,,1,1,3\n", "`n`: is missing for product"},
        {"operator,m,n,k,batch,cycles\nproduct,1,x,1,1,3\n", "`n`: is x, expected a number"},
        {"operator,m,n,k,batch,cycles\nproduct,1,nan,1,1,3\n", "`n`: is nan, expected a number"},
        {"operator,m,n,k,batch,cycles\nproduct,1,-2,1,1,3\n", "`n`: is -2, expected 0 to 1e+15"},
        {"operator,m,n,k,batch,cycles\nproduct,1,2e15,1,1,3\n", "`n`: is 2e+15"},
        {"operator,m,n,k,batch,cycles\nproduct,1,1,1,1,0\n", "`cycles`: is 0, expected 0.001 to 1e+15"},
        {"operator,m,n,k,batch,cycles\nproduct,1,1,1,1,\n", "`cycles`: is missing for product"},
        {"operator,m,n,k,batch,bytes,cycles\nproduct,1,1,1,1,5,3\n",
         "`bytes`: is 5, and product has no such input"},
        {"link,bytes,m,cycles\nhbm,8,3,3\n", "`m`: is 3, and hbm has no such input"},
        {"link,bytes,cycles\nhbm,,3\n", "`bytes`: is missing for hbm"},
    };
    for (const Wrong& each : wrong) {
        try {
            read_measured_costs(each.text, "t.csv");
            ADD_FAILURE() << each.text;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(each.message)) << each.text;
        }
    }
}

}  // namespace
}  // namespace tessera::chip
