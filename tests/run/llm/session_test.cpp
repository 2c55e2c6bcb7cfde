#include "run/llm/session.h"

#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/language_model.h"
#include "run/llm/session_fake.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;

/// A session over the fake, and the expected contents of the sequences.
struct Bench {
    explicit Bench(const SessionOptions& options, const runtime::ToyModel& model = {})
        : toy(model),
          fake(toy, Session::state_symbols(toy.manifest(), options).at("P")),
          session(toy.manifest(), options, fake.function()) {}

    SequenceId open() {
        const SequenceId id = session.open();
        history[id.index] = {};
        return id;
    }
    void close(SequenceId id) {
        session.close(id);
        history.erase(id.index);
    }
    /// Adds a batch and compares every row with the naive model.
    void add(const std::vector<Addition>& batch) {
        std::vector<std::vector<int32_t>> got(batch.size());
        const std::map<int, std::vector<int32_t>> before = history;
        for (const Addition& a : batch)
            history[a.sequence.index].insert(history[a.sequence.index].end(), a.tokens.begin(),
                                             a.tokens.end());
        session.add(batch, [&](size_t i, int32_t row, std::span<const float> logits) {
            got[i].push_back(row);
            const size_t length = before.at(batch[i].sequence.index).size() + static_cast<size_t>(row) + 1;
            const std::span<const int32_t> tokens = std::span(history[batch[i].sequence.index]).first(length);
            const std::vector<float> all = toy.logits(tokens);
            EXPECT_EQ(std::vector<float>(logits.begin(), logits.end()),
                      std::vector<float>(all.end() - toy.vocabulary, all.end()))
                << "addition " << i << " row " << row;
        });
        for (size_t i = 0; i < batch.size(); ++i) {
            EXPECT_EQ(got[i], batch[i].rows) << "addition " << i;
            EXPECT_EQ(session.length(batch[i].sequence),
                      static_cast<int64_t>(history[batch[i].sequence.index].size()));
        }
    }
    std::string problem(const std::vector<Addition>& batch) {
        try {
            session.add(batch, [](size_t, int32_t, std::span<const float>) {});
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }

    runtime::ToyModel toy;
    FakeStep fake;
    Session session;
    std::map<int, std::vector<int32_t>> history;
};

std::vector<int32_t> tokens(size_t count, int32_t first = 0) {
    std::vector<int32_t> result(count);
    for (size_t i = 0; i < count; ++i) result[i] = (first + 7 * static_cast<int32_t>(i)) % 23;
    return result;
}

std::vector<int64_t> chunk_lengths(const FakeStep& fake) {
    std::vector<int64_t> lengths;
    for (const FakeStep::Call& call : fake.calls()) lengths.push_back(call.T);
    return lengths;
}

TEST(Session, InputsOfOneSequence) {
    Bench bench({});
    const SequenceId id = bench.open();
    const std::vector<int32_t> prompt = {4, 5, 6};
    bench.add({{id, prompt, {0, 2}}});
    const FakeStep::Call& call = bench.fake.calls().at(0);
    EXPECT_THAT(call.tokens, ElementsAre(4, 5, 6));
    EXPECT_THAT(call.position, ElementsAre(0, 1, 2));
    EXPECT_THAT(call.slot, ElementsAre(0, 1, 2));
    EXPECT_THAT(call.rows, ElementsAre(0, 2));
    EXPECT_THAT(call.first, ElementsAre(0));
    EXPECT_THAT(call.length, ElementsAre(3));
    EXPECT_THAT(call.start, ElementsAre(0));
    EXPECT_THAT(call.page, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
    EXPECT_EQ(call.S, 16);
    EXPECT_EQ(call.P, 8);
}

TEST(Session, PagesGrowWithTheSequence) {
    Bench bench({});
    const SequenceId id = bench.open();
    EXPECT_EQ(bench.session.free_pages(), 8);
    const std::vector<int32_t> prompt = tokens(16), one = {3};
    bench.add({{id, prompt, {15}}});
    EXPECT_EQ(bench.session.free_pages(), 7);
    bench.add({{id, one, {0}}});
    EXPECT_EQ(bench.session.free_pages(), 6);
    const FakeStep::Call& call = bench.fake.calls().back();
    EXPECT_THAT(call.position, ElementsAre(16));
    EXPECT_THAT(call.slot, ElementsAre(16));
    EXPECT_THAT(call.page, ElementsAre(0, 1, 0, 0, 0, 0, 0, 0));
    EXPECT_EQ(call.S, 32);
}

TEST(Session, LongPromptsAreCut) {
    const std::vector<int32_t> prompt = tokens(21);
    for (const auto& [chunk, expected] :
         std::map<int64_t, std::vector<int64_t>>{{0, {8, 8, 5}},
                                                 {100, {8, 8, 5}},
                                                 {7, {7, 7, 7}},
                                                 {6, {6, 6, 6, 3}},
                                                 {1, std::vector<int64_t>(21, 1)}}) {
        Bench bench({.chunk = chunk});
        bench.add({{bench.open(), prompt, every_row(prompt)}});
        EXPECT_EQ(chunk_lengths(bench.fake), expected) << "chunk " << chunk;
    }
}

TEST(Session, ChunksWithoutWantedRowsAskForOneThatNobodySees) {
    Bench bench({});
    const std::vector<int32_t> prompt = tokens(20);
    bench.add({{bench.open(), prompt, last_row(prompt)}});
    ASSERT_EQ(bench.fake.calls().size(), 3U);
    EXPECT_THAT(bench.fake.calls()[0].rows, ElementsAre(7));
    EXPECT_THAT(bench.fake.calls()[2].rows, ElementsAre(3));
}

TEST(Session, FewerRowsThanTokensCutTheChunk) {
    runtime::Manifest manifest = runtime::ToyModel().manifest();
    manifest.symbols[1].high = 3;
    for (auto& specialisation : manifest.specialisations)
        specialisation.bounds["R"].high = std::min<int64_t>(3, specialisation.bounds["R"].high);
    const runtime::ToyModel toy;
    FakeStep fake(toy, 8);
    Session session(manifest, {}, fake.function());
    const std::vector<int32_t> prompt = tokens(8);
    std::vector<int32_t> rows;
    const Addition addition{session.open(), prompt, {1, 2, 3, 4, 7}};
    session.add({&addition, 1}, [&](size_t, int32_t row, std::span<const float>) { rows.push_back(row); });
    EXPECT_THAT(rows, ElementsAre(1, 2, 3, 4, 7));
    EXPECT_EQ(chunk_lengths(fake), (std::vector<int64_t>{4, 4}));
}

TEST(Session, SequencesShareTheRowsOfAStep) {
    runtime::Manifest manifest = runtime::ToyModel().manifest();
    manifest.symbols[1].high = 3;
    for (auto& specialisation : manifest.specialisations)
        specialisation.bounds["R"].high = std::min<int64_t>(3, specialisation.bounds["R"].high);
    const runtime::ToyModel toy;
    FakeStep fake(toy, 16);
    Session session(manifest, {.sequences = 2}, fake.function());
    const std::vector<int32_t> prompt = tokens(3);
    std::vector<int32_t> rows[2];
    const std::vector<Addition> batch = {{session.open(), prompt, {1, 2}}, {session.open(), prompt, {0, 2}}};
    session.add(batch, [&](size_t i, int32_t row, std::span<const float>) { rows[i].push_back(row); });
    EXPECT_THAT(rows[0], ElementsAre(1, 2));
    EXPECT_THAT(rows[1], ElementsAre(0, 2));
    EXPECT_EQ(chunk_lengths(fake), (std::vector<int64_t>{5, 1}));
    for (const FakeStep::Call& call : fake.calls()) EXPECT_LE(call.R, 3);
}

TEST(Session, PrefillAndDecodeShareAStep) {
    Bench bench({.sequences = 3});
    const SequenceId a = bench.open(), b = bench.open(), c = bench.open();
    const std::vector<int32_t> first = tokens(18), second = tokens(5, 3), one = {9}, other = {2},
                               prompt = tokens(6, 1);
    bench.add({{a, first, {}}, {b, second, {4}}});
    bench.fake.forget_calls();
    bench.add({{a, one, {0}}, {c, prompt, {2, 5}}, {b, other, {0}}});
    ASSERT_EQ(bench.fake.calls().size(), 1U);
    const FakeStep::Call& call = bench.fake.calls()[0];
    EXPECT_THAT(call.first, ElementsAre(0, 1, 7));
    EXPECT_THAT(call.length, ElementsAre(1, 6, 1));
    EXPECT_THAT(call.start, ElementsAre(18, 0, 5));
    EXPECT_THAT(call.rows, ElementsAre(0, 3, 6, 7));
    EXPECT_EQ(call.S, 32);
    EXPECT_EQ(call.I, 6);
}

TEST(Session, MoreSequencesThanAStepHolds) {
    Bench bench({.sequences = 5});
    std::vector<Addition> batch;
    const std::vector<int32_t> one = {4};
    for (int i = 0; i < 5; ++i) batch.push_back({bench.open(), one, {0}});
    bench.add(batch);
    EXPECT_EQ(chunk_lengths(bench.fake), (std::vector<int64_t>{3, 2}));
}

TEST(Session, PagesComeBack) {
    Bench bench({.sequences = 2});
    const std::vector<int32_t> prompt = tokens(40);
    const SequenceId a = bench.open(), b = bench.open();
    bench.add({{a, prompt, {}}, {b, prompt, {}}});
    const auto pages = bench.fake.calls().back().page;
    bench.close(a);
    EXPECT_EQ(bench.session.free_pages(), 13);
    const SequenceId c = bench.open();
    EXPECT_EQ(bench.session.length(c), 0);
    bench.add({{c, prompt, {39}}, {b, prompt, {39}}});
}

TEST(Session, AShortenedSequenceGoesOnAsIfNothingHadBeen) {
    const std::vector<int32_t> tokens(40, 3), others(30, 5);
    for (const int64_t kept : {0, 1, 15, 16, 17, 39, 40}) {
        Bench bench({.context = 128});
        const int64_t pages = bench.session.free_pages();
        const SequenceId a = bench.open();
        bench.add({{a, tokens, last_row(tokens)}});
        bench.session.shorten(a, kept);
        bench.history[a.index].resize(static_cast<size_t>(kept));
        EXPECT_EQ(bench.session.length(a), kept);
        EXPECT_EQ(bench.session.free_pages(), pages - (kept + 15) / 16);
        bench.add({{a, others, every_row(others)}});
        bench.close(a);
        EXPECT_EQ(bench.session.free_pages(), pages);
    }
}

TEST(Session, AssumedTokensAreWhatThePagesHold) {
    const std::vector<int32_t> tokens(40, 3), others(30, 5);
    for (const int64_t kept : {0, 15, 16, 40}) {
        Bench bench({.context = 128});
        const SequenceId a = bench.open();
        bench.add({{a, tokens, last_row(tokens)}});
        const int64_t pages = bench.session.free_pages();
        bench.session.shorten(a, kept);
        bench.session.assume(a, 40);  // the pages come back in the order in which they were
        EXPECT_EQ(bench.session.length(a), 40);
        EXPECT_EQ(bench.session.free_pages(), pages);
        bench.add({{a, others, every_row(others)}});
    }
}

TEST(Session, TheWholeContextCanBeUsedButNoMore) {
    Bench bench({.context = 30});
    EXPECT_EQ(bench.session.free_pages(), 2);
    const SequenceId id = bench.open();
    const std::vector<int32_t> prompt = tokens(31), one = {1};
    EXPECT_EQ(
        bench.problem({{id, prompt, {}}}),
        "toy: a sequence of 31 tokens does not fit into the context of 30 (--context can be up to 128)");
    EXPECT_TRUE(bench.fake.calls().empty());
    const std::span<const int32_t> fits = std::span(prompt).first(30);
    bench.add({{id, fits, {29}}});
    EXPECT_EQ(
        bench.problem({{id, one, {}}}),
        "toy: a sequence of 31 tokens does not fit into the context of 30 (--context can be up to 128)");
    EXPECT_EQ(bench.session.length(id), 30);

    Bench whole({});
    const std::vector<int32_t> too_long = tokens(129);
    EXPECT_EQ(whole.problem({{whole.open(), too_long, {}}}),
              "toy: a sequence of 129 tokens does not fit into the context of 128 (it is the largest "
              "--context of the "
              "compiled model)");
}

TEST(Session, WhatIsWrongIsSaidBeforeAnythingChanges) {
    Bench bench({.sequences = 2});
    const SequenceId a = bench.open(), b = bench.open();
    const std::vector<int32_t> good = {1, 2}, outside = {1, 23}, negative = {-1}, none;
    EXPECT_EQ(bench.problem({{a, good, {}}, {b, outside, {}}}),
              "toy: token 23 is not of the vocabulary of 23");
    EXPECT_EQ(bench.problem({{a, negative, {}}}), "toy: token -1 is not of the vocabulary of 23");
    EXPECT_EQ(bench.problem({{a, good, {}}, {a, good, {}}}), "toy: sequence 0 occurs twice in a batch");
    EXPECT_EQ(bench.problem({{a, none, {}}}),
              "toy: a sequence cannot be continued by no token (give at least one)");
    EXPECT_THROW(bench.session.open(), Error);
    EXPECT_TRUE(bench.fake.calls().empty());
    EXPECT_EQ(bench.session.length(a), 0);
    bench.add({{a, good, {1}}, {b, good, {0}}});
}

TEST(Session, OptionsBeyondTheModel) {
    const runtime::Manifest manifest = runtime::ToyModel().manifest();
    const auto problem = [&](const SessionOptions& options) -> std::string {
        try {
            Session::state_symbols(manifest, options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(problem({.context = 129}),
              "toy: cannot have a context of 129 tokens: the compiled model allows up to 128 (choose "
              "--context within that)");
    EXPECT_NE(problem({.context = -1}), "");
    EXPECT_EQ(problem({.sequences = 129}),
              "toy: cannot have a cache of 1032 pages: the compiled model allows up to 1024 (choose a "
              "smaller --context)");
    EXPECT_EQ(Session::state_symbols(manifest, {.context = 17, .sequences = 3}).at("P"), 6);
}

TEST(Session, ManifestsOfSomethingElseAreRefused) {
    const auto problem = [](auto spoil) -> std::string {
        runtime::Manifest manifest = runtime::ToyModel().manifest();
        spoil(manifest);
        try {
            StepInterface{manifest};
        } catch (const Error& error) {
            return fmt::format("{}: {}", error.entity, error.problem);
        }
        return "";
    };
    EXPECT_EQ(problem([](runtime::Manifest&) {}), "");
    EXPECT_EQ(problem([](runtime::Manifest& m) { m.text.reset(); }), ": is a program, not a language model");
    EXPECT_EQ(problem([](runtime::Manifest& m) { m.inputs[0].name = "pixels"; }),
              "pixels: is an unknown input");
    EXPECT_EQ(problem([](runtime::Manifest& m) { m.inputs.erase(m.inputs.begin() + 2); }),
              "slot: is missing in the inputs");
    EXPECT_EQ(problem([](runtime::Manifest& m) { m.inputs[2].element = ElementType::kF32; }),
              "slot: is f32 of 1 axes, expected i32 of 1");
    EXPECT_EQ(problem([](runtime::Manifest& m) { m.symbols[2].name = "X"; }), "X: is an unknown symbol");
    EXPECT_EQ(problem([](runtime::Manifest& m) { m.outputs[0].shape[1] = Dim(22); }),
              "outputs: are not logits f32[R, 23]");
}

TEST(Session, RandomBatchesAgreeWithTheNaiveModel) {
    for (uint32_t seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        const auto draw = [&](int low, int high) {
            return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
        };
        Bench bench({.context = draw(33, 128), .sequences = 5, .chunk = draw(0, 9)});
        std::vector<SequenceId> open;
        for (int round = 0; round < 25; ++round) {
            if (open.size() < 5 && draw(0, 2) > 0) open.push_back(bench.open());
            if (!open.empty() && draw(0, 6) == 0) {
                const auto gone = open.begin() + draw(0, static_cast<int>(open.size()) - 1);
                bench.close(*gone);
                open.erase(gone);
            }
            std::vector<std::vector<int32_t>> texts(open.size());
            std::vector<Addition> batch;
            for (size_t i = 0; i < open.size(); ++i) {
                const int64_t room = bench.session.context() - bench.session.length(open[i]);
                const int64_t count = std::min<int64_t>(room, draw(0, 2) == 0 ? draw(1, 30) : 1);
                if (count == 0 || draw(0, 4) == 0) continue;
                texts[i] = tokens(static_cast<size_t>(count), draw(0, 22));
                Addition addition{open[i], texts[i], {}};
                for (int32_t row = 0; row < count; ++row)
                    if (draw(0, 1) == 0) addition.rows.push_back(row);
                batch.push_back(std::move(addition));
            }
            std::shuffle(batch.begin(), batch.end(), random);
            bench.add(batch);
            if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << " round " << round;
        }
    }
}

TEST(LanguageModel, RunsTheCodeOfAnArtefact) {
    const runtime::ToyModel toy;
    const TemporaryFolder folder;
    toy.write(folder.path() / "toy.tsr");
    const auto artefact =
        std::make_shared<runtime::Artefact>(runtime::Artefact::open(folder.path() / "toy.tsr"));
    const std::vector<int32_t> prompt = tokens(50);
    const std::vector<float> expected = toy.logits(prompt);
    for (const int64_t chunk : {0, 1, 3, 7}) {
        LanguageModel model(artefact, {}, {.context = 64, .chunk = chunk});
        std::vector<float> logits;
        const Addition addition{model.session().open(), prompt, every_row(prompt)};
        model.session().add({&addition, 1}, [&](size_t, int32_t, std::span<const float> row) {
            logits.insert(logits.end(), row.begin(), row.end());
        });
        EXPECT_EQ(logits, expected) << "chunk " << chunk;
        EXPECT_EQ(model.memory_bytes(), 2 * 4 * 16 * 4 + 64);
    }
}

}  // namespace
}  // namespace tessera::llm
