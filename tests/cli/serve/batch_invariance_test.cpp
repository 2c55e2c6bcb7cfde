// The logits of a sequence do not depend on what else is in its steps, as long as one specialisation computes
// them and they have no more than so many tokens. On the model that ships, with quantised weights.

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "cli/serve/shipped_artefact.h"
#include "compiler/api/invariant_tokens.h"
#include "machine/probe.h"
#include "run/llm/language_model.h"
#include "run/runtime/artefact.h"

namespace tessera::llm {
namespace {

constexpr int64_t kSequences = 8;

using Rows = std::vector<std::vector<float>>;

/// Steps of the shipped model, all of one specialisation.
class InvarianceBench {
public:
    InvarianceBench()
        : artefact_(std::make_shared<const runtime::Artefact>(
              runtime::Artefact::open(serve::testing::shipped_artefact()))),
          model_(artefact_, machine::host_features(), {.context = 256, .sequences = kSequences},
                 {.one_specialisation = true}),
          session_(&model_.session()),
          most_(static_cast<size_t>(std::min(invariant_tokens(*artefact_), session_->most_tokens()))) {}

    int64_t vocabulary() const { return session_->vocabulary(); }
    size_t most() const { return most_; }

    static std::vector<int32_t> random_tokens(std::mt19937& random, size_t count, int64_t vocabulary) {
        std::vector<int32_t> tokens(count);
        for (int32_t& token : tokens)
            token = static_cast<int32_t>(random() % static_cast<unsigned>(vocabulary));
        return tokens;
    }

    /// The logits after each token, in steps of the given sizes; the last one repeats.
    Rows alone(const std::vector<int32_t>& tokens, std::vector<size_t> chunks) {
        Rows rows;
        const SequenceId sequence = session_->open();
        for (size_t done = 0, i = 0; done < tokens.size(); ++i) {
            const size_t count = std::min(chunks[std::min(i, chunks.size() - 1)], tokens.size() - done);
            const std::span<const int32_t> part = std::span(tokens).subspan(done, count);
            const Addition addition{sequence, part, every_row(part)};
            session_->add({&addition, 1}, [&](size_t, int32_t, std::span<const float> logits) {
                rows.emplace_back(logits.begin(), logits.end());
            });
            done += count;
        }
        session_->close(sequence);
        return rows;
    }
    /// The same of several texts in steps that they share, each with chunks of random sizes.
    std::vector<Rows> together(const std::vector<std::vector<int32_t>>& texts, std::mt19937& random) {
        std::vector<Rows> rows(texts.size());
        std::vector<SequenceId> sequences;
        for (size_t i = 0; i < texts.size(); ++i) sequences.push_back(session_->open());
        while (true) {
            std::vector<Addition> batch;
            std::vector<size_t> of;
            size_t room = most_;
            for (size_t i = 0; i < texts.size(); ++i) {
                const size_t left = texts[i].size() - rows[i].size();
                const size_t count =
                    std::min({left, room, size_t{random() % 3 == 0 ? random() % 40 : random() % 2}});
                if (count == 0) continue;
                room -= count;
                const std::span<const int32_t> part = std::span(texts[i]).subspan(rows[i].size(), count);
                batch.push_back({sequences[i], part, every_row(part)});
                of.push_back(i);
            }
            bool is_done = true;
            for (size_t i = 0; i < texts.size(); ++i) is_done = is_done && rows[i].size() == texts[i].size();
            if (is_done) break;
            if (!batch.empty())
                session_->add(batch, [&](size_t i, int32_t, std::span<const float> logits) {
                    rows[of[i]].emplace_back(logits.begin(), logits.end());
                });
        }
        for (const SequenceId sequence : sequences) session_->close(sequence);
        return rows;
    }
    static size_t differing(const Rows& a, const Rows& b) {
        EXPECT_EQ(a.size(), b.size());
        size_t count = 0;
        for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
            count += std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(float)) != 0 ? 1 : 0;
        return count;
    }

private:
    std::shared_ptr<const runtime::Artefact> artefact_;
    LanguageModel model_;
    Session* session_;
    size_t most_;  ///< tokens of a step
};

TEST(ShippedModel, LogitsDependOnTheSequenceAlone) {
    InvarianceBench bench;
    std::mt19937 random(7);
    std::vector<std::vector<int32_t>> texts;
    for (const size_t length : {200, 1, 17, 64, 33, 130, 90, 5})
        texts.push_back(bench.random_tokens(random, length, bench.vocabulary()));
    std::vector<Rows> expected;
    for (const auto& text : texts) {
        expected.push_back(bench.alone(text, {1}));
        EXPECT_EQ(bench.differing(bench.alone(text, {bench.most()}), expected.back()), 0U) << text.size();
        EXPECT_EQ(bench.differing(bench.alone(text, {3, 12, 7}), expected.back()), 0U) << text.size();
    }
    for (int round = 0; round < 5; ++round) {
        const std::vector<Rows> found = bench.together(texts, random);
        for (size_t i = 0; i < texts.size(); ++i)
            EXPECT_EQ(bench.differing(found[i], expected[i]), 0U)
                << "text " << i << " of " << texts[i].size();
    }
}

}  // namespace
}  // namespace tessera::llm
