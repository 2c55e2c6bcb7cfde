#include "partition/workload.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "partition/footprints.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::partition {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json small_llama() {
    return {{"architectures", {"LlamaForCausalLM"}},
            {"model_type", "llama"},
            {"hidden_size", 48},
            {"intermediate_size", 80},
            {"num_attention_heads", 6},
            {"num_key_value_heads", 2},
            {"num_hidden_layers", 5},
            {"vocab_size", 100},
            {"max_position_embeddings", 128},
            {"rms_norm_eps", 1e-5},
            {"torch_dtype", "float16"}};
}

class DecodeWorkload : public ::testing::Test {
protected:
    std::string write(const json& config) const {
        const std::filesystem::path path = folder_.path() / "small.json";
        std::ofstream(path) << config.dump();
        return path.string();
    }
    std::string error_of(const json& config, const DecodeShape& shape = {.batch = 4, .sequence = 64}) const {
        try {
            (void)decode_workload(write(config), shape);
            return "accepted";
        } catch (const Error& error) {
            return error.what();
        }
    }

private:
    TemporaryFolder folder_;
};

struct Bytes {
    int64_t read = 0, written = 0;
};

/// What all operators read from the HBM and write there.
Bytes hbm_bytes(const Workload& workload) {
    Bytes bytes;
    for (const size_t o : workload.sequence) {
        const WorkOperator& op = workload.operators[o];
        const Footprints footprints(op.bound);
        for (size_t t = 0; t < op.places.size(); ++t)
            if (op.places[t] == Place::kHbm)
                (op.bound.is_result(static_cast<int>(t)) ? bytes.written : bytes.read) +=
                    footprints.touched_bytes(t);
    }
    return bytes;
}

TEST_F(DecodeWorkload, ReadsEachWeightAndTheCacheOnce) {
    const Workload workload = decode_workload(write(small_llama()), {.batch = 4, .sequence = 64});
    EXPECT_EQ(workload.name, "small");
    ASSERT_EQ(workload.repeats.size(), 1u);
    EXPECT_EQ(workload.repeats[0].count, 5u);
    EXPECT_EQ(workload.sequence.size(), workload.operators.size() + 4 * workload.repeats[0].length);
    const int64_t projections = 48 * 48 * 2 + 16 * 48 * 2, feed_forward = 3 * 48 * 80, norms = 2 * 48;
    // Keys and values of 64 positions of 4 sequences, 2 heads of 8. Rotary tables: a row for queries, one for
    // keys.
    const int64_t cache = 2 * 4 * 64 * 16, rotary = 2 * 2 * 4;
    const int64_t outer = 4 * 48 + 48 + 100 * 48;
    EXPECT_EQ(hbm_bytes(workload).read,
              5 * (2 * (projections + feed_forward + norms + cache) + 4 * rotary) + 2 * outer);
    EXPECT_EQ(hbm_bytes(workload).written, 5 * 2 * (4 * 16) * 2);
}

TEST_F(DecodeWorkload, HasNoIndexOperands) {
    const Workload workload = decode_workload(write(small_llama()), {.batch = 4, .sequence = 64});
    for (const WorkOperator& op : workload.operators)
        for (const TensorDecl& tensor : op.bound.definition.tensors)
            EXPECT_NE(tensor.role, Role::kIndex) << op.name;
}

TEST_F(DecodeWorkload, MayBeLongerThanTheModelWithARemark) {
    const Workload workload = decode_workload(write(small_llama()), {.batch = 1, .sequence = 256});
    EXPECT_THAT(workload.remarks,
                ElementsAre("256 positions are more than the 128 that the model was made for"));
}

TEST_F(DecodeWorkload, RefusesWhatTheImporterDoesNotSupport) {
    json config = small_llama();
    config["model_type"] = "mamba";
    config["architectures"] = {"MambaForCausalLM"};
    EXPECT_THAT(error_of(config), AllOf(HasSubstr("small.json: cannot be planned:"),
                                        HasSubstr("architecture mamba: known are")));
    config = small_llama();
    config["torch_dtype"] = "float8_e4m3fn";
    EXPECT_THAT(error_of(config), HasSubstr("tensors of type float8_e4m3fn"));
    config = small_llama();
    config.erase("hidden_size");
    EXPECT_THAT(error_of(config), HasSubstr("`hidden_size`: is missing"));
    config = small_llama();
    config["num_key_value_heads"] = 4;
    EXPECT_THAT(error_of(config),
                HasSubstr("`num_key_value_heads`: is 4, expected a divisor of num_attention_heads = 6"));
}

TEST_F(DecodeWorkload, RefusesShapesByName) {
    EXPECT_THAT(error_of(small_llama(), {.batch = 0, .sequence = 64}),
                HasSubstr("`--batch`: is 0, expected 1 to 65536"));
    EXPECT_THAT(error_of(small_llama(), {.batch = 1, .sequence = 60}),
                HasSubstr("`--sequence`: is 60, expected a multiple of 16 from 16 to 1048576"));
    EXPECT_THAT(error_of(small_llama(), {.batch = 65537, .sequence = 64}), HasSubstr("`--batch`: is 65537"));
    EXPECT_THROW((void)decode_workload("/nowhere/config.json", {}), Error);
}

constexpr const char* kGraph = R"(graph "two"
symbol T in 1..8
symbol P in 2..64 multiple of 2
input x: f32[T, 8]
constant w: f32[8, 8] from "layers.*.w" for 0..3
state cache: f32[P, 8]
value y: f32[T, 8]
value z: f32[T, 8]
value cache_new: f32[P, 8]
block layer repeat 3 carry x -> z
  update cache -> cache_new
  node y(x, w) -> y
    op matmul(t: T, n: 8, k*: 8)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node store(y) over cache -> cache_new
    op store(t: T, k: 8)
    dim T in 1..8
    dim P in 2..64 multiple of 2
    in X f32[t, k]
    update C f32[0 * t, k] of [P, 8] = X
    where t < 1
  node z(y, x) -> z
    op add(t: T, k: 8)
    dim T in 1..8
    in A f32[t, k], B f32[t, k]
    out C f32[t, k] = A + B
output z
)";

TEST(GraphWorkload, TellsPlacesByWhatTheGraphSays) {
    const Workload workload = graph_workload(parse_graph(kGraph, "two.ir"), {{"T", 4}, {"P", 2}}, "two.ir");
    ASSERT_EQ(workload.operators.size(), 3u);
    EXPECT_THAT(workload.operators[0].places, ElementsAre(Place::kOnChip, Place::kHbm, Place::kOnChip));
    EXPECT_THAT(workload.operators[1].places, ElementsAre(Place::kOnChip, Place::kHbm));
    EXPECT_THAT(workload.operators[2].places, ElementsAre(Place::kOnChip, Place::kOnChip, Place::kOnChip));
    EXPECT_THAT(workload.sequence, ElementsAre(0, 1, 2, 0, 1, 2, 0, 1, 2));
    EXPECT_THAT(workload.repeats, ElementsAre(chip::Repeat{0, 3, 3}));
    // While `store` runs, x waits.
    EXPECT_EQ(workload.carried_bytes, 4 * 8 * 4);
}

std::string graph_error(std::map<std::string, int64_t> symbols) {
    try {
        (void)graph_workload(parse_graph(kGraph, "two.ir"), std::move(symbols), "two.ir");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(GraphWorkload, RefusesSymbolsByName) {
    EXPECT_THAT(graph_error({{"T", 4}}), HasSubstr("two.ir: `P`: is a symbol without a value"));
    EXPECT_THAT(graph_error({{"T", 9}, {"P", 2}}),
                HasSubstr("two.ir: `T`: is 9, expected a multiple of 1 from 1 to 8"));
    EXPECT_THAT(graph_error({{"T", 4}, {"P", 3}}),
                HasSubstr("two.ir: `P`: is 3, expected a multiple of 2 from 2 to 64"));
    EXPECT_THAT(graph_error({{"T", 4}, {"P", 2}, {"Q", 1}}),
                HasSubstr("two.ir: `Q`: is set to 1, and the graph has no such symbol"));
    EXPECT_THAT(graph_error({{"T", 4}, {"P", 2}}), "accepted");
}

TEST(GraphWorkload, RefusesAGraphWithoutOperators) {
    const Graph empty = parse_graph("graph \"none\"\ninput x: f32[4]\noutput x\n", "none.ir");
    EXPECT_THROW((void)graph_workload(empty, {}, "none.ir"), Error);
}

}  // namespace
}  // namespace tessera::partition
