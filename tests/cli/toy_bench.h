#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "run/runtime/toy_model.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {

/// The program on artefacts of the toy model, whose tokens are the letters a to w.
class ToyBench : public ::testing::Test {
protected:
    static std::string letters_tokenizer() {
        std::string vocabulary;
        for (int id = 0; id < 23; ++id)
            vocabulary += fmt::format("{}\"{}\": {}", id == 0 ? "" : ", ", static_cast<char>('a' + id), id);
        return fmt::format(
            R"({{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
 "post_processor": null, "decoder": {{"type": "Fuse"}},
 "model": {{"type": "BPE", "vocab": {{{}}}, "merges": []}}}})",
            vocabulary);
    }

    void SetUp() override {
        toy_.tokenizer = {{"tokenizer.json", letters_tokenizer()}};
        toy_.write(folder_.path() / "toy.tsr");
    }

    /// Runs in the folder of the test, with a cache of its own, and searches little unless told otherwise:
    /// compiling the shipped model would take half a minute.
    ProcessResult tessera(std::vector<std::string> arguments) const {
        std::vector<std::string> all = {"-C", folder_.path().string(), "XDG_CACHE_HOME=" + path("cache"),
                                        "TESSERA_SEARCH_EFFORT=0", TESSERA_PROGRAM};
        all.insert(all.end(), std::make_move_iterator(arguments.begin()),
                   std::make_move_iterator(arguments.end()));
        return run_process({.program = "/usr/bin/env", .arguments = std::move(all)});
    }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name, std::ios::binary) << text;
    }
    void write(const std::string& name, const std::vector<float>& values) const {
        write(name, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
    }
    std::vector<float> read_floats(const std::string& name) const {
        std::ifstream file(folder_.path() / name, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        std::vector<float> values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
        return values;
    }

    std::vector<int32_t> greedy(std::vector<int32_t> tokens, size_t count) const {
        const auto prompt = static_cast<int64_t>(tokens.size());
        for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(toy_.answer(tokens)));
        return {tokens.begin() + prompt, tokens.end()};
    }
    static std::string letters(const std::vector<int32_t>& tokens) {
        std::string text;
        for (const int32_t token : tokens) text += static_cast<char>('a' + token);
        return text;
    }

    runtime::ToyModel toy_;
    TemporaryFolder folder_;
};

}  // namespace tessera
