#include <vector>

#include <gtest/gtest.h>

#include "run/llm/session_fake.h"

namespace tessera::llm {
namespace {

/// A session of two sequences and as many that are kept, and what each of them holds.
struct SharedPages {
    static constexpr SessionOptions kOptions{.context = 64, .sequences = 2, .kept = 2};

    SharedPages()
        : fake(toy, Session::state_symbols(toy.manifest(), kOptions).at("P")),
          session(toy.manifest(), kOptions, fake.function()),
          history(4) {}

    std::vector<int32_t>& of(SequenceId id) { return history[static_cast<size_t>(id.index)]; }

    /// Adds tokens to each, in one step, and compares the logits behind the last ones with the naive model.
    void add(const std::vector<SequenceId>& ids, size_t count) {
        std::vector<Addition> batch;
        std::vector<int32_t> tokens;
        for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(i * 5 % 23));
        for (const SequenceId id : ids) {
            of(id).insert(of(id).end(), tokens.begin(), tokens.end());
            batch.push_back({id, tokens, last_row(tokens)});
        }
        session.add(batch, [&](size_t i, int32_t, std::span<const float> logits) {
            const std::vector<float> all = toy.logits(of(ids[i]));
            EXPECT_EQ(std::vector<float>(logits.begin(), logits.end()),
                      std::vector<float>(all.end() - toy.vocabulary, all.end()));
        });
    }

    runtime::ToyModel toy;
    FakeStep fake;
    Session session;
    std::vector<std::vector<int32_t>> history;
};

TEST(SharedPages, BelongToAllThatHoldThem) {
    SharedPages bench;
    const int64_t pages = bench.session.pages();
    EXPECT_EQ(pages, 8);  // those of two sequences, whatever is kept
    const SequenceId a = bench.session.open();
    bench.add({a}, 40);
    const SequenceId b = bench.session.fork(a, 32);
    bench.of(b).assign(bench.of(a).begin(), bench.of(a).begin() + 32);
    EXPECT_EQ(bench.session.free_pages(), pages - 3);
    EXPECT_EQ(bench.session.open_sequences(), 2);
    bench.add({a, b}, 12);
    EXPECT_EQ(bench.session.free_pages(), pages - 5);
    bench.session.close(a);
    EXPECT_EQ(bench.session.free_pages(), pages - 3);
    bench.add({b}, 7);
    bench.session.close(b);
    EXPECT_EQ(bench.session.free_pages(), pages);
}

TEST(SharedPages, NobodyGoesOnInsideOfOne) {
    SharedPages bench;
    const SequenceId a = bench.session.open();
    bench.add({a}, 40);
    const SequenceId b = bench.session.fork(a, 32);
    bench.of(b).assign(bench.of(a).begin(), bench.of(a).begin() + 32);
    for (const SequenceId id : {a, b}) {
        EXPECT_EQ(bench.session.own_length(id, 20), 16);
        EXPECT_EQ(bench.session.own_length(id, 32), 32);
    }
    EXPECT_EQ(bench.session.own_length(a, 37), 37);
    bench.session.close(a);
    EXPECT_EQ(bench.session.own_length(b, 20), 20);  // nobody else has the page now
    bench.session.shorten(b, 20);
    bench.of(b).resize(20);
    bench.add({b}, 12);
}

}  // namespace
}  // namespace tessera::llm
