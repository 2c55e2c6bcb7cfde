#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/import_model.h"
#include "import/run_model.h"
#include "support/shared_data.h"

// Checkpoints and logits of others (../shared/data): the prompt as one chunk, then greedy tokens in chunks of
// 7 and 1.

namespace tessera::import {
namespace {

namespace fs = std::filesystem;

const fs::path kData = test::shared_data("data");

/// An F32 forward pass in plain order reaches 4e-7 to 9e-7; a wrong epsilon shows at 7e-6.
constexpr double kOfTheRange = 3e-6;

std::vector<int64_t> read_ids(const fs::path& path) {
    const auto document = nlohmann::json::parse(std::ifstream(path));
    return (document.is_object() ? document.at("ids") : document).get<std::vector<int64_t>>();
}

std::vector<double> read_floats(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
    return {floats.begin(), floats.end()};
}

void append(std::vector<double>& all, const std::vector<double>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

class SharedLogits : public ::testing::TestWithParam<const char*> {};

TEST_P(SharedLogits, AreThoseOfLlamaCpp) {
    TESSERA_SKIP_WITHOUT_SHARED("data/tiny-random", "logits of llama.cpp");
    const fs::path folder = kData / "tiny-random" / fs::path(GetParam()).parent_path();
    std::vector<int64_t> ids = read_ids(folder / "prompt_ids.json");
    const std::vector<int64_t> greedy = read_ids(folder / "expected_greedy.json");
    const std::vector<double> expected = read_floats(folder / "expected_logits_f32.bin");

    const ImportedModel model = import_model(kData / "tiny-random" / GetParam());
    testing::InterpretedSession session(model, 128);
    std::vector<double> found = session.step(ids);
    for (size_t i = 0; i < greedy.size();) {
        const size_t chunk = std::min<size_t>(i % 2 == 0 ? 7 : 1, greedy.size() - i);
        append(found, session.step({greedy.begin() + static_cast<std::ptrdiff_t>(i),
                                    greedy.begin() + static_cast<std::ptrdiff_t>(i + chunk)}));
        i += chunk;
    }
    EXPECT_LT(testing::distance_of_range(found, expected), kOfTheRange);
    RecordProperty("distance", std::to_string(testing::distance_of_range(found, expected) * 1e9) + "e-9");
}

// Every architecture, every form; tests/cli/shared_models_test.cpp compiles all of both.
INSTANTIATE_TEST_SUITE_P(TinyRandom, SharedLogits,
                         ::testing::Values("llama/hf", "llama3/model.gguf", "qwen2/hf", "qwen3/model.gguf"));

/// The positions compared, of 256: enough that the second page and the growing softmax are in use.
constexpr size_t kStoryPositions = 40;

class Stories : public ::testing::TestWithParam<const char*> {};

TEST_P(Stories, LogitsAndGreedyIdsAreThoseOfNumpy) {
    TESSERA_SKIP_WITHOUT_SHARED("data/stories260K", "logits of stories260K");
    const fs::path folder = kData / "stories260K";
    const auto document = nlohmann::json::parse(std::ifstream(folder / "expected_greedy_numpy_f64.json"));
    const auto greedy = document.at("greedy_ids").get<std::vector<int64_t>>();
    std::vector<double> expected = read_floats(folder / "expected_greedy_numpy_f64_logits_f32.bin");
    const ImportedModel model = import_model(folder / GetParam());
    const auto vocabulary = static_cast<size_t>(model.facts.vocabulary);
    expected.resize(kStoryPositions * vocabulary);

    std::vector<int64_t> tokens = {1};
    tokens.insert(tokens.end(), greedy.begin(), greedy.begin() + kStoryPositions - 1);
    const std::vector<double> found = testing::InterpretedSession(model, 128).step(tokens);
    EXPECT_LT(testing::distance_of_range(found, expected), kOfTheRange);
    for (size_t i = 0; i < kStoryPositions; ++i) {
        const auto row = found.begin() + static_cast<std::ptrdiff_t>(i * vocabulary);
        const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(vocabulary)) - row;
        EXPECT_EQ(best, greedy[i]) << "position " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Both, Stories, ::testing::Values("hf", "stories260K.gguf"));

}  // namespace
}  // namespace tessera::import
