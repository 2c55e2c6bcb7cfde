#include "import/gguf/gguf_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/run_model.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

namespace fs = std::filesystem;
using test::GgufBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;

class GgufPartsTest : public ::testing::Test {
protected:
    GgufPartsTest() {
        decoder_.fill(5);
        testing::write_split_gguf(decoder_, folder_.path(), "model");
    }

    std::string error_of(const fs::path& path) const {
        try {
            (void)GgufParts::open(path);
        } catch (const Error& error) {
            return error.what();
        }
        ADD_FAILURE() << "was accepted";
        return {};
    }
    static GgufBuilder part(uint16_t number, uint16_t count, const char* tensor) {
        GgufBuilder b;
        b.scalar("split.no", 2, number).scalar("split.count", 2, count);
        if (tensor) b.tensor(tensor, {1}, 0, 0).data(std::string(4, '\0'));
        return b;
    }
    void write(const fs::path& path, const GgufBuilder& builder) const {
        testing::write_file(path, builder.build());
    }

    testing::RandomDecoder decoder_;
    TemporaryFolder folder_;
    const fs::path first_ = folder_.path() / "model-00001-of-00002.gguf";
    const fs::path second_ = folder_.path() / "model-00002-of-00002.gguf";
};

TEST_F(GgufPartsTest, GiveTheModelWhicheverIsNamed) {
    for (const fs::path& path : {first_, second_}) {
        const ImportedModel model = import_model(path);
        EXPECT_LT(testing::distance_from_loops(model, decoder_), 3e-6) << path;
        EXPECT_EQ(model.graph.name, "model");
        EXPECT_EQ(GgufParts::open_first(path).path(), first_);
        EXPECT_EQ(GgufParts::names(path), (std::vector<fs::path>{first_, second_}));
    }
    EXPECT_EQ(GgufParts::names(folder_.path() / "whole.gguf"),
              (std::vector<fs::path>{folder_.path() / "whole.gguf"}));
}

TEST_F(GgufPartsTest, AMissingPartIsNamed) {
    fs::remove(second_);
    EXPECT_THAT(error_of(first_),
                AllOf(HasSubstr("model-00002-of-00002.gguf: is missing"), HasSubstr("part 2 of the 2")));
    testing::write_split_gguf(decoder_, folder_.path(), "model");
    fs::remove(first_);
    EXPECT_THAT(error_of(second_), HasSubstr("model-00001-of-00002.gguf: is missing"));
}

TEST_F(GgufPartsTest, NamesAndNumbersMustAgree) {
    fs::rename(second_, folder_.path() / "other.gguf");
    EXPECT_THAT(error_of(folder_.path() / "other.gguf"),
                AllOf(HasSubstr("other.gguf: is part 2 of 2, expected a name that ends in "
                                "-00002-of-00002.gguf"),
                      HasSubstr("rename them")));
    fs::copy(first_, second_);
    EXPECT_THAT(error_of(first_),
                AllOf(HasSubstr("model-00002-of-00002.gguf"), HasSubstr("says part 1 of 2")));
    write(second_, part(1, 3, "x"));
    EXPECT_THAT(error_of(first_), AllOf(HasSubstr("model-00002-of-00002.gguf"),
                                        HasSubstr("says part 2 of 3, expected part 2 of 2")));
    write(second_, GgufBuilder().u32("x", 1));
    EXPECT_THAT(error_of(first_), HasSubstr("says part 1 of 1"));
}

TEST_F(GgufPartsTest, EveryTensorLiesInOnePart) {
    write(first_, part(0, 2, "a"));
    write(second_, part(1, 2, "a"));
    EXPECT_THAT(error_of(first_),
                AllOf(HasSubstr("model-00002-of-00002.gguf"), HasSubstr("`a`: is also in ")));
    GgufBuilder counted = part(0, 2, "a");
    write(first_, counted.scalar("split.tensors.count", 5, int32_t{7}));
    write(second_, part(1, 2, "b"));
    EXPECT_THAT(error_of(first_), HasSubstr("`split.tensors.count`: is 7, but the 2 parts have 2 tensors"));
}

TEST_F(GgufPartsTest, NumbersOutOfRangeAreErrors) {
    write(first_, part(2, 2, "a"));
    EXPECT_THAT(error_of(first_), HasSubstr("`split.no`: is 2, expected 0 to 1"));
    write(first_, part(0, 65535, "a"));
    EXPECT_THAT(error_of(first_), HasSubstr("`split.count`: is 65535, expected at most 4096"));
    GgufBuilder wrong;
    write(first_, wrong.string("split.count", "two"));
    EXPECT_THAT(error_of(first_), HasSubstr("`split.count`: is string, expected an integer"));
}

TEST_F(GgufPartsTest, AFileThatOnlyHasTheNameIsWhole) {
    testing::write_gguf(decoder_, first_);
    EXPECT_EQ(GgufParts::open(first_).all().size(), 1u);
    EXPECT_EQ(GgufParts::open_first(first_).path(), first_);
}

}  // namespace
}  // namespace tessera::import
