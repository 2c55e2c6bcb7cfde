// Sequences of a model with recurrences: each has a seat of its own, and the state behind its last token
// alone.
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/kept_prefixes.h"
#include "run/llm/memory_need.h"
#include "run/runtime/toy_model.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The toy model with a state of 6 numbers at each seat.
runtime::Manifest manifest_with_seats(int64_t most_seats = 8) {
    runtime::Manifest manifest = runtime::ToyModel().manifest();
    manifest.symbols.push_back({"N", 1, most_seats, 1});
    manifest.inputs.push_back({"seat", ElementType::kI32, {Dim("B")}});
    manifest.states.push_back({"sums", ElementType::kF32, {Dim("N"), Dim(6)}, {Dim("N"), Dim(6)}, 1});
    for (runtime::Manifest::Specialisation& each : manifest.specialisations)
        each.bounds["N"] = {1, most_seats};
    return manifest;
}

/// The values that the steps of a session were given.
struct Steps {
    std::vector<std::vector<int32_t>> seats, starts;
    std::vector<int64_t> symbols;

    StepFunction function() {
        return [this](auto own, auto inputs, auto outputs) {
            const auto numbers = [&](size_t input) {
                std::vector<int32_t> all(inputs[input].size() / sizeof(int32_t));
                std::memcpy(all.data(), inputs[input].data(), inputs[input].size());
                return all;
            };
            starts.push_back(numbers(6));
            seats.push_back(numbers(8));
            symbols.push_back(own.back());
            std::memset(outputs[0].data(), 0, outputs[0].size());
        };
    }
};

constexpr SessionOptions kOptions{.context = 64, .sequences = 2, .kept = 2};

class Seats : public ::testing::Test {
protected:
    void add(const std::vector<SequenceId>& ids, size_t count) {
        const std::vector<int32_t> tokens(count, 1);
        std::vector<Addition> batch;
        for (const SequenceId id : ids) batch.push_back({id, tokens, last_row(tokens)});
        session_.add(batch, [](size_t, int32_t, std::span<const float>) {});
    }

    Steps steps_;
    Session session_{manifest_with_seats(), kOptions, steps_.function()};
};

TEST_F(Seats, EachOpenSequenceHasOne) {
    const SequenceId a = session_.open(), b = session_.open();
    add({b, a}, 2);
    EXPECT_THAT(steps_.seats, ElementsAre(ElementsAre(b.index, a.index)));
    session_.close(a);
    const SequenceId c = session_.open();
    add({c, b}, 1);
    EXPECT_THAT(steps_.seats.back(), ElementsAre(c.index, b.index));
    EXPECT_THAT(steps_.starts.back(), ElementsAre(0, 2)) << "the seat of a is begun anew";
    EXPECT_THAT(steps_.symbols, ::testing::Each(4)) << "one for each that may be open";
    EXPECT_EQ(Session::state_symbols(manifest_with_seats(), kOptions).at("N"), 4);
}

TEST_F(Seats, ASequenceKeepsAllTokensOrNone) {
    EXPECT_TRUE(session_.has_recurrences());
    const SequenceId a = session_.open();
    add({a}, 8);
    EXPECT_EQ(session_.own_length(a, 8), 8);
    EXPECT_EQ(session_.own_length(a, 7), 0);
    EXPECT_DEATH(session_.shorten(a, 7), "does not hold");
    session_.shorten(a, 0);
    EXPECT_EQ(session_.length(a), 0);
    EXPECT_EQ(session_.length(session_.fork(a, 0)), 0);
}

TEST_F(Seats, AKeptTextIsTakenOverWhereItEndsAlone) {
    KeptPrefixes kept(session_);
    const SequenceId a = session_.open();
    for (int i = 0; i < 3; ++i) add({a}, 8);
    const std::vector<TokenId> ids(24, 1);
    kept.keep(a, ids);
    std::vector<TokenId> other = ids;
    other[20] = 2;
    other.push_back(3);
    EXPECT_EQ(kept.take(other).index, -1) << "it leaves the kept text earlier";
    EXPECT_EQ(kept.take(ids).index, -1) << "its last token is computed in any case";
    std::vector<TokenId> longer = ids;
    longer.push_back(3);
    const SequenceId taken = kept.take(longer);
    EXPECT_EQ(taken, a);
    EXPECT_EQ(session_.length(taken), 24);
    EXPECT_EQ(kept.size(), 0);
}

TEST_F(Seats, StatesOfSeatsAreOfNoToken) {
    const MemoryNeed need = memory_need(manifest_with_seats(), kOptions);
    EXPECT_EQ(need.cache_per_token, 8);
    EXPECT_EQ(need.seats, 4 * 6 * 4);
    EXPECT_EQ(need.cache, 2 * 64 * 8 + need.seats);
    EXPECT_EQ(cache_type(manifest_with_seats()), "i32");
}

TEST_F(Seats, MoreSequencesThanTheCodeTakesAreRefused) {
    try {
        const Session session(manifest_with_seats(3), kOptions, steps_.function());
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_THAT(error.problem, HasSubstr("cannot have 4 open sequences"));
    }
}

}  // namespace
}  // namespace tessera::llm
