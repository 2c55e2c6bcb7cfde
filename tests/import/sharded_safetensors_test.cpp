#include "import/hf/sharded_safetensors.h"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/import_model.h"
#include "import/random_checkpoint.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kFirst = "model-00001-of-00002.safetensors";
constexpr const char* kSecond = "model-00002-of-00002.safetensors";

class ShardedFiles : public ::testing::Test {
protected:
    ShardedFiles() {
        decoder_.fill(1);
        testing::write_hugging_face(decoder_, whole_.path());
        testing::write_sharded(decoder_, folder_.path());
        index_ = nlohmann::json::parse(std::ifstream(folder_.path() / kIndex));
    }

    std::string error_of(const std::string& index) const {
        testing::write_file(folder_.path() / kIndex, index);
        try {
            (void)ShardedSafetensors::open((folder_.path() / kIndex).string());
        } catch (const Error& error) {
            return error.what();
        }
        ADD_FAILURE() << "was accepted";
        return {};
    }

    static constexpr const char* kIndex = "model.safetensors.index.json";
    testing::RandomDecoder decoder_;
    TemporaryFolder whole_, folder_;
    nlohmann::json index_;
};

TEST_F(ShardedFiles, HoldTheTensorsOfTheWhole) {
    const ImportedModel whole = import_model(whole_.path()), sharded = import_model(folder_.path());
    EXPECT_EQ(sharded.weights->names(), whole.weights->names());
    for (const std::string& name : whole.weights->names()) {
        const StoredTensor *one = whole.weights->find(name), *other = sharded.weights->find(name);
        ASSERT_NE(other, nullptr) << name;
        EXPECT_EQ(other->shape, one->shape) << name;
        sharded.weights->release(name);  // gives memory back, not contents
        EXPECT_TRUE(std::ranges::equal(other->bytes, one->bytes)) << name;
    }
    EXPECT_EQ(sharded.weights->find("absent"), nullptr);
}

TEST_F(ShardedFiles, OneFileWithAllIsTakenBeforeAnIndex) {
    std::filesystem::remove(folder_.path() / kFirst);
    std::filesystem::copy(whole_.path() / "model.safetensors", folder_.path());
    EXPECT_NO_THROW((void)import_model(folder_.path()));
}

TEST_F(ShardedFiles, AMissingShardIsNamed) {
    std::filesystem::remove(folder_.path() / kSecond);
    EXPECT_THAT(error_of(index_.dump()),
                AllOf(HasSubstr(kIndex), HasSubstr(kSecond), HasSubstr("is missing")));
}

TEST_F(ShardedFiles, ADamagedShardIsNamed) {
    std::filesystem::resize_file(folder_.path() / kSecond, 100);
    EXPECT_THAT(error_of(index_.dump()), AllOf(HasSubstr(kSecond), HasSubstr("claims a header")));
}

TEST_F(ShardedFiles, TheIndexOnlyNamesTheShards) {
    nlohmann::json index = index_;
    index["weight_map"]["model.layers.7.absent"] = kFirst;
    index["weight_map"].erase("model.norm.weight");
    const std::string own = index_["weight_map"]["lm_head.weight"];
    index["weight_map"]["lm_head.weight"] = own == kFirst ? kSecond : kFirst;
    testing::write_file(folder_.path() / kIndex, index.dump());
    const auto shards = ShardedSafetensors::open((folder_.path() / kIndex).string());
    EXPECT_NE(shards.find("model.norm.weight"), nullptr);
    EXPECT_EQ(shards.find("model.layers.7.absent"), nullptr);
    EXPECT_NO_THROW((void)import_model(folder_.path()));
}

TEST_F(ShardedFiles, ATensorMayLieInSeveralShardsIfItIsTheSame) {
    std::map<std::string, testing::NamedTensor> second;
    for (const auto& [name, file] : index_["weight_map"].items())
        if (file == kSecond) second[name] = decoder_.tensors.at(name);
    for (const auto& [name, file] : index_["weight_map"].items())
        if (file == kFirst) second[name] = decoder_.tensors.at(name);
    testing::write_file(folder_.path() / kSecond, testing::safetensors_of(second));
    EXPECT_NO_THROW((void)import_model(folder_.path()));
    second.at("model.norm.weight").values[0] += 1;
    second.at("lm_head.weight").values[0] += 1;
    testing::write_file(folder_.path() / kSecond, testing::safetensors_of(second));
    EXPECT_THAT(error_of(index_.dump()), AllOf(HasSubstr(kSecond), HasSubstr(", too, and differs")));
}

TEST_F(ShardedFiles, AShardIsAFileBesideTheIndex) {
    for (const char* name : {"../model.safetensors", "..", ".", "", "/etc/passwd", "a/b", ".hidden"}) {
        nlohmann::json index = index_;
        index["weight_map"]["model.norm.weight"] = name;
        EXPECT_THAT(error_of(index.dump()),
                    AllOf(HasSubstr("`weight_map.model.norm.weight`"), HasSubstr("beside the index")));
    }
    nlohmann::json index = index_;
    index["weight_map"]["model.norm.weight"] = std::string("a\0b", 3);
    EXPECT_THAT(error_of(index.dump()), HasSubstr("beside the index"));
}

TEST_F(ShardedFiles, TheIndexIsChecked) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "is empty"},
        {"{", "is not valid JSON"},
        {"[]", "is [], expected an object"},
        {"{}", "`weight_map`: is missing"},
        {R"({"weight_map": []})", "`weight_map`: is [], expected an object"},
        {R"({"weight_map": {}})", "`weight_map`: is empty"},
        {R"({"weight_map": {"a": 1}})", "`weight_map.a`: is 1, expected a text"},
        {R"({"weight_map": {"a": "x", "a": "y"}})", "`a`: is there twice"},
        {R"({"weight_map": {"a": {"b": {"c": {"d": 1}}}}})", "nested more than 4 levels deep"},
    };
    for (const auto& [text, message] : cases) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
    std::string many = R"({"weight_map": {)";
    for (int i = 0; i < 5000; ++i) many += fmt::format("{}\"{}\": \"{}\"", i == 0 ? "" : ", ", i, i);
    EXPECT_THAT(error_of(many + "}}"), HasSubstr("names 5000 files"));
}

}  // namespace
}  // namespace tessera::import
