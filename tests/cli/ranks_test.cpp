// A model in several ranks, as a user compiles and runs it: threads of one process, and of several.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin";

class Ranks : public ToyBench {
protected:
    void SetUp() override {
        write("ids.json", "[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4]");
    }

    ProcessResult compile(const std::string& out, std::vector<std::string> more) const {
        std::vector<std::string> all = {"compile", model(),           "-o",    out,
                                        "-q",      "--policy",        "exact", "--workers",
                                        "1",       "--search-effort", "0"};
        all.insert(all.end(), more.begin(), more.end());
        return tessera(all);
    }
    static bool has_mpirun() { return find_program("mpirun", kPath).has_value(); }
    /// Logits in mpi.bin, by so many processes.
    ProcessResult logits_over_mpi(const char* processes, const std::string& artefact) const {
        return run_process(
            {.program = *find_program("mpirun", kPath),
             .arguments = {"--allow-run-as-root", "--oversubscribe", "-np", processes, TESSERA_PROGRAM,
                           "logits", path(artefact), "--ids", path("ids.json"), "--out", path("mpi.bin")}});
    }
    /// The logits of a model for so many ranks, which are those of one process, and the same again.
    void expect_logits_of_one_process(const std::string& artefact, const std::string& ranks,
                                      std::vector<float>& logits) const {
        ASSERT_EQ(compile("one.tsr", {}).exit_code, 0);
        const ProcessResult compiled = compile(artefact, {"--ranks", ranks});
        ASSERT_EQ(compiled.exit_code, 0) << compiled.errors;
        ASSERT_EQ(tessera({"logits", "one.tsr", "--ids", "ids.json", "--out", "one.bin"}).exit_code, 0);
        const ProcessResult all = tessera({"logits", artefact, "--ids", "ids.json", "--out", "ranks.bin"});
        ASSERT_EQ(all.exit_code, 0) << all.errors;
        EXPECT_THAT(all.errors, HasSubstr("memory: weights "));
        const std::vector<float> one = read_floats("one.bin");
        logits = read_floats("ranks.bin");
        ASSERT_EQ(one.size(), logits.size());
        const auto [low, high] = std::ranges::minmax(one);
        for (size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(one[i], logits[i], 3e-6 * (high - low)) << i;
        ASSERT_EQ(tessera({"logits", artefact, "--ids", "ids.json", "--out", "again.bin"}).exit_code, 0);
        EXPECT_EQ(read_floats("again.bin"), logits);
    }
    /// The answer of a server to a request for a completion.
    std::string served(const std::string& artefact, const std::string& body) const {
        const std::string script = fmt::format(
            "'{}' serve {} --port 0 2> log.txt & pid=$!\n"
            "for i in $(seq 600); do grep -q listening log.txt && break; sleep 0.05; done\n"
            "exec 3<>/dev/tcp/127.0.0.1/$(sed -n 's/^listening.*://p' log.txt)\n"
            "printf 'POST /v1/completions HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n"
            "Content-Length: {}\\r\\n\\r\\n%s' '{}' >&3; cat <&3; kill -TERM $pid; wait $pid",
            TESSERA_PROGRAM, artefact, body.size(), body);
        const ProcessResult result = run_process(
            {.program = "/usr/bin/env",
             .arguments = {"-C", folder_.path().string(), "timeout", "120", "bash", "-c", script}});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    }
    static std::string model() { return (fs::path(TESSERA_SOURCE_DIR) / "models/tessera-tiny").string(); }
};

TEST_F(Ranks, GiveTheLogitsOfOneProcess) {
    std::vector<float> two;
    ASSERT_NO_FATAL_FAILURE(expect_logits_of_one_process("two.tsr", "2", two));
    EXPECT_FALSE(fs::exists(path("two.tsr.rank0")));
    // Step by step, text, and what is told of the artefact.
    EXPECT_EQ(tessera({"run", "two.tsr", "-p", "61 + 93 =", "-n", "4"}).output,
              tessera({"run", "one.tsr", "-p", "61 + 93 =", "-n", "4"}).output);
    const auto account =
        nlohmann::json::parse(tessera({"inspect", "two.tsr", "--distribution", "--json"}).output);
    EXPECT_EQ(account.at("levels")[0].at("count"), 2);
    EXPECT_THAT(tessera({"inspect", "two.tsr", "--distribution"}).output, HasSubstr("memory of a device\n"));
    EXPECT_THAT(tessera({"retarget", "two.tsr", "-o", "three.tsr"}).errors, HasSubstr("is for 2 ranks"));
    EXPECT_THAT(tessera({"run", "two.tsr", "-p", "61 + 93 =", "-n", "4", "--verbose"}).errors,
                HasSubstr("exchanges a step"));
    EXPECT_EQ(tessera({"bench", "two.tsr", "one.tsr", "--prefill", "16", "--decode", "4", "--repeat", "1"})
                  .exit_code,
              0);
    EXPECT_THAT(
        tessera({"bench", "two.tsr", "--prefill", "0", "--decode", "4", "--repeat", "1", "--phases"}).output,
        HasSubstr(", exchange\n"));
    EXPECT_THAT(tessera({"inspect", "one.tsr", "--distribution"}).errors, HasSubstr("for one process"));
    EXPECT_THAT(served("two.tsr", R"({"prompt": "61 + 93 =", "max_tokens": 8, "temperature": 0})"),
                HasSubstr(R"("text":" 154")"));

    if (!has_mpirun()) GTEST_SKIP() << "not checked: ranks over MPI; mpirun is missing";
    const ProcessResult over_mpi = logits_over_mpi("2", "two.tsr");
    EXPECT_EQ(over_mpi.exit_code, 0) << over_mpi.errors;
    EXPECT_THAT(over_mpi.errors, HasSubstr("process 0 of 2: weights "));
    EXPECT_THAT(over_mpi.errors, HasSubstr("process 1 of 2: weights "));
    EXPECT_EQ(read_floats("mpi.bin"), two);
    const ProcessResult three = logits_over_mpi("3", "two.tsr");
    EXPECT_NE(three.exit_code, 0);
    EXPECT_THAT(three.errors, HasSubstr("is for 2 ranks, which 3 processes cannot share"));
    EXPECT_THAT(logits_over_mpi("2", "one.tsr").errors, HasSubstr("is for one process, and there are 2"));
}

TEST_F(Ranks, AreThreadsOfOneProcessAndOfSeveral) {
    std::vector<float> four;
    ASSERT_NO_FATAL_FAILURE(expect_logits_of_one_process("four.tsr", "4", four));
    if (!has_mpirun()) GTEST_SKIP() << "not checked: threads of several processes; mpirun is missing";
    for (const char* processes : {"2", "4"}) {
        const ProcessResult mixed = logits_over_mpi(processes, "four.tsr");
        EXPECT_EQ(mixed.exit_code, 0) << mixed.errors;
        EXPECT_EQ(read_floats("mpi.bin"), four) << processes;
    }
}

// Nothing in the model divides by three: parts are of different sizes.
TEST_F(Ranks, OfRaggedPartsGiveTheLogitsOfOneProcess) {
    std::vector<float> three;
    ASSERT_NO_FATAL_FAILURE(expect_logits_of_one_process("three.tsr", "3", three));

    const ProcessResult measured = tessera(
        {"inspect", "three.tsr", "--distribution", "--measure", "--json", "--svg", path("picture.svg")});
    ASSERT_EQ(measured.exit_code, 0) << measured.errors;
    int places = 0;
    const auto account = nlohmann::json::parse(measured.output);
    for (const auto& group : account.at("groups"))
        for (const auto& tensor : group.at("tensors"))
            for (const auto& box : tensor.at("boxes"))
                if (box.contains("exchange")) {
                    EXPECT_GT(box.at("exchange").at("measured_microseconds").get<double>(), 0);
                    places += box.at("exchange").at("call") == "place";
                }
    EXPECT_GT(places, 0);
    EXPECT_TRUE(fs::exists(path("picture.svg")));
    EXPECT_EQ(tessera({"inspect", "three.tsr", "--measure"}).exit_code, 2);

    if (!has_mpirun()) GTEST_SKIP() << "not checked: ragged parts over MPI; mpirun is missing";
    const ProcessResult over_mpi = logits_over_mpi("3", "three.tsr");
    EXPECT_EQ(over_mpi.exit_code, 0) << over_mpi.errors;
    EXPECT_EQ(read_floats("mpi.bin"), three);
}

TEST_F(Ranks, RefuseWhatTheyCannotDo) {
    const ProcessResult small = compile("x.tsr", {"--ranks", "2", "--rank-memory", "1000000"});
    EXPECT_EQ(small.exit_code, 1);
    EXPECT_THAT(small.errors, HasSubstr("does not fit on 2 ranks\n"));
    EXPECT_THAT(small.errors, HasSubstr("least memory"));
    EXPECT_THAT(small.errors, HasSubstr("embedding_weight"));
    EXPECT_FALSE(fs::exists(path("x.tsr")));
    const fs::path nodes = fs::path(TESSERA_SOURCE_DIR) / "machines/clusters/nodes.toml";
    EXPECT_THAT(compile("x.tsr", {"--ranks", "2", "--cluster", nodes.string()}).errors,
                HasSubstr("are 4 node x 8 gpu, expected one level of 2 ranks"));
    EXPECT_EQ(compile("x.tsr", {"--cluster", nodes.string()}).exit_code, 2);
    EXPECT_EQ(compile("x.tsr", {"--ranks", "129"}).exit_code, 2);
    write("p.ir", "graph \"p\"\n");
    EXPECT_THAT(tessera({"compile", "p.ir", "-o", "p.tsr", "--ranks", "2"}).errors,
                HasSubstr("is a setting for models"));
}

}  // namespace
}  // namespace tessera
