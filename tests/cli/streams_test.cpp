// Closed and full streams, and pipes that nobody reads, under every verb.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A job of every verb that ends well and prints to the standard output, but for those that print nothing.
const std::vector<std::string> kPrinting = {
    "run toy.tsr -p cab -n 4",
    "run toy.tsr --ids ids.json -n 4 --temperature 1 --seed -1",
    "verify toy.tsr --ids ids.json --logits l.bin",
    "bench TINY --prefill 2 --decode 2 --repeat 1",
    "bench TINY --prefill 2 --decode 2 --repeat 1 --json -",
    "inspect toy.tsr --manifest",
    "check MODEL",
    "tokenize MODEL '1 + 1'",
    "tokenize MODEL 10 --decode",
    "machine",
    "op matmul.op",
    "opt --pass decompose small.ir",
    "extract egraph.json",
    "extract egraph.json --json",
    "--version",
    "--help",
    "run --help",
};
const std::vector<std::string> kSilent = {"logits toy.tsr --ids ids.json --out l.bin",
                                          "machine --out host.toml"};

class Streams : public ToyBench {
protected:
    static void SetUpTestSuite() {
        tiny_ = new TemporaryFolder;
        const ProcessResult result =
            run_process({.program = "/usr/bin/env",
                         .arguments = {"XDG_CACHE_HOME=" + tiny_->path().string(), TESSERA_PROGRAM, "compile",
                                       TESSERA_SOURCE_DIR "/models/tessera-tiny", "-q", "-o",
                                       tiny_->path() / "tiny.tsr"}});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
    }
    static void TearDownTestSuite() {
        delete tiny_;
        tiny_ = nullptr;
    }
    void SetUp() override {
        ToyBench::SetUp();
        write("ids.json", "[2, 0, 1]");
        write("matmul.op",
              "op matmul(m: 2, n: 2, k*: 2)\nin A f32[m, k]\nin B f32[k, n]\nout C f32[m, n] = sum(A * B)\n"
              "test\n");
        write(
            "small.ir",
            "graph \"g\"\nsymbol T in 1..4\npoint one weight 1: T = 1\n\ninput x: f32[T]\nvalue y: f32[T]\n\n"
            "block b\n  node y(x) -> y\n    op half(t: T)\n    dim T in 1..4\n    in X f32[t]\n"
            "    out Y f32[t] = X * 0.5\n\noutput y\n");
        write(
            "egraph.json",
            R"({"nodes": {"a": {"op": "a", "children": [], "eclass": "0", "cost": 1}}, "root_eclasses": ["0"]})");
        ASSERT_EQ(mkfifo(path("named").c_str(), 0600), 0);
        ASSERT_EQ(shell("\"$0\" logits toy.tsr --ids ids.json --out l.bin").exit_code, 0);
    }

    /// `command` in the shell, where "$0" is the program; a last line says its exit code.
    ProcessResult shell(const std::string& command) const {
        return run_process({.program = "/usr/bin/env",
                            .arguments = {"-C", folder_.path(), "XDG_CACHE_HOME=" + path("cache"), "bash",
                                          "-c", command, TESSERA_PROGRAM}});
    }
    ProcessResult verb(std::string arguments, const std::string& streams) const {
        replace(arguments, "MODEL", TESSERA_SOURCE_DIR "/models/tessera-tiny");
        replace(arguments, "TINY", tiny_->path() / "tiny.tsr");
        // A pipe that had a reader when it was opened, and has none now.
        const size_t pipe = streams.find(">pipe");
        if (pipe == std::string::npos) return shell("\"$0\" " + arguments + " " + streams);
        const std::string number = pipe == 0 ? "1" : "2";
        return shell("rm -f gone; mkfifo gone; exec 8<>gone 9>gone 8>&-; \"$0\" " + arguments + " " + number +
                     ">&9 9>&-");
    }
    static void replace(std::string& text, std::string_view word, const std::string& by) {
        if (const size_t at = text.find(word); at != std::string::npos) text.replace(at, word.size(), by);
    }
    std::string content(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    static inline TemporaryFolder* tiny_ = nullptr;
};

TEST_F(Streams, TheJobsEndWell) {
    for (const std::string& job : kPrinting) {
        const ProcessResult result = verb(job, "");
        EXPECT_EQ(result.exit_code, 0) << job << "\n" << result.errors;
        EXPECT_THAT(result.output, Not(IsEmpty())) << job;
    }
    for (const std::string& job : kSilent) {
        const ProcessResult result = verb(job, "");
        EXPECT_EQ(result.exit_code, 0) << job << "\n" << result.errors;
        EXPECT_THAT(result.output, IsEmpty()) << job;
    }
}

TEST_F(Streams, WithoutErrorsToWriteToTheJobGoesOn) {
    for (const std::string stream : {"2>&-", "2>/dev/full", "2>pipe"}) {
        for (const std::string& job : kPrinting) {
            const ProcessResult result = verb(job, stream);
            EXPECT_EQ(result.exit_code, 0) << job << " " << stream;
            EXPECT_THAT(result.output, Not(IsEmpty())) << job << " " << stream;
        }
        for (const std::string& job : kSilent) EXPECT_EQ(verb(job, stream).exit_code, 0) << job << stream;
        EXPECT_EQ(verb("check nosuch", stream).exit_code, 1) << stream;
        EXPECT_EQ(verb("nosuch", stream).exit_code, 2) << stream;
        EXPECT_EQ(verb("run --nosuch", stream).exit_code, 2) << stream;
    }
}

TEST_F(Streams, AnOutputThatCannotBeWrittenIsAFailure) {
    for (const std::string stream : {">&-", ">/dev/full", ">pipe"}) {
        for (const std::string& job : kPrinting) {
            const ProcessResult result = verb(job, stream);
            EXPECT_EQ(result.exit_code, 1) << job << " " << stream;
            EXPECT_THAT(result.errors, HasSubstr("cannot write to the standard output")) << job << stream;
        }
        for (const std::string& job : kSilent) EXPECT_EQ(verb(job, stream).exit_code, 0) << job << stream;
    }
}

TEST_F(Streams, AnInputThatIsClosedIsNotAnEmptyOne) {
    for (const std::string job : {"run toy.tsr -p -", "tokenize MODEL -", "opt --pass decompose -"}) {
        const ProcessResult result = verb(job, "<&-");
        EXPECT_EQ(result.exit_code, 1) << job;
        EXPECT_THAT(result.errors, HasSubstr("standard input: cannot be read")) << job;
    }
    EXPECT_EQ(verb("run toy.tsr -p cab -n 4", "<&-").exit_code, 0);
}

// The first file that is opened gets the lowest free number: that of a stream that is closed.
TEST_F(Streams, AClosedStreamIsNoFileThatIsOpenedLater) {
    const std::string expected = content("l.bin");
    EXPECT_EQ(verb("logits toy.tsr --ids ids.json --out l.bin", "<&- >&- 2>&-").exit_code, 0);
    EXPECT_EQ(content("l.bin"), expected);
    EXPECT_EQ(verb("extract egraph.json --json --out c.json", "<&- >&- 2>&-").exit_code, 1);
    EXPECT_THAT(content("c.json"), Not(HasSubstr("seconds"))) << "of the standard output";
}

// Files, and the standard output as one of them: earlier output comes first.
TEST_F(Streams, OutputsMayBeStreams) {
    const std::string logits = content("l.bin");
    for (const std::string to : {"--out /dev/stdout", "--out /dev/fd/1", "--out /proc/self/fd/1"})
        EXPECT_EQ(verb("logits toy.tsr --ids ids.json " + to, "").output, logits) << to;
    EXPECT_EQ(verb("logits toy.tsr --ids ids.json --out /dev/stdout", "> f; cat f").output, logits);
    EXPECT_EQ(verb("logits toy.tsr --ids ids.json --out >(cat)", "; wait").output, logits);
    const std::string all = verb("extract egraph.json --out /dev/stdout", "").output;
    EXPECT_LT(all.find("conflicts"), all.find("choices"));
    EXPECT_EQ(shell("\"$0\" machine --out named & cat named; wait").output, verb("machine", "").output);
    EXPECT_TRUE(std::filesystem::is_fifo(path("named")));
}

}  // namespace
}  // namespace tessera
