#include "import/npy/npy_weights.h"

#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/constant_contents.h"
#include "ir/stored_number.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGraph = R"(graph "g"
input x: f32[2]
constant a: f32[2] from "a"
constant b: bf16[2, 2] from "layers.*.b" for 0..1
constant c: f32[3] from "c.0" then "c.1" along 0 of 1, 2
)";

class Weights : public ::testing::Test {
protected:
    Weights() {
        write("a", {2}, {1, 2});
        write("b0", {2, 2}, {3, 4, 5, 6.001F});
        write("b1", {2, 2}, {7, 8, 9, 10});
        write("c0", {1}, {11});
        write("c1", {2}, {12, 13});
        files_ = {{"a", path("a")},
                  {"layers.0.b", path("b0")},
                  {"layers.1.b", path("b1")},
                  {"c.0", path("c0")},
                  {"c.1", path("c1")}};
    }
    std::string path(const std::string& name) const { return (folder_.path() / (name + ".npy")).string(); }
    void write(const std::string& name, const std::vector<int64_t>& shape,
               const std::vector<float>& values) const {
        write_npy(path(name), ElementType::kF32, shape, std::as_bytes(std::span(values)));
    }
    std::string problem() const {
        try {
            (void)NpyWeights(graph_, files_, "g.ir");
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
    double number(const std::string& constant, int64_t repetition, size_t element) const {
        const NpyWeights weights(graph_, files_, "g.ir");
        const Value& value = graph_[*graph_.find(constant)];
        const TensorContents contents = constant_contents(weights, value, repetition, "g.ir");
        return stored_number(contents.bytes, value.type.element, element);
    }
    TemporaryFolder folder_;
    Graph graph_ = parse_graph(kGraph, "g.ir");
    std::map<std::string, std::filesystem::path> files_;
};

TEST_F(Weights, EverySourceHasAFile) {
    EXPECT_EQ(number("a", 0, 1), 2);
    EXPECT_EQ(number("b", 0, 3), 6) << "rounded to bf16";
    EXPECT_EQ(number("b", 1, 0), 7);
    EXPECT_EQ(number("c", 0, 0), 11);
    EXPECT_EQ(number("c", 0, 2), 13);
    const NpyWeights weights(graph_, files_, "g.ir");
    EXPECT_THAT(weights.names(), ElementsAre("a", "c.0", "c.1", "layers.0.b", "layers.1.b"));
    EXPECT_EQ(weights.find("b"), nullptr);
}

TEST_F(Weights, MissingOnesAreListed) {
    files_.erase("a");
    files_.erase("layers.1.b");
    EXPECT_EQ(problem(),
              "g.ir: has constants without contents: a: f32[2]; layers.1.b: bf16[2, 2] (give each a file: "
              "--constant NAME=FILE.npy)");
    files_.clear();
    graph_ = parse_graph("graph \"g\"\nconstant w: f32[2] from \"w.*\" for 0..19\n", "g.ir");
    EXPECT_THAT(problem(), HasSubstr("w.15: f32[2] and 12 more (give"));
}

TEST_F(Weights, AFileOfNoSourceIsRefused) {
    files_["layers.2.b"] = path("b0");
    EXPECT_EQ(problem(),
              "g.ir: `layers.2.b`: is the source of no constant (there is layers.0.b, layers.1.b)");
}

TEST_F(Weights, AnotherShapeOrTypeIsRefused) {
    files_["a"] = path("b0");
    EXPECT_EQ(problem(), path("b0") + ": `a`: has shape [2, 2], expected [2]");
    const std::vector<int32_t> numbers = {1, 2};
    write_npy(path("a"), ElementType::kI32, {2}, std::as_bytes(std::span(numbers)));
    files_["a"] = path("a");
    EXPECT_EQ(problem(), path("a") +
                             ": `a`: has elements `<i4`, expected f32 (`<f4`) (give the array after "
                             "`.astype(numpy.float32)`)");
}

TEST_F(Weights, ASourceIsOneThing) {
    graph_ =
        parse_graph("graph \"g\"\nconstant a: f32[2] from \"a\"\nconstant b: bf16[2] from \"a\"\n", "g.ir");
    EXPECT_EQ(problem(), "g.ir: `a`: is f32[2] for a and bf16[2] for b (give them sources of their own)");
}

}  // namespace
}  // namespace tessera::import
