#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "run/runtime/toy_model.h"
#include "support/temporary_folder.h"
#include "tessera/engine.h"

namespace tessera::serve::testing {

/// A model that is known by heart, with the letters a to w as tokens.
class ToyFixture : public ::testing::Test {
protected:
    ToyFixture() {
        std::string vocabulary;
        for (int id = 0; id < 23; ++id)
            vocabulary += fmt::format("{}\"{}\": {}", id == 0 ? "" : ", ", static_cast<char>('a' + id), id);
        toy_.tokenizer = {
            {"tokenizer.json",
             fmt::format(R"({{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
 "post_processor": null, "decoder": {{"type": "Fuse"}}, "model": {{"type": "BPE", "vocab": {{{}}}, "merges": []}}}})",
                         vocabulary)},
            {"chat_template.jinja",
             "{% for m in messages %}{{ {'user': 'u', 'assistant': 'a', 'system': 's'}[m.role] }}"
             "{{ m.content }}{% endfor %}{% if add_generation_prompt %}a{% endif %}"}};
        toy_.write(artefact());
    }
    std::filesystem::path artefact() const { return folder_.path() / "toy.tsr"; }
    /// The text after a prompt in letters.
    std::string greedy(const std::string& prompt, size_t count) const {
        std::vector<int32_t> tokens;
        for (const char letter : prompt) tokens.push_back(letter - 'a');
        std::string text;
        for (size_t i = 0; i < count; ++i) {
            tokens.push_back(static_cast<int32_t>(toy_.answer(tokens)));
            text += static_cast<char>('a' + tokens.back());
        }
        return text;
    }

    runtime::ToyModel toy_;
    TemporaryFolder folder_;
    const EngineSettings settings_{.batch_invariant = false};  // the toy has no plan to ask
};

}  // namespace tessera::serve::testing
