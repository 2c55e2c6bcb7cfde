#include "import/gguf/gguf_file.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "import/gguf_builder.h"
#include "support/error.h"
#include "support/shared_data.h"

namespace tessera::import {
namespace {

using test::GgufBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file of its own for every test process; gone with the object.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& content)
        : path_(std::filesystem::path(::testing::TempDir()) / ("gguf_test_" + std::to_string(::getpid()))) {
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

GgufFile parse(const std::string& content) {
    // The mapping outlives the name of the file.
    return GgufFile::open(TemporaryFile(content).path());
}

std::string error_of(const std::string& content) {
    try {
        parse(content);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

std::string floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string example() {
    return GgufBuilder()
        .string("general.architecture", "llama")
        .u32("llama.block_count", 2)
        .f32("llama.epsilon", 1e-5f)
        .boolean("tokenizer.ggml.add_bos_token", true)
        .strings("tokenizer.ggml.tokens", {"a", "", "ccc"})
        .numbers<float>("tokenizer.ggml.scores", 6, {0.0f, -1.0f, -2.5f})
        .numbers<int32_t>("tokenizer.ggml.token_type", 5, {1, 3, 6})
        .tensor("weight", {2, 3}, 0, 0)
        .tensor("bias", {2}, 0, 32)
        .data(floats({1, 2, 3, 4, 5, 6}) + std::string(8, '\0') + floats({7, 8}))
        .build();
}

TEST(GgufFile, ReadsMetadataByType) {
    const GgufFile file = parse(example());
    const GgufMetadata& metadata = file.metadata();
    EXPECT_EQ(file.version(), 3u);
    EXPECT_EQ(metadata.get_string("general.architecture"), "llama");
    EXPECT_EQ(metadata.get_u32("llama.block_count"), 2u);
    EXPECT_EQ(metadata.get_f32("llama.epsilon"), 1e-5f);
    EXPECT_EQ(metadata.get_bool("tokenizer.ggml.add_bos_token"), true);
    EXPECT_THAT(*metadata.get_array<std::string_view>("tokenizer.ggml.tokens"), ElementsAre("a", "", "ccc"));
    EXPECT_THAT(*metadata.get_array<float>("tokenizer.ggml.scores"), ElementsAre(0.0f, -1.0f, -2.5f));
    EXPECT_THAT(*metadata.get_array<int32_t>("tokenizer.ggml.token_type"), ElementsAre(1, 3, 6));
    EXPECT_EQ(metadata.get_u32("absent"), std::nullopt);
    EXPECT_EQ(metadata.get_array<float>("absent"), std::nullopt);
    EXPECT_EQ(metadata.keys().front(), "general.architecture");
}

TEST(GgufFile, IntegersOfEveryWidthAreAcceptedWhereTheyFit) {
    const GgufFile file = parse(GgufBuilder()
                                    .scalar<uint8_t>("u8", 0, 200)
                                    .scalar<int8_t>("i8", 1, -3)
                                    .scalar<uint16_t>("u16", 2, 60000)
                                    .scalar<int16_t>("i16", 3, 30000)
                                    .scalar<int32_t>("i32", 5, 7)
                                    .scalar<uint64_t>("u64", 10, 1ull << 40)
                                    .scalar<int64_t>("i64", 11, 11)
                                    .scalar<double>("f64", 12, 0.5)
                                    .numbers<uint64_t>("wide", 10, {1, 1ull << 63})
                                    .numbers<uint8_t>("narrow", 0, {1, 255})
                                    .build());
    const GgufMetadata& metadata = file.metadata();
    EXPECT_EQ(metadata.get_u32("u8"), 200u);
    EXPECT_EQ(metadata.get_u32("u16"), 60000u);
    EXPECT_EQ(metadata.get_u32("i16"), 30000u);
    EXPECT_EQ(metadata.get_u32("i32"), 7u);
    EXPECT_EQ(metadata.get_u32("i64"), 11u);
    EXPECT_EQ(metadata.get_f32("f64"), 0.5f);
    EXPECT_THAT(*metadata.get_array<int32_t>("narrow"), ElementsAre(1, 255));
    EXPECT_THROW(metadata.get_u32("i8"), Error);
    EXPECT_THROW(metadata.get_u32("u64"), Error);
    EXPECT_THROW(metadata.get_array<int32_t>("wide"), Error);
}

TEST(GgufFile, AWrongTypeIsNamed) {
    const GgufFile file = parse(example());
    try {
        file.metadata().get_u32("tokenizer.ggml.tokens");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.entity, "tokenizer.ggml.tokens");
        EXPECT_EQ(error.problem, "is array of string, expected an integer of 32 bits, not negative");
    }
    EXPECT_THROW(file.metadata().get_string("llama.block_count"), Error);
    EXPECT_THROW(file.metadata().get_f32("llama.block_count"), Error);
    EXPECT_THROW(file.metadata().get_bool("llama.block_count"), Error);
    EXPECT_THROW(file.metadata().get_array<float>("tokenizer.ggml.tokens"), Error);
    EXPECT_THROW(file.metadata().get_array<int32_t>("general.architecture"), Error);
}

TEST(GgufFile, PlacesTensors) {
    const GgufFile file = parse(example());
    ASSERT_EQ(file.tensors().size(), 2u);
    const GgufTensor* weight = file.find_tensor("weight");
    ASSERT_NE(weight, nullptr);
    EXPECT_THAT(weight->dimensions, ElementsAre(2, 3));
    EXPECT_EQ(weight->elements(), 6);
    EXPECT_EQ(weight->type, GgmlType::kF32);
    float values[2];
    ASSERT_EQ(file.bytes(file.tensors()[1]).size(), sizeof(values));
    std::memcpy(values, file.bytes(file.tensors()[1]).data(), sizeof(values));
    EXPECT_EQ(values[0], 7.0f);
    EXPECT_EQ(values[1], 8.0f);
    EXPECT_EQ(file.find_tensor("absent"), nullptr);
}

TEST(GgufFile, ViewsSurviveMoves) {
    GgufFile first = parse(example());
    const GgufFile second = std::move(first);
    EXPECT_EQ(second.metadata().get_string("general.architecture"), "llama");
    ASSERT_NE(second.find_tensor("bias"), nullptr);
    EXPECT_EQ(second.bytes(*second.find_tensor("bias")).size(), 8u);
}

TEST(GgufFile, HonoursTheAlignment) {
    const auto build = [](uint64_t offset) {
        return GgufBuilder()
            .u32("general.alignment", 128)
            .tensor("a", {1}, 0, 0)
            .tensor("b", {1}, 0, offset)
            .data(floats({1}) + std::string(124, '\0') + floats({2}))
            .build(3, 128);
    };
    const GgufFile file = parse(build(128));
    EXPECT_EQ(file.find_tensor("b")->offset % 128, 0u);
    EXPECT_THAT(error_of(build(32)), HasSubstr("`b`: lies at offset 32, expected a multiple of 128"));
    EXPECT_THAT(
        error_of(GgufBuilder().u32("general.alignment", 24).tensor("a", {1}, 0, 0).data("1234").build()),
        HasSubstr("`general.alignment`: is 24, expected a power of two"));
}

TEST(GgufFile, ReadsVersionTwoAndNoOther) {
    EXPECT_EQ(parse(GgufBuilder().u32("k", 1).build(2)).version(), 2u);
    EXPECT_THAT(error_of(GgufBuilder().build(1)), HasSubstr("`version`: is 1, supported are 2 and 3"));
    EXPECT_THAT(error_of(GgufBuilder().build(4)), HasSubstr("`version`: is 4"));
    EXPECT_THAT(error_of(GgufBuilder().build(0x03000000)), HasSubstr("big-endian"));
    EXPECT_THAT(error_of("GGML1234567890123456789"), HasSubstr("is not a GGUF file"));
    EXPECT_THAT(error_of("G"), HasSubstr("is not a GGUF file"));
}

TEST(GgufFile, QuantisedTensorsAreReadAndNamed) {
    const GgufFile file =
        parse(GgufBuilder().tensor("w", {512, 2}, 12, 0).data(std::string(576, '\1')).build());
    EXPECT_EQ(info(file.tensors()[0].type).name, "Q4_K");
    EXPECT_EQ(file.tensors()[0].bytes, 576u);
    EXPECT_THAT(
        error_of(GgufBuilder().tensor("w", {100}, 12, 0).data(std::string(576, '\1')).build()),
        HasSubstr("`w`: has rows of 100 elements, expected a multiple of the 256 in a block of Q4_K"));
    EXPECT_THAT(error_of(GgufBuilder().tensor("w", {32}, 31, 0).data(std::string(576, '\1')).build()),
                HasSubstr("`w`: has the type number 31, which is not a ggml type"));
}

TEST(GgmlTypes, NamesAndNumbersAreDistinct) {
    std::set<std::string_view> names;
    int known = 0;
    for (uint32_t number = 0; number < 100; ++number) {
        const auto type = ggml_type_of(number);
        if (!type) continue;
        ++known;
        names.insert(info(*type).name);
        EXPECT_EQ(static_cast<uint32_t>(*type), number);
        EXPECT_GT(info(*type).block_bytes, 0u);
        // No type stores more than 64 bits per element, none fewer than one.
        EXPECT_LE(info(*type).block_bytes, 8u * info(*type).block_elements);
        EXPECT_GE(8u * info(*type).block_bytes, info(*type).block_elements);
    }
    EXPECT_EQ(names.size(), static_cast<size_t>(known));
}

struct Damage {
    const char* name;
    std::string content;
    const char* message;
};

class GgufDamage : public ::testing::TestWithParam<Damage> {};

TEST_P(GgufDamage, IsNamed) {
    EXPECT_THAT(error_of(GetParam().content), HasSubstr(GetParam().message));
}

std::string with_counts(uint64_t tensors, uint64_t pairs) {
    std::string file = example();
    std::memcpy(file.data() + 8, &tensors, 8);
    std::memcpy(file.data() + 16, &pairs, 8);
    return file;
}

std::string array_header(uint32_t element, uint64_t count) {
    std::string bytes(12, '\0');
    std::memcpy(bytes.data(), &element, 4);
    std::memcpy(bytes.data() + 4, &count, 8);
    return bytes;
}

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

std::vector<Damage> damages() {
    const std::string nested = array_header(9, 1) + array_header(9, 1) + array_header(9, 0);
    return {
        {"ManyPairs", with_counts(2, kHuge), "`metadata`: claims 18446744073709551615 elements"},
        {"ManyTensors", with_counts(1ull << 60, 7), "`tensors`: claims 1152921504606846976 elements"},
        {"LongString", GgufBuilder().raw("k", 8, std::string(8, '\xff')).build(),
         "needs 18446744073709551615 bytes"},
        {"LongArray", GgufBuilder().raw("k", 9, array_header(6, kHuge / 2)).build(), "`k`: claims"},
        {"LongArrayOfStrings", GgufBuilder().raw("k", 9, array_header(8, 1ull << 61)).build(), "`k`: claims"},
        {"DeepArray", GgufBuilder().raw("k", 9, nested).build(), "`k`: nests arrays more than 2 deep"},
        {"ValueType", GgufBuilder().raw("k", 13, "").u32("l", 1).build(), "`k`: has the value type 13"},
        {"ElementType", GgufBuilder().raw("k", 9, array_header(99, 0)).build(), "`k`: has the value type 99"},
        {"Bool", GgufBuilder().raw("k", 7, "\2").build(), "`k`: is a bool with the value 2"},
        {"KeyTwice", GgufBuilder().u32("k", 1).u32("k", 2).build(), "`k`: occurs twice in the metadata"},
        {"LongKey", GgufBuilder().u32(std::string(70000, 'k'), 1).build(), "key 0 has 70000 bytes"},
        {"NoName", GgufBuilder().tensor("", {1}, 0, 0).data("1234").build(), "has a name of 0 bytes"},
        {"LongName", GgufBuilder().tensor(std::string(65, 'n'), {1}, 0, 0).data("1234").build(),
         "name of 65 bytes"},
        {"NameTwice",
         GgufBuilder().tensor("t", {1}, 0, 0).tensor("t", {1}, 0, 32).data(std::string(64, 0)).build(),
         "`t`: occurs twice among the tensors"},
        {"NoDimension", GgufBuilder().tensor("t", {}, 0, 0).u32("pad", 0).data(std::string(64, 0)).build(),
         "`t`: has 0 dimensions"},
        {"FiveDimensions", GgufBuilder().tensor("t", {1, 1, 1, 1, 1}, 0, 0).data("1234").build(),
         "has 5 dimensions"},
        {"EmptyExtent", GgufBuilder().tensor("t", {4, 0}, 0, 0).data("1234").build(),
         "has the extent 0 in dimension 1"},
        {"Overflow", GgufBuilder().tensor("t", {1ull << 32, 1ull << 32}, 0, 0).data("1234").build(),
         "too many elements"},
        {"NegativeExtent", GgufBuilder().tensor("t", {kHuge}, 0, 0).data("1234").build(),
         "too many elements"},
        {"TooManyBytes", GgufBuilder().tensor("t", {1ull << 62}, 0, 0).data("1234").build(),
         "too many bytes"},
        {"BeyondTheFile", GgufBuilder().tensor("t", {2}, 0, 0).data("1234").build(),
         "`t`: needs 8 bytes at offset 0"},
        {"FarOffset", GgufBuilder().tensor("t", {1}, 0, kHuge - 31).data("1234").build(),
         "`t`: needs 4 bytes"},
        {"Overlap",
         GgufBuilder().tensor("a", {16}, 0, 0).tensor("b", {16}, 0, 32).data(std::string(96, 0)).build(),
         "`b`: overlaps the tensor `a`"},
    };
}

INSTANTIATE_TEST_SUITE_P(Named, GgufDamage, ::testing::ValuesIn(damages()),
                         [](const auto& test_info) { return std::string(test_info.param.name); });

TEST(GgufFuzz, EveryTruncationIsAnError) {
    const std::string whole = example();
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_THROW(parse(whole.substr(0, size)), Error) << size;
}

/// Touches everything that an importer could ask for.
void walk(const GgufFile& file) {
    for (const std::string_view key : file.metadata().keys()) {
        try {
            file.metadata().get_array<std::string_view>(key);
        } catch (const Error&) {
        }
    }
    size_t sum = 0;
    for (const GgufTensor& tensor : file.tensors())
        for (const std::byte byte : file.bytes(tensor)) sum += std::to_integer<size_t>(byte);
    EXPECT_LE(sum, 255 * 1024u);
}

TEST(GgufFuzz, FlippedBitsGiveAnErrorOrAFile) {
    const std::string whole = example();
    int readable = 0;
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::string damaged = whole;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        try {
            walk(parse(damaged));
            ++readable;
        } catch (const Error&) {
        }
    }
    EXPECT_GT(readable, 0);
}

TEST(GgufFuzz, RandomBytesGiveAnErrorOrAFile) {
    std::mt19937 random(1);
    const std::string whole = example();
    for (int round = 0; round < 2000; ++round) {
        std::string damaged = whole;
        for (int i = 0; i < 1 + round % 16; ++i)
            damaged[4 + random() % (damaged.size() - 4)] =
                static_cast<char>(random() % 3 == 0 ? 255 : random());
        try {
            walk(parse(damaged));
        } catch (const Error&) {
        }
    }
}

TEST(GgufData, ReadsTheSharedFiles) {
    const char* const name = "data/stories260K/stories260K.gguf";
    TESSERA_SKIP_WITHOUT_SHARED(name, "a real GGUF file");
    const GgufFile file = GgufFile::open(test::shared_data(name));
    EXPECT_EQ(file.metadata().get_string("general.architecture"), "llama");
    EXPECT_EQ(file.metadata().get_array<std::string_view>("tokenizer.ggml.tokens")->size(), 512u);
    EXPECT_EQ(file.tensors().size(), 48u);
    const GgufTensor* embedding = file.find_tensor("token_embd.weight");
    ASSERT_NE(embedding, nullptr);
    EXPECT_THAT(embedding->dimensions, ElementsAre(64, 512));
}

}  // namespace
}  // namespace tessera::import
