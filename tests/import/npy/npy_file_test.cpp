// NumPy files: what numpy.save writes, and what is wrong with others. The bytes are written out by hand.
#include "import/npy/npy_file.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/stored_number.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_literals;

/// With a dictionary of this length in this version.
std::string npy(const std::string& dictionary, const std::string& data, char major = 1) {
    const size_t length = dictionary.size();
    std::string text = "\x93NUMPY"s + major + '\0' + static_cast<char>(length & 0xFF) +
                       static_cast<char>(length >> 8 & 0xFF);
    if (major > 1) text += "\0\0"s;
    return text + dictionary + data;
}

std::string bytes_of_floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class Npy : public ::testing::Test {
protected:
    NpyFile open(const std::string& bytes) const {
        std::ofstream(path_, std::ios::binary) << bytes;
        return NpyFile::open(path_);
    }
    std::string problem(const std::string& bytes) const {
        try {
            (void)open(bytes);
        } catch (const Error& error) {
            EXPECT_EQ(error.where, path_);
            return error.what();
        }
        return "";
    }
    TemporaryFolder folder_;
    std::string path_ = (folder_.path() / "x.npy").string();
};

constexpr const char* kTwoByThree = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

TEST_F(Npy, EveryVersionIsRead) {
    for (const char version : {'\1', '\2', '\3'}) {
        const NpyFile file = open(npy(kTwoByThree, bytes_of_floats({1, 2, 3, 4, 5, 6}), version));
        EXPECT_EQ(file.type(), "<f4");
        EXPECT_THAT(file.shape(), ElementsAre(2, 3));
        EXPECT_EQ(stored_number(file.elements(ElementType::kF32), ElementType::kF32, 5), 6);
    }
}

TEST_F(Npy, TheDictionaryMayBeWrittenOtherwise) {
    const std::string data = bytes_of_floats({7});
    for (const char* dictionary : {"{'shape': (1,), 'fortran_order': False, 'descr': '<f4'}",
                                   "{ \"descr\" :\"<f4\",\n 'fortran_order' : False, 'shape':( 1 , ),}   \n"})
        EXPECT_THAT(open(npy(dictionary, data)).shape(), ElementsAre(1)) << dictionary;
    EXPECT_THAT(open(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", data)).shape(),
                ::testing::IsEmpty());
}

TEST_F(Npy, WhatIsWrittenIsWhatNumpyWrites) {
    const std::vector<float> values = {1, -2, 3};
    write_npy(path_, ElementType::kF32, {3}, std::as_bytes(std::span(values)));
    std::ifstream file(path_, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::string expected =
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" + std::string(60, ' ') + "\n", "");
    EXPECT_EQ(expected.size(), 128U);
    EXPECT_EQ(bytes, expected + bytes_of_floats(values));
}

TEST_F(Npy, EveryTypeIsWrittenAndReadBack) {
    const std::vector<std::byte> bytes = {std::byte{1}, std::byte{254}, std::byte{0}, std::byte{60},
                                          std::byte{5}, std::byte{6},   std::byte{7}, std::byte{8}};
    for (const ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kBF16,
                                   ElementType::kI32, ElementType::kI8, ElementType::kU8}) {
        const std::vector<int64_t> shape = {1, 64 / bits(type)};
        write_npy(path_, type, shape, bytes);
        const NpyFile file = NpyFile::open(path_);
        EXPECT_EQ(file.type(), npy_type(type));
        EXPECT_EQ(file.shape(), shape);
        EXPECT_EQ(file.elements(type), bytes) << name(type);
    }
}

TEST_F(Npy, BFloat16IsRoundedToNearestEven) {
    const float half_step = 1.00390625F;  // between 1 and 1.0078125, the even one of which is 1
    const float nan = std::numeric_limits<float>::signaling_NaN();
    const auto elements =
        open(npy(kTwoByThree, bytes_of_floats({half_step, 1.0117188F, -3.1415927F, 3.4e38F, INFINITY, nan})))
            .elements(ElementType::kBF16);
    const auto number = [&](size_t i) { return stored_number(elements, ElementType::kBF16, i); };
    EXPECT_EQ(number(0), 1);
    EXPECT_EQ(number(1), 1.015625);
    EXPECT_EQ(number(2), -3.140625);
    EXPECT_EQ(number(3), INFINITY);
    EXPECT_EQ(number(4), INFINITY);
    EXPECT_TRUE(std::isnan(number(5)));
}

TEST_F(Npy, AnotherTypeIsRefusedWithAdvice) {
    const NpyFile file = open(npy(kTwoByThree, bytes_of_floats({1, 2, 3, 4, 5, 6})));
    try {
        (void)file.elements(ElementType::kI32);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("x.npy: has elements `<f4`, expected i32 (`<i4`) (give the array "
                                            "after `.astype(numpy.int32)`)"));
    }
    EXPECT_EQ(npy_type(ElementType::kI4), "");
}

TEST_F(Npy, NumbersOfTwoToThe63AreRefused) {
    const std::string dictionary = "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }";
    const std::string one = "\1\0\0\0\0\0\0\0"s, largest = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"s,
                      larger = "\0\0\0\0\0\0\0\x80"s;
    EXPECT_EQ(open(npy(dictionary, one + largest)).elements(ElementType::kU64).size(), 16U);
    const NpyFile file = open(npy(dictionary, one + larger));
    try {
        (void)file.elements(ElementType::kU64);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("has a number of 2^63 or more as element 1"));
    }
}

TEST_F(Npy, DamageIsNamed) {
    const std::string data = bytes_of_floats({1, 2, 3, 4, 5, 6});
    const auto dictionary = [](const std::string& type, const std::string& order, const std::string& shape) {
        return "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    };
    struct Case {
        std::string bytes, problem;
    };
    const Case cases[] = {
        {"", "is not a NumPy file (`numpy.save` writes one (.npy))"},
        {"\x93NUMPY\1"s, "is truncated within its header"},
        {"\x93NUMPY\1\0\xFF\0{}"s, "is truncated within its header"},
        {"\x93NUMPY\4\0\0\0\0\0"s, "has version 4.0 of the format"},
        {"\x93NUMPY\2\0\xFF\xFF\xFF\xFF"s, "has a header of 4294967295 characters, at most 10000 are read"},
        {npy(dictionary("'<f4'", "False", "(2, 4)"), data),
         "has 24 bytes of elements, its header says 32: it is damaged"},
        {npy(kTwoByThree, data + "x"), "has 25 bytes of elements, its header says 24"},
        {npy(dictionary("'<f4'", "False", "(1000000000000, 1000000000000)"), data),
         "its header says more than there can be"},
        {npy(dictionary("'>f4'", "False", "(2, 3)"), data), "has elements `>f4`, which are big-endian"},
        {npy(dictionary("'<c8'", "False", "(1, 3)"), data),
         "has elements `<c8`, expected <f8, <f4, <f2, <i8, <i4, <i2, |i1, <u8, <u4, <u2, |u1, |b1"},
        {npy(dictionary("'|O'", "False", "(1, 3)"), data), "has elements `|O`"},
        {npy(dictionary("[('a', '<f4')]", "False", "(6,)"), data), "`descr`: describes records"},
        {npy(dictionary("'<f4'", "True", "(2, 3)"), data),
         "has its elements in the order of Fortran (save `numpy.ascontiguousarray(array)`)"},
        {npy(dictionary("'<f4'", "Maybe", "(2, 3)"), data), "expected True or False"},
        {npy(dictionary("'<f4'", "False", "(-2, 3)"), data), "expected an extent of 0 to"},
        {npy(dictionary("'<f4'", "False", "(2 3)"), data), "with `3` at character 53, expected `)`"},
        {npy(dictionary("'<f4'", "False", "(99999999999999999999,)"), data), "expected an extent of 0 to"},
        {npy(dictionary("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6)"), data),
         "has more than 16 axes"},
        {npy("{'descr': '<f4', 'fortran_order': False}", data), "`shape`: is missing in the header"},
        {npy("{'descr': '<f4', 'descr': '<f4'}", data), "`descr`: occurs twice in the header"},
        {npy("{'color': '<f4'}", data), "`color`: is an unknown key of the header"},
        {npy("{'descr': '<f4", data), "expected a text that ends"},
        {npy("{'descr' '<f4'}", data), "with `'` at character 9, expected `:`"},
        {npy(std::string(kTwoByThree) + "x", data), "expected the end"},
        {npy("", data), "has a header with its end at character 0, expected `{`"},
    };
    for (const Case& each : cases) EXPECT_THAT(problem(each.bytes), HasSubstr(each.problem));
    const std::string whole = npy(kTwoByThree, data);
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_NE(problem(whole.substr(0, length)), "") << length;
}

TEST_F(Npy, BytesInMemoryAreThoseOfTheShape) {
    const std::vector<std::byte> seven(7);
    const NpyArray array{"caller", "<f4", {2}, seven};
    EXPECT_THROW((void)array.elements(ElementType::kF32), Error);
}

}  // namespace
}  // namespace tessera::import
