#include "compiler/packed_weights.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/write_constants.h"
#include "import/quantised/memory_weights.h"
#include "lowering/plan/constants.h"
#include "run/runtime/toy_model.h"
#include "support/temporary_folder.h"

namespace tessera::compiler {
namespace {

constexpr const char* kStepOfWeights = R"(graph "parts"
input x: f32[1, 3]
constant w: i8[5, 3] from "a0", "a1" then "b0", "b1" along 0 of 2, 3
constant v: i8[2, 5] from "c" then "d" then "e" along 1 of 1, 3, 1
constant u: i8[3] from "f"
)";

TEST(PackedWeights, GiveBackEveryPartThatWasPacked) {
    const Graph graph = parse_graph(kStepOfWeights, "parts");
    verify(graph, "parts");
    testing::MemoryWeights weights;
    const auto add = [&](const std::string& name, std::vector<int64_t> shape, std::string bytes) {
        weights.add(name, "i8", shape, std::move(bytes), ElementType::kI8);
    };
    for (const std::string repetition : {"0", "1"}) {
        add("a" + repetition, {2, 3}, "abcde" + repetition);
        add("b" + repetition, {3, 3}, "fghijklm" + repetition);
    }
    add("c", {2, 1}, "no");
    add("d", {2, 3}, "pqrstu");
    add("e", {2, 1}, "vw");
    add("f", {3}, "xyz");
    plan::Plan plan;
    plan.stored["w"] = {.order = {}, .lanes = {{0, 4}}};
    plan.stored["v"] = {.order = {1, 0}, .lanes = {}};

    const TemporaryFolder folder;
    runtime::ArtefactParts parts{.manifest = runtime::ToyModel().manifest(),
                                 .code = "none",
                                 .plan = "",
                                 .graph = print(graph),
                                 .tokenizer = {}};
    parts.manifest.constants.clear();
    parts.manifest.constants_bytes = plan::constant_section(graph, plan).bytes;
    runtime::write_artefact(folder.path() / "a.tsr", parts, [&](runtime::ConstantSink& sink) {
        write_constants(weights, {.graph = graph, .plan = plan, .programs = {}, .code = {}}, "parts", sink,
                        2);
    });
    const PackedWeights packed(
        std::make_shared<const runtime::Artefact>(runtime::Artefact::open(folder.path() / "a.tsr")), graph,
        plan);
    EXPECT_EQ(packed.names(), weights.names());
    for (const std::string& name : weights.names()) {
        const import::StoredTensor &expected = *weights.find(name), &found = *packed.find(name);
        EXPECT_EQ(found.shape, expected.shape) << name;
        EXPECT_EQ(found.type, expected.type) << name;
        const import::TensorContents contents = packed.contents(name);
        EXPECT_TRUE(std::ranges::equal(contents.bytes, expected.bytes)) << name;
        const auto rows = packed.open_rows(name);
        for (int64_t row = 0; row < found.shape.front(); ++row) {
            const size_t size = expected.bytes.size() / static_cast<size_t>(found.shape.front());
            EXPECT_TRUE(std::ranges::equal(rows->rows(row, row + 1).bytes,
                                           expected.bytes.subspan(static_cast<size_t>(row) * size, size)))
                << name << " row " << row;
        }
    }
    EXPECT_EQ(packed.find("w"), nullptr);
}

}  // namespace
}  // namespace tessera::compiler
