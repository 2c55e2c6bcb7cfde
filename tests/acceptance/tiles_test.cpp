// The shipped model in BF16 and in Q8_0, compiled for machines with a matrix unit whose flags leave it to
// NTT's emulation: the unit's code runs here, and the logits are near the shipped reference.

#include <algorithm>
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "acceptance/shipped_model.h"
#include "compiler/compiler.h"
#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "lowering/kernels/micro_kernels.h"
#include "machine/cpu_features.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "run/runtime/artefact.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;

/// The shipped model with all tensors rounded to BF16.
void write_in_bf16(const fs::path& folder) {
    fs::create_directories(folder);
    for (const char* name : {"config.json", "tokenizer.json"})
        fs::copy_file(shipped_model() / name, folder / name);
    const std::string file = bytes_of(shipped_model() / "model.safetensors");
    uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
    const char* const data = file.data() + sizeof header_bytes + header_bytes;
    const auto header = nlohmann::json::parse(file.substr(sizeof header_bytes, header_bytes));
    std::map<std::string, NamedTensor> tensors;
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") continue;
        NamedTensor tensor{.shape = entry.at("shape"), .values = {}, .type = "BF16", .stored = {}};
        const int64_t begin = entry.at("data_offsets")[0], end = entry.at("data_offsets")[1];
        for (int64_t at = begin; at < end; at += 4) {
            float value = 0;
            std::memcpy(&value, data + at, sizeof value);
            value = static_cast<float>(round_to(ElementType::kBF16, value));
            tensor.stored.append(reinterpret_cast<const char*>(&value) + 2, 2);  // the upper half
        }
        tensors[name] = std::move(tensor);
    }
    write_file(folder / "model.safetensors", safetensors_of(tensors));
}

/// 16 x 16 sums, or as many columns as the vectors have lanes, from rows of 64 bytes each, in which
/// `neighbours` numbers take four.
machine::ComputeUnit tile_unit(const char* factors, const char* sums, int64_t neighbours, int64_t lanes) {
    return {.name = std::string("tiles-") + factors,
            .kind = machine::UnitKind::kMatrix,
            .operands = {{"A", factors, {{'m', 16}, {'k', 16 * neighbours}}},
                         {"B", factors, {{'k', 16}, {'n', lanes}, {'k', neighbours}}},
                         {"C", sums, {{'m', 16}, {'n', lanes}}}},
            .registers = 8,
            .strided_rows = true};
}

class Tiles : public ::testing::Test {
protected:
    Tiles() { write_in_bf16(folder_.path() / "bf16"); }

    machine::Machine with_tiles(machine::Machine machine) const {
        machine.units.push_back(tile_unit("bf16", "f32", 2, machine::vector_lanes(machine)));
        machine.units.push_back(tile_unit("i8", "i32", 4, machine::vector_lanes(machine)));
        return machine;
    }
    fs::path compiled(const fs::path& model, const machine::Machine& machine, const std::string& name,
                      int64_t workers = 1, std::optional<import::Mixture> quantisation = std::nullopt) {
        compiler::CompileOptions options = common_options(folder_.path());
        options.machine = machine;
        options.quantisation = quantisation;
        options.workers = workers;
        const fs::path artefact = folder_.path() / (name + ".tsr");
        (void)compiler::compile_model(model, artefact, options);
        return artefact;
    }
    static plan::Plan plan_of(const fs::path& artefact) {
        return plan::parse_plan(runtime::Artefact::open(artefact).plan(), "plan", kernels::micro_kernels());
    }
    /// Nests with tiles.
    static std::string in_tiles(const plan::SpecialisationPlan& specialisation) {
        std::string nests;
        for (const plan::KernelPlan& kernel : specialisation.kernels)
            if (plan::print(kernel.nest).find("contract_tiles") != std::string::npos)
                nests += plan::print(kernel.nest) + "\n";
        return nests;
    }
    fs::path bf16() const { return folder_.path() / "bf16"; }

    TemporaryFolder folder_;
};

TEST_F(Tiles, ALongPromptIsComputedInTilesAndATokenIsNot) {
    const plan::Plan plan = plan_of(compiled(bf16(), with_tiles(common_machine()), "tiles"));
    ASSERT_EQ(plan.specialisations.size(), 3U);
    EXPECT_EQ(plan.specialisations.front().name, "decode");
    EXPECT_EQ(in_tiles(plan.specialisations.front()), "");
    EXPECT_EQ(plan.specialisations.back().name, "prefill");
    const std::string prefill = in_tiles(plan.specialisations.back());
    for (const char* product :
         {"layer_q", "layer_k", "layer_v", "layer_output", "layer_gate", "layer_up", "layer_down"})
        EXPECT_NE(prefill.find(std::string(product) + "[contract_tiles"), std::string::npos)
            << product << "\n"
            << prefill;
    EXPECT_NE(prefill.find("layer_attention_scores[contract_tiles"), std::string::npos) << prefill;
    EXPECT_NE(prefill.find("layer_attention_attend[stream_tiles"), std::string::npos) << prefill;
}

/// As for BF16 in tests/import/policy_test.cpp, and the divergence that a default may have.
void expect_near(const llm::LogitsComparison& comparison) {
    EXPECT_LE(comparison.worst_error(), 1e-2) << comparison.worst_element();
    EXPECT_LE(comparison.mean_divergence(), 1e-3);
}

TEST_F(Tiles, LogitsAreNearTheReference) {
    for (const int64_t workers : {1, 3}) {
        const fs::path tiles = compiled(bf16(), with_tiles(common_machine()), "tiles", workers);
        for (const int64_t chunk : {0, 17, 3, 1}) expect_near(compared_with_reference(tiles, chunk));
    }
}

TEST_F(Tiles, QuantisedWeightsAreMultipliedInBytesByALongPrompt) {
    const auto mixture = import::mixture_of("q8_0");
    constexpr int64_t kWorkers = 3;
    const fs::path tiles = compiled(shipped_model(), with_tiles(common_machine()), "q8_0", kWorkers, mixture);
    for (const plan::SpecialisationPlan& specialisation : plan_of(tiles).specialisations) {
        const auto has_tiles = [](const plan::KernelPlan& kernel) {
            return plan::print(kernel.nest).find("[contract_block_tiles") != std::string::npos;
        };
        EXPECT_EQ(std::ranges::any_of(specialisation.kernels, has_tiles), specialisation.name == "prefill");
    }
    const fs::path vectors = compiled(shipped_model(), common_machine(), "vectors", kWorkers, mixture);
    const llm::LogitsComparison of_tiles = compared_with_reference(tiles, 0),
                                of_vectors = compared_with_reference(vectors, 0);
    EXPECT_LE(of_tiles.mean_divergence(), 1e-3);
    EXPECT_NEAR(of_tiles.worst_error(), of_vectors.worst_error(), 1e-4) << of_tiles.worst_element();
}

/// The results of the AMX machine's code, if the host has the rest of its features.
TEST_F(Tiles, TheAmxMachineWithoutItsFlags) {
    if (machine::kHostIsa != machine::Isa::kX86_64) GTEST_SKIP() << "AMX is of x86-64";
    machine::Machine machine = machine::read_machine(fs::path(TESSERA_SOURCE_DIR) / "machines" / "amx.toml");
    std::erase_if(machine.compiler.flags, [](const std::string& flag) { return flag.starts_with("-mamx"); });
    if (!machine::missing_features(machine.isa, machine.compiler.flags, machine::host_features()).empty())
        GTEST_SKIP() << "this host lacks AVX-512";
    const fs::path artefact = compiled(bf16(), machine, "amx");
    EXPECT_NE(in_tiles(plan_of(artefact).specialisations.back()), "");
    expect_near(compared_with_reference(artefact, 0));
}

/// F32 weights are multiplied as ever, and so are BF16 weights with activations that stay in F32.
TEST_F(Tiles, WhatIsNotRoundedIsNotForTiles) {
    const auto plan = [&](const fs::path& model, const machine::Machine& machine, import::Policy policy) {
        compiler::CompileOptions options = common_options(folder_.path());
        options.machine = machine;
        CompileReport report;
        return plan::print(
            compiler::compile_graph(import::import_model(model, {.policy = policy}).graph, options, report)
                .plan);
    };
    const machine::Machine vectors = common_machine(), tiles = with_tiles(vectors);
    EXPECT_EQ(plan(shipped_model(), tiles, import::Policy::kDefault),
              plan(shipped_model(), vectors, import::Policy::kDefault));
    EXPECT_EQ(plan(bf16(), tiles, import::Policy::kExact).find("contract_tiles"), std::string::npos);
    EXPECT_NE(plan(bf16(), tiles, import::Policy::kDefault).find("contract_tiles"), std::string::npos);
}

}  // namespace
}  // namespace tessera::testing
