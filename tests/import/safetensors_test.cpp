#include "import/hf/safetensors.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/random_checkpoint.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string file_of(const std::string& header, size_t data_bytes) {
    std::string file(8, '\0');
    const uint64_t length = header.size();
    std::memcpy(file.data(), &length, sizeof(length));
    return file + header + std::string(data_bytes, 'x');
}

SafetensorsFile open_bytes(const std::string& bytes) {
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "model.safetensors", bytes);
    return SafetensorsFile::open((folder.path() / "model.safetensors").string());
}

TEST(Safetensors, ReadsTensorsWithTheirShapes) {
    const SafetensorsFile file = open_bytes(testing::safetensors_of(
        {{"a", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"b", {{}, {7}}}, {"empty", {{0, 4}, {}}}}));
    EXPECT_THAT(file.names(), ElementsAre("a", "b", "empty"));
    const StoredTensor* a = file.find("a");
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(a->type, "F32");
    EXPECT_EQ(a->element, ElementType::kF32);
    EXPECT_THAT(a->shape, ElementsAre(2, 3));
    float last = 0;
    std::memcpy(&last, a->bytes.data() + 5 * sizeof(float), sizeof(float));
    EXPECT_EQ(last, 6);
    EXPECT_TRUE(file.find("b")->shape.empty());
    EXPECT_TRUE(file.find("empty")->bytes.empty());
    EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, NamesTypesThatItCannotUse) {
    const SafetensorsFile file = open_bytes(file_of(R"({"__metadata__": {"format": "pt"},
        "a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
        "b": {"dtype": "Q7", "shape": [1], "data_offsets": [8, 9]}})",
                                                    9));
    EXPECT_EQ(file.find("a")->type, "F64");
    EXPECT_EQ(file.find("a")->element, std::nullopt);
    EXPECT_EQ(file.find("b")->type, "Q7");
    EXPECT_EQ(file.find("__metadata__"), nullptr);
}

struct Broken {
    const char* name;
    std::string bytes;
    const char* message;
};

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"a": {"dtype": )" + dtype + R"(, "shape": )" + shape + R"(, "data_offsets": )" + offsets +
           "}}";
}

const Broken kBroken[] = {
    {"empty", "", "is empty"},
    {"header_cut_off", std::string("\x10\0\0\0\0\0\0\0{", 9), "claims a header of 16 bytes, but 1 follow"},
    {"header_huge", std::string(8, '\xff'), "claims a header of 18446744073709551615 bytes"},
    {"no_json", file_of("{", 0), "is not valid JSON"},
    {"no_utf8", file_of("{\"\xff\": 1}", 0), "is not valid JSON"},
    {"array", file_of("[]", 0), "is [], expected an object"},
    {"deep", file_of(std::string(50, '['), 0), "is nested more than 4 levels deep"},
    {"twice", file_of(R"({"a": {"dtype": "U8", "shape": [], "data_offsets": [0, 1]}, "a": {}})", 1),
     "`a`: is there twice"},
    {"entry", file_of(R"({"a": 1})", 0), "`a`: is 1, expected an object"},
    {"no_dtype", file_of(R"({"a": {"shape": [1], "data_offsets": [0, 4]}})", 4), "`a.dtype`: is missing"},
    {"dtype", file_of(entry("4", "[1]", "[0, 4]"), 4), "`a.dtype`: is 4, expected a text"},
    {"shape", file_of(entry("\"F32\"", "[-1]", "[0, 4]"), 4),
     "`a.shape[0]`: is -1, expected an integer from 0 on"},
    {"shape_real", file_of(entry("\"F32\"", "[1.5]", "[0, 4]"), 4), "`a.shape[0]`: is 1.5, expected"},
    {"shape_huge", file_of(entry("\"F32\"", "[18446744073709551615]", "[0, 4]"), 4),
     "`a.shape[0]`: is 18446744073709551615"},
    {"shape_overflow", file_of(entry("\"F32\"", "[4611686018427387904, 4]", "[0, 0]"), 0), "do not hold"},
    {"axes", file_of(entry("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0, 4]"), 4), "`a`: has 9 axes"},
    {"size", file_of(entry("\"F32\"", "[2]", "[0, 4]"), 4),
     "`a`: has 4 bytes, which do not hold F32 elements"},
    {"half_a_byte", file_of(entry("\"F4\"", "[3]", "[0, 1]"), 1), "`a`: has 1 bytes"},
    {"offsets_count", file_of(entry("\"F32\"", "[1]", "[0]"), 4), "`a.data_offsets`: is [0], expected two"},
    {"offsets_order", file_of(entry("\"F32\"", "[1]", "[4, 0]"), 4), "`a.data_offsets`: is [4,0], expected"},
    {"offsets_outside", file_of(entry("\"F32\"", "[1]", "[4, 8]"), 4), "up to 4, the size of the contents"},
    {"gap", file_of(entry("\"F32\"", "[1]", "[4, 8]"), 8), "`a`: begins at 4 of the contents, behind a gap"},
    {"rest", file_of(entry("\"F32\"", "[1]", "[0, 4]"), 5), "holds 1 bytes that belong to no tensor"},
    {"overlap",
     file_of(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                 "b": {"dtype": "U8", "shape": [4], "data_offsets": [2, 6]}})",
             6),
     "`b`: begins at 2 of the contents, inside, where the tensor before it ends at 4"},
};

class SafetensorsErrors : public ::testing::TestWithParam<Broken> {};

TEST_P(SafetensorsErrors, NameWhatIsBroken) {
    try {
        (void)open_bytes(GetParam().bytes);
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
        EXPECT_THAT(error.what(), HasSubstr("model.safetensors"));
    }
}

INSTANTIATE_TEST_SUITE_P(All, SafetensorsErrors, ::testing::ValuesIn(kBroken),
                         [](const auto& broken) { return std::string(broken.param.name); });

// A file that is cut off or has one byte changed is read or refused; it never crashes.
TEST(Safetensors, DamageIsRefusedOrHarmless) {
    const std::string whole = testing::safetensors_of({{"a", {{2}, {1, 2}}}, {"b", {{1}, {3}}}});
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_THROW((void)open_bytes(whole.substr(0, length)), Error) << length;
    for (size_t at = 0; at < whole.size() - 12; ++at)
        for (const char changed : {'\0', '9', '\xff', '"'}) {
            std::string damaged = whole;
            damaged[at] = changed;
            try {
                (void)open_bytes(damaged);
            } catch (const Error&) {
            }
        }
}

}  // namespace
}  // namespace tessera::import
