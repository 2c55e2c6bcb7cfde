// Faults of programs, and similar legal ones: races, elements that nothing has written, elements of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/movement/program_memory.h"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr movement::WorkerOrder kWorkerOrders[] = {
    movement::WorkerOrder::kAscending, movement::WorkerOrder::kDescending, movement::WorkerOrder::kRandom};

/// Two buffers in the arena, one in the output.
std::string kernel(const std::string& name, const std::string& body) {
    return "kernel " + name +
           " nest \"\"\nwrites a: f32 arena 0 bytes 64 of \"a\"\nwrites b: f32 arena 64 bytes 64 of \"b\"\n"
           "writes own: f32 arena 128 bytes 128 worker 64 of \"own\"\n"
           "writes y: f32 output 0 bytes 256 of \"y\"\n{\n" +
           body + "}\n";
}

constexpr const char* kFillA = "for t: 0..15 from worker to 16 by 2 { a[t] = int(t) }\n";
constexpr const char* kCopyA = "for t: 0..15 from worker to 16 by 2 { b[t] = a[t] }\n";
constexpr const char* kReverseA = "for t: 0..15 from worker to 16 by 2 { b[t] = a[15 - t] }\n";

/// The faults of kernels that two workers run, which are the same in every order.
std::string faults(const std::string& kernels, int64_t repeat = 1) {
    std::string all;
    for (const movement::WorkerOrder order : kWorkerOrders) {
        PlainMemory memory;
        const std::string found = faults_of(program_text(kernels, 2, repeat), memory, {.order = order});
        if (order != kWorkerOrders[0]) {
            EXPECT_EQ(found.empty(), all.empty());
        }
        all += found;
    }
    return all;
}

TEST(Races, WorkersMayTouchWhatNoOtherWorkerDoes) {
    EXPECT_EQ(faults(kernel("p", kFillA) + kernel("q", kCopyA)), "");
}

TEST(Races, ABarrierSeparatesWhatWorkersDo) {
    EXPECT_EQ(faults(kernel("p", kFillA) + kernel("q barrier", kReverseA)), "");
}

TEST(Races, WithoutABarrierAnotherWorkersElementIsARace) {
    const std::string found = faults(kernel("p", kFillA) + kernel("q", kReverseA));
    EXPECT_THAT(found, HasSubstr("race in a[0] (8 elements): written by worker 0, read by worker 1 in "
                                 "kernel q"));
    EXPECT_THAT(found, HasSubstr("kernel q: race in a[1] (8 elements): read by worker 0, written by worker 1 "
                                 "in kernel p"));
}

TEST(Races, TwoWritersAreARaceWhateverTheyWrite) {
    EXPECT_THAT(faults(kernel("p", "a[3] = 1\n")),
                HasSubstr("kernel p: race in a[3]: written by worker 1, written by worker 0 in kernel p"));
}

TEST(Races, OneOfThreeReadersThatWritesIsSeen) {
    const std::string text =
        "kernel p nest \"\"\nwrites s: f32 state 0 bytes 64 of \"s\"\nwrites y: f32 output 0 bytes 64 of "
        "\"y\"\n{\ny[worker] = s[0]\nif (int(worker) == WRITER) { s[0] = 1 }\n}\n";
    for (const int writer : {0, 1, 2}) {
        for (const movement::WorkerOrder order : kWorkerOrders) {
            std::string own = text;
            own.replace(own.find("WRITER"), 6, std::to_string(writer));
            PlainMemory memory;
            EXPECT_THAT(faults_of(program_text(own, 3), memory, {.order = order}), HasSubstr("race in s[0]"));
        }
    }
}

TEST(Races, DivisionsWithAnotherStepOverlap) {
    // The groups are of two, but the workers' steps are those of groups of one.
    EXPECT_THAT(faults(kernel("p",
                              "for t: 0..15 from worker to 15 by 2 { for u: 0..16 from t to t + 2 by 1 "
                              "{ a[u] = 1 } }\n")),
                HasSubstr("race in a["));
}

TEST(Races, NeighbouringBytesAreNoRace) {
    const std::string text =
        "kernel p nest \"\"\nwrites c: i8 arena 0 bytes 64 of \"c\"\n"
        "{ for t: 0..63 from worker to 64 by 2 { c[t] = 1 } }\n";
    PlainMemory memory;
    EXPECT_EQ(faults_of(program_text(text, 2), memory), "");
}

TEST(Races, CopiesAreTheWorkersOwn) {
    EXPECT_EQ(faults(kernel("p", "for t: 0..15 from 0 to 16 by 1 { own[t] = 1 }\n") +
                     kernel("q", "b[worker] = own[7]\n")),
              "");
}

TEST(Races, WorkerZeroAloneMakesWhatOthersReadBehindABarrier) {
    const std::string made = "fill a[0] times 16 = 1.0\n", read = "b[worker] = a[5]\n";
    EXPECT_EQ(faults(kernel("p alone", made) + kernel("q barrier", read)), "");
    EXPECT_THAT(faults(kernel("p alone", made) + kernel("q", read)), HasSubstr("race in a[5]"));
}

/// The last kernel of a repetition and the first one of the next are in one phase.
TEST(Races, RepetitionsMeetWhereTheyFollow) {
    const std::string first = "for t: 0..15 from worker to 16 by 2 { a[t] = 1 }\n";
    EXPECT_EQ(faults(kernel("p", first) + kernel("q barrier", kReverseA)), "");
    EXPECT_THAT(faults(kernel("p", first) + kernel("q barrier", kReverseA), 2),
                HasSubstr("kernel p: race in a["));
    EXPECT_EQ(faults(kernel("p barrier", first) + kernel("q barrier", kReverseA), 2), "");
}

TEST(Unwritten, ElementsOfArenaOutputAndTile) {
    EXPECT_THAT(faults(kernel("p alone", "b[0] = a[3]\n")), HasSubstr("kernel p: reads unwritten a[3]"));
    EXPECT_THAT(faults(kernel("p alone", "b[0] = y[0]\n")), HasSubstr("reads unwritten y[0]"));
    EXPECT_THAT(faults(kernel("p alone", "tile z: 4\nb[0] = z[1]\n")), HasSubstr("reads unwritten z[1]"));
    EXPECT_THAT(faults(kernel("p alone",
                              "a[0] = 1\ndeclare s: sum\nlanes e: 0..3 from 0 to 2 by 4 {\n"
                              "b[e; 1] = a[e; 1]\n}\n")),
                HasSubstr("reads unwritten a[1]"));
    EXPECT_EQ(faults(kernel("p alone", "a[3] = 1\nb[0] = a[3]\n")), "");
}

TEST(Unwritten, ALaneThatASelectTakes) {
    const auto selected = [](const std::string& condition) {
        return faults(kernel("p alone",
                             "tile z: 4\nfill z[0] times 2 = 1.0\nlanes e: 0..3 from 0 to 4 by 4 {\n"
                             "b[e; 1] = select((int(e; 1) < " +
                                 condition + "), z[e; 1], 5.0)\n}\n"));
    };
    EXPECT_EQ(selected("2"), "");
    EXPECT_THAT(selected("3"), HasSubstr("reads unwritten z[2]"));
}

TEST(Unwritten, TheCopyOfAnotherWorkerIsNotOnes) {
    EXPECT_THAT(faults(kernel("p", "if (int(worker) == 0) { own[0] = 1 }\n") +
                       kernel("q barrier", "b[worker] = own[0]\n")),
                HasSubstr("kernel q: reads unwritten own[0]"));
}

TEST(Unwritten, ATileIsNewInEachTrip) {
    EXPECT_THAT(faults(kernel("p alone",
                              "for t: 0..1 from 0 to 2 by 1 {\ntile z: 4\n"
                              "if (int(t) == 0) { z[0] = 1 }\nb[t] = z[0]\n}\n")),
                HasSubstr("reads unwritten z[0]"));
}

/// Two values that are both alive lie in one place.
TEST(Foreign, WhatAnotherBufferHasOverwritten) {
    const std::string buffers =
        "writes a: f32 arena 0 bytes 64 of \"a\"\nwrites c: f32 arena 32 bytes 64 of \"c\"\n";
    PlainMemory memory;
    const std::string found = faults_of(
        program_text("kernel p nest \"\"\n" + buffers +
                     "{ fill a[0] times 16 = 1.0\n fill c[0] times 4 = 2.0\n for t: 0..15 from 0 to 16 by 1 "
                     "{ a[t] = a[t] } }\n"),
        memory);
    EXPECT_THAT(found, HasSubstr("kernel p: reads overwritten a[8] (4 elements)"));
}

TEST(Outside, ElementsThatABufferHasNot) {
    EXPECT_THAT(faults(kernel("p alone", "a[4 * T] = 1\n")),
                HasSubstr("kernel p: leaves a[16]: it has 16 elements"));
    EXPECT_THAT(faults(kernel("p alone", "a[T - 5] = 1\n")), HasSubstr("leaves a[-1]"));
    EXPECT_THAT(faults(kernel("p alone", "fill a[T] times 13 = 1.0\n")), HasSubstr("leaves a[16]"));
    EXPECT_THAT(faults(kernel("p alone", "own[4 * T] = 1\n")), HasSubstr("leaves own[16]"))
        << "another worker's copy is no place to go to";
    EXPECT_THAT(faults(kernel("p alone",
                              "fill a[0] times 16 = 1.0\nlanes e: 0..256 from 0 to 4 * T + 1 by 8 "
                              "{\nb[0] = 1\ndeclare s[8]: sum\ns += a[e; 1]\n}\n")),
                HasSubstr("leaves a[16]"));
    EXPECT_THAT(faults(kernel("p alone", "y[T + 60] = 1\n")), HasSubstr("leaves y[64]"));
}

TEST(Outside, WhatIsWrittenThereIsLost) {
    PlainMemory memory;
    EXPECT_THAT(
        faults_of(program_text(kernel("p", "b[0] = 5\na[4 * T] = 1\ny[0] = b[0]\ny[1] = a[4 * T]\n"), 2),
                  memory),
        HasSubstr("leaves a[16]"));
    EXPECT_EQ(memory.output[0], 5);
    EXPECT_TRUE(std::isnan(memory.output[1]));
}

TEST(Bounds, AVariableThatLeavesItsDeclaration) {
    const std::string text =
        "kernel p nest \"\"\nwrites y: f32 output 0 bytes 256 of \"y\"\n"
        "{ let t: 1..64 = T\n y[0] = int(t) }\n";
    PlainMemory memory;
    EXPECT_THAT(faults_of(program_text(text), memory, {}, 100),
                HasSubstr("kernel p: excluded value of t[100]"));
}

TEST(Faults, AreCountedByElementAndBounded) {
    PlainMemory memory;
    const movement::Program program = movement::parse_program(
        program_text(kernel("p", "for t: 0..15 from 0 to 16 by 1 { b[t] = a[t] }\n"), 2), "test",
        kernels::call_kinds());
    const auto all = movement::interpret(program, memory.memory());
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].kind, movement::RunFault::Kind::kUnwritten);
    EXPECT_EQ(all[0].elements.size(), 16U);
    EXPECT_EQ(all[1].kind, movement::RunFault::Kind::kRace);
    EXPECT_EQ(movement::interpret(program, memory.memory(), {.most_faults = 1}).size(), 1U);
}

}  // namespace
}  // namespace tessera::testing
