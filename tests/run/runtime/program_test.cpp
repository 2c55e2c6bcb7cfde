#include "run/runtime/program.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/runtime/toy_model.h"
#include "support/error.h"

namespace tessera::runtime {
namespace {

/// Calls of the toy's step, spelled out: one sequence in pages that the caller chose.
struct Call {
    std::vector<int64_t> symbols;
    std::vector<std::vector<int32_t>> inputs;
    std::vector<float> logits;

    void run(LoadedProgram& program) {
        std::vector<std::span<const std::byte>> given;
        for (const auto& input : inputs) given.push_back(std::as_bytes(std::span(input)));
        const std::vector<std::span<std::byte>> results = {std::as_writable_bytes(std::span(logits))};
        program.run_step(symbols, given, results);
    }
    std::string problem(LoadedProgram& program) {
        try {
            run(program);
        } catch (const Error& error) {
            return fmt::format("{}: {}", error.entity, error.problem);
        }
        return "";
    }
};

/// Tokens `x` at positions `start`, ... in the pages of `table`.
Call call(const ToyModel& toy, int64_t pages, const std::vector<int32_t>& table,
          const std::vector<int32_t>& x, int32_t start) {
    const auto count = static_cast<int64_t>(x.size());
    std::vector<int32_t> position, slot, row = table;
    for (int32_t t = start; t < start + count; ++t) {
        position.push_back(t);
        slot.push_back(table[static_cast<size_t>(t / 16)] * 16 + t % 16);
    }
    row.resize(static_cast<size_t>(toy.context / 16));
    const int64_t cached = (start + count + 15) / 16 * 16;
    return {.symbols = {count, 1, 1, count, cached, pages},
            .inputs = {x,
                       position,
                       slot,
                       {static_cast<int32_t>(count - 1)},
                       {0},
                       {static_cast<int32_t>(count)},
                       {start},
                       row},
            .logits = std::vector<float>(static_cast<size_t>(toy.vocabulary))};
}

class Loaded : public ::testing::Test {
protected:
    std::shared_ptr<const Artefact> open() {
        toy_.write(folder_.path() / "toy.tsr");
        return std::make_shared<Artefact>(Artefact::open(folder_.path() / "toy.tsr"));
    }
    std::vector<float> expected(const std::vector<int32_t>& tokens) const {
        const std::vector<float> all = toy_.logits(tokens);
        return {all.end() - toy_.vocabulary, all.end()};
    }

    ToyModel toy_;
    TemporaryFolder folder_;
};

TEST_F(Loaded, KeepsStateFromStepToStep) {
    LoadedProgram program(open(), {{"P", 7}});
    std::vector<int32_t> tokens = {3, 1, 4, 1, 5};
    Call first = call(toy_, 7, {6, 2}, tokens, 0);
    first.run(program);
    EXPECT_EQ(first.logits, expected(tokens));
    for (int32_t token : {9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4}) {
        Call next = call(toy_, 7, {6, 2}, {token}, static_cast<int32_t>(tokens.size()));
        next.run(program);
        tokens.push_back(token);
        EXPECT_EQ(next.logits, expected(tokens));
    }
}

TEST_F(Loaded, ProgramsOfOneArtefactDoNotShareState) {
    const auto artefact = open();
    LoadedProgram one(artefact, {{"P", 1}}), two(artefact, {{"P", 1}});
    Call a = call(toy_, 1, {0}, {5, 6}, 0), b = call(toy_, 1, {0}, {7}, 0);
    a.run(one);
    b.run(two);
    Call next = call(toy_, 1, {0}, {1}, 2);
    next.run(one);
    EXPECT_EQ(next.logits, expected({5, 6, 1}));
}

TEST_F(Loaded, StatesBeginAsZeroAndAreAligned) {
    LoadedProgram program(open(), {{"P", 5}});
    const auto is_zero = [&] {
        for (const std::byte byte : program.state(0))
            if (byte != std::byte{0}) return false;
        return true;
    };
    EXPECT_EQ(program.state(0).size(), 2U * 5 * 16 * 4);
    EXPECT_EQ(program.state_bytes(), 2 * 5 * 16 * 4);
    EXPECT_EQ(program.arena_bytes(), 64);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(program.state(0).data()) % 64, 0U);
    EXPECT_TRUE(is_zero());
    call(toy_, 5, {1}, {5, 6}, 0).run(program);
    EXPECT_FALSE(is_zero());
    program.reset();
    EXPECT_TRUE(is_zero());
}

TEST_F(Loaded, WhatDoesNotFitIsNamedAndNotCalled) {
    LoadedProgram program(open(), {{"P", 2}});
    const Call good = call(toy_, 2, {0}, {5, 6, 7}, 0);
    const auto problem = [&](auto spoil) {
        Call bad = good;
        spoil(bad);
        return bad.problem(program);
    };
    EXPECT_EQ(problem([](Call& c) { c.symbols[0] = 9; }), "T: is 9, expected 1 to 8 in steps of 1");
    EXPECT_EQ(problem([](Call& c) { c.symbols[4] = 17; }), "S: is 17, expected 16 to 128 in steps of 16");
    EXPECT_EQ(problem([](Call& c) { c.symbols[5] = 3; }), "P: is 3, but the state was made for 2");
    EXPECT_EQ(problem([](Call& c) { c.symbols.pop_back(); }), ": a step has 6 symbols, 5 were given");
    EXPECT_EQ(problem([](Call& c) { c.inputs.pop_back(); }), ": a step has 8 inputs, 7 were given");
    EXPECT_EQ(problem([](Call& c) { c.inputs[2].push_back(0); }), "slot: has 16 bytes, expected 12");
    EXPECT_EQ(problem([](Call& c) { c.logits.resize(22); }), "logits: has 88 bytes, expected 92");
    for (const std::byte byte : program.state(0)) EXPECT_EQ(byte, std::byte{0});
    EXPECT_EQ(problem([](Call&) {}), "");
}

TEST_F(Loaded, TheFirstSpecialisationThatFitsIsCalled) {
    toy_.write(folder_.path() / "toy.tsr");
    ArtefactParts parts{toy_.manifest(), toy_.code(), "", "", {}};
    // Its entry leaves the logits alone where the bounds of the other one do not hold.
    parts.manifest.specialisations.resize(1);
    write_artefact(folder_.path() / "one.tsr", parts, [](ConstantSink&) {});
    LoadedProgram program(std::make_shared<Artefact>(Artefact::open(folder_.path() / "one.tsr")), {{"P", 2}});
    EXPECT_EQ(call(toy_, 2, {0}, {5, 6}, 0).problem(program),
              ": has no code for a step with T = 2, R = 1, B = 1, I = 2, S = 16, P = 2");
    EXPECT_EQ(call(toy_, 2, {0}, {5}, 0).problem(program), "");
}

TEST_F(Loaded, CodeThatCannotBeLoadedOrLacksAnEntry) {
    const auto problem = [&](const std::string& code, const std::string& entry) -> std::string {
        ArtefactParts parts{toy_.manifest(), code, "", "", {}};
        parts.manifest.specialisations[1].entry = entry;
        write_artefact(folder_.path() / "bad.tsr", parts, [](ConstantSink&) {});
        try {
            LoadedProgram(std::make_shared<Artefact>(Artefact::open(folder_.path() / "bad.tsr")), {{"P", 1}});
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(problem(toy_.code(), "toy_prefill"), "");
    EXPECT_NE(problem(toy_.code(), "toy_refill").find("`code`: lacks the function `toy_refill`"),
              std::string::npos);
    EXPECT_NE(problem("not a shared object", "toy_prefill").find("`code`: cannot be loaded"),
              std::string::npos);
}

TEST_F(Loaded, StatesBeyondTheirBoundsAreRefused) {
    const auto artefact = open();
    EXPECT_THROW(LoadedProgram(artefact, {{"P", 0}}), Error);
    EXPECT_THROW(LoadedProgram(artefact, {{"P", 1025}}), Error);
}

}  // namespace
}  // namespace tessera::runtime
