// The timed cases follow from the declared micro-kernels.

#include "compiler/measure/kernel_cases.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "compiler/planner_options.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/kernels/unit_lanes.h"
#include "machine/machine_text.h"

namespace tessera::measure {
namespace {

class KernelCases : public ::testing::TestWithParam<const char*> {
protected:
    const machine::Machine machine_ =
        machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/" + GetParam() + ".toml");
    const std::vector<KernelSubject> subjects_ = kernel_subjects(machine_);
    const std::vector<KernelCase> cases_ = kernel_cases(subjects_, machine_);
};

/// Except those that combine the parts which workers leave of a reduction: there are none without workers;
/// and those for a unit that the machine has not.
TEST_P(KernelCases, ReachEveryDeclaredMicroKernel) {
    std::set<std::string> reached;
    for (const KernelCase& each : cases_) reached.insert(each.micro_kernel);
    for (const plan::MicroKernel* declared : kernels::micro_kernels()) {
        const bool has_unit =
            std::any_of(machine_.units.begin(), machine_.units.end(),
                        [&](const machine::ComputeUnit& unit) { return unit.kind == declared->unit; });
        EXPECT_EQ(reached.contains(std::string(declared->name)), declared->is_listed && has_unit)
            << declared->name;
    }
}

TEST_P(KernelCases, ReachEverySubject) {
    std::set<size_t> reached;
    for (const KernelCase& each : cases_) reached.insert(each.subject);
    EXPECT_EQ(reached.size(), subjects_.size());
}

TEST_P(KernelCases, AreOfTheMachinesWidthAndDiffer) {
    std::set<std::string> entries;
    for (const KernelCase& each : cases_) {
        if (!subjects_[each.subject].streamed.empty()) {
            EXPECT_EQ(each.parameters.at("lanes"), machine::vector_lanes(machine_));
        }
        EXPECT_TRUE(entries.insert(each.program.specialisation).second);
    }
}

TEST_P(KernelCases, TakeHalfOfTheCoresOwnCacheAtMost) {
    const machine::MemoryLevel& own = machine_.memory[1];
    for (const KernelCase& each : cases_)
        EXPECT_LE(each.constants_bytes, own.capacity_bytes / own.shared_by_cores / 2)
            << each.program.specialisation;
}

TEST_P(KernelCases, CommonTypesAreTimedWithSeveralRegisterBlocks) {
    std::map<std::pair<std::string, int64_t>, std::set<std::map<std::string, int64_t>>> blocks;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        if (each.micro_kernel == "contract" && subject.types.at("A") == "f32")
            blocks[{subject.types.at("B"), subject.sizes.at("m")}].insert(each.parameters);
    }
    for (const char* type : {"f32", "f16", "bf16"})
        for (const int64_t rows : {1, 144}) EXPECT_GE((blocks[{type, rows}].size()), 2U) << type << rows;
}

/// One row waits for the memory, whose prefetchers do not keep up with every format.
TEST_P(KernelCases, OneRowOfEveryQuantisedFormatIsTimedFetchingAheadAndNot) {
    std::map<std::string, std::set<bool>> fetches;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        if (each.micro_kernel == "contract_blocks" && subject.sizes.at("m") == 1 &&
            subject.types.at("A") != "i8")
            fetches[subject.types.at("B")].insert(each.parameters.contains("prefetch"));
    }
    EXPECT_EQ(fetches.size(), 8U);
    for (const auto& [format, both] : fetches) EXPECT_EQ(both.size(), 2U) << format;
}

/// A weight may be read in several streams; a cache lies in pages.
TEST_P(KernelCases, OneRowOfEveryWeightIsTimedInStreamsAndNot) {
    std::map<std::string, std::set<bool>> in_streams;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        if (subject.streamed != "n" || subject.sizes.at("m") != 1 || subject.types.at("A") == "i8") continue;
        if (subject.is_cached) {
            EXPECT_FALSE(each.parameters.contains("streams")) << subject.types.at("B");
        } else if (each.micro_kernel == "contract" || each.micro_kernel == "contract_blocks") {
            in_streams[subject.types.at("B")].insert(each.parameters.contains("streams"));
        }
    }
    EXPECT_GE(in_streams.size(), 11U);
    for (const auto& [format, both] : in_streams) EXPECT_EQ(both.size(), 2U) << format;
}

TEST_P(KernelCases, CachesAreStoredForNoUnit) {
    std::set<std::string> types;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        if (!subject.is_cached) continue;
        types.insert(subject.types.at("B"));
        EXPECT_FALSE(each.parameters.contains("k_lanes")) << subject.types.at("B");
    }
    EXPECT_EQ(types, (std::set<std::string>{"bf16", "f16", "f32"}));
}

/// If a unit multiplies pairs, attention of a cache of bf16 is timed with it and without.
TEST_P(KernelCases, AttentionOfPairsIsTimed) {
    std::map<std::string, std::set<bool>> by_kernel;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        const bool is_of_scores = each.micro_kernel == "contract" && subject.is_cached;
        if (!is_of_scores && each.micro_kernel != "stream") continue;
        if (subject.types.at("B") == "bf16") {
            EXPECT_EQ(subject.types.at("A"), "bf16");
            by_kernel[each.micro_kernel].insert(each.parameters.contains("dot"));
        }
    }
    const planner::PlannerOptions options = compiler::planner_options(machine_, 1);
    const bool has_pairs = kernels::adds_products(options.target(), ElementType::kBF16);
    for (const char* kernel : {"contract", "stream"})
        EXPECT_EQ(by_kernel[kernel], has_pairs ? (std::set<bool>{false, true}) : std::set<bool>{false});
}

/// Rows of 16 bits can be compared with the same as F32.
TEST_P(KernelCases, ManyRowsAreTimedAsTheyAreAndAsF32) {
    std::map<std::string, std::set<std::string>> by_weight;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        if (subject.streamed == "n" && subject.sizes.at("m") == 144)
            by_weight[subject.types.at("B")].insert(subject.types.at("A"));
    }
    for (const char* type : {"f16", "bf16"})
        EXPECT_EQ(by_weight[type], (std::set<std::string>{"f32", type})) << type;
}

/// Weights that are widened or spread are by panels and without. Those of F32 have nothing to gain.
TEST_P(KernelCases, ManyRowsAreTimedWithPanelsAndWithout) {
    std::map<std::pair<std::string, std::string>, std::set<bool>> with_panels;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        if (subject.streamed == "n" && subject.sizes.at("m") == 144 && !each.parameters.contains("tile_rows"))
            with_panels[{subject.types.at("A"), subject.types.at("B")}].insert(
                each.parameters.contains("panel_blocks"));
    }
    const std::set<bool> both{false, true};
    for (const char* type : {"f16", "bf16", "q8_0", "q4_k", "q6_k"})
        EXPECT_EQ((with_panels[{"f32", type}]), both) << type;
    for (const char* type : {"q8_0", "q4_0"}) EXPECT_EQ((with_panels[{"i15", type}]), both) << type;
    for (const char* type : {"q6_k", "q5_k"}) EXPECT_EQ((with_panels[{"i13", type}]), both) << type;
    EXPECT_EQ((with_panels[{"f32", "f32"}]), (std::set<bool>{false}));
}

/// Times of the matrix unit can be compared with those of the vectors, and exist for a lower tile, a whole
/// one, and a block.
TEST_P(KernelCases, ProductsOfAMatrixUnitStandBesideThoseOfVectors) {
    std::map<int64_t, std::set<std::string>> by_rows;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        if (subject.streamed == "n" && subject.types.at("A") == "bf16")
            by_rows[subject.sizes.at("m")].insert(each.micro_kernel +
                                                  (each.parameters.contains("dot") ? " dot" : ""));
    }
    const bool has_tiles = std::string(GetParam()) == "amx";
    for (const int64_t rows : {4, 16, 144}) {
        EXPECT_EQ(by_rows[rows].contains("contract_tiles"), has_tiles) << rows;
        EXPECT_TRUE(by_rows[rows].contains("contract")) << rows;
        EXPECT_TRUE(!has_tiles || by_rows[rows].contains("contract dot")) << rows;
    }
    EXPECT_EQ(by_rows[32], has_tiles ? std::set<std::string>{"contract_tiles"} : std::set<std::string>());
}

TEST_P(KernelCases, QuantisedProductsOfAMatrixUnitStandBesideThoseOfVectors) {
    std::map<std::pair<std::string, int64_t>, std::set<std::string>> by_rows;
    for (const KernelCase& each : cases_) {
        const KernelSubject& subject = subjects_[each.subject];
        if (subject.types.contains("B") && (subject.types.at("A") == "i15" || subject.types.at("A") == "i13"))
            by_rows[{subject.types.at("B"), subject.sizes.at("m")}].insert(each.micro_kernel);
    }
    const bool has_tiles = std::string(GetParam()) == "amx";
    for (const char* type : {"q8_0", "q4_0", "q4_k", "q5_k", "q6_k"}) {
        EXPECT_EQ((by_rows[{type, 4}]), std::set<std::string>{"contract_blocks"}) << type;
        std::set<std::string> expected{"contract_blocks"};
        if (has_tiles) expected.insert("contract_block_tiles");
        EXPECT_EQ((by_rows[{type, 144}]), expected) << type;
    }
}

TEST_P(KernelCases, WhatIsNoProductIsTimedByItsWork) {
    int products = 0, others = 0;
    for (const KernelCase& each : cases_) {
        const bool is_product = !subjects_[each.subject].streamed.empty();
        ++(is_product ? products : others);
        EXPECT_EQ(each.work.empty(), is_product) << each.program.specialisation;
    }
    EXPECT_GT(products, 100);
    EXPECT_GE(others, 12);
}

/// Waits of a fold for itself, and of others for a fold, can be told from other work.
TEST_P(KernelCases, FoldsAreTimedWithSeveralRegistersAndWithWhoWaitsForThem) {
    std::map<size_t, std::set<int64_t>> lanes_of_folds;
    int64_t most_waits = 0;
    for (const KernelCase& each : cases_) {
        const auto of = [&](const char* count) {
            const auto found = each.work.find(count);
            return found == each.work.end() ? int64_t{0} : found->second;
        };
        most_waits = std::max(most_waits, of("waits"));
        if (of("folds") > 0 && subjects_[each.subject].graph.blocks[0].nodes.size() == 1)
            lanes_of_folds[each.subject].insert(each.parameters.at("lanes"));
        EXPECT_TRUE(of("waits") <= 1 || of("waits") == of("ends")) << "chains go a row at a time";
    }
    EXPECT_EQ(most_waits, 16);
    const int64_t lanes = machine::vector_lanes(machine_);
    EXPECT_TRUE(std::any_of(lanes_of_folds.begin(), lanes_of_folds.end(), [&](const auto& found) {
        return found.second == std::set<int64_t>{lanes, 2 * lanes, 4 * lanes};
    }));
}

INSTANTIATE_TEST_SUITE_P(Machines, KernelCases,
                         ::testing::Values("avx512", "avx2", "generic-x86-64", "amx", "neon"),
                         [](const auto& test) {
                             std::string name = test.param;
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

}  // namespace
}  // namespace tessera::measure
