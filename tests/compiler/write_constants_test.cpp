#include "compiler/write_constants.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "compiler/layout_copy.h"
#include "import/quantised/memory_weights.h"
#include "lowering/plan/constants.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

/// Several pieces of each matrix.
constexpr const char* kStep = R"(graph "pieces"
input x: f32[1, 3]
constant w: u4[2000, 1024] from "w0", "w1"
constant v: f16[512, 640] from "a" then "b" along 0 of 500, 12
constant u: f16[512, 640] from "c" then "d" along 1 of 600, 40
constant t: bf16[300, 700] from "e"
constant s: f32[3] from "f"
)";

std::string random_text(size_t size, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text(size, '\0');
    for (char& each : text) each = static_cast<char>(random());
    return text;
}

testing::MemoryWeights weights_of_step() {
    testing::MemoryWeights weights;
    const auto add = [&](const std::string& name, const std::vector<int64_t>& shape, ElementType type) {
        size_t bytes = static_cast<size_t>(bits(type));
        for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
        weights.add(name, "", shape, random_text(bytes / 8, name.back()), type);
    };
    add("w0", {2000, 1024}, ElementType::kU4);
    add("w1", {2000, 1024}, ElementType::kU4);
    add("a", {500, 640}, ElementType::kF16);
    add("b", {12, 640}, ElementType::kF16);
    add("c", {512, 600}, ElementType::kF16);
    add("d", {512, 40}, ElementType::kF16);
    add("e", {300, 700}, ElementType::kBF16);
    add("f", {3}, ElementType::kF32);
    return weights;
}

class MemorySink final : public runtime::ConstantSink {
public:
    void advance_to(int64_t offset) override { bytes.resize(static_cast<size_t>(offset)); }
    void write(std::span<const std::byte> part) override {
        bytes.insert(bytes.end(), part.begin(), part.end());
    }
    int64_t position() const override { return static_cast<int64_t>(bytes.size()); }
    std::vector<std::byte> bytes;
};

Compiled compiled_step() {
    Compiled compiled{.graph = parse_graph(kStep, "pieces"), .plan = {}, .programs = {}, .code = {}};
    compiled.plan.stored["w"] = {.order = {}, .lanes = {{0, 16}, {1, 4}}};
    compiled.plan.stored["v"] = {.order = {}, .lanes = {{0, 16}}};
    compiled.plan.stored["t"] = {.order = {1, 0}, .lanes = {{0, 8}}};
    return compiled;
}

TEST(WriteConstants, BytesAreThoseOfTheLayoutsWhateverTheNumberOfThreads) {
    const testing::MemoryWeights weights = weights_of_step();
    const Compiled compiled = compiled_step();
    MemorySink one;
    write_constants(weights, compiled, "pieces", one, 1);
    const auto section = plan::constant_section(compiled.graph, compiled.plan);
    const auto expect_at = [&](const char* name, int64_t repetition, std::span<const std::byte> expected) {
        const plan::StoredConstant& stored = section.constants.at(name);
        const auto offset = static_cast<size_t>(stored.offset + repetition * stored.stride);
        ASSERT_LE(offset + expected.size(), one.bytes.size());
        EXPECT_TRUE(std::ranges::equal(std::span(one.bytes).subspan(offset, expected.size()), expected))
            << name;
    };
    const auto packed = [&](const char* constant, const char* source) {
        const import::StoredTensor& tensor = *weights.find(source);
        return pack(tensor.bytes, tensor.shape, plan::stored_layout(compiled.plan, constant),
                    bits(*tensor.element));
    };
    expect_at("w", 0, packed("w", "w0"));
    expect_at("w", 1, packed("w", "w1"));
    expect_at("t", 0, packed("t", "e"));
    expect_at("s", 0, weights.find("f")->bytes);
    for (const size_t threads : {2U, 7U}) {
        MemorySink several;
        write_constants(weights, compiled, "pieces", several, threads);
        EXPECT_EQ(several.bytes, one.bytes) << threads;
    }
}

TEST(WriteConstants, AMissingTensorIsNamed) {
    testing::MemoryWeights weights;
    MemorySink sink;
    try {
        write_constants(weights, compiled_step(), "pieces", sink, 3);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("`w0`: is missing"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace tessera::compiler
