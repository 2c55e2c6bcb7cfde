#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// The protocol and the answers are tested in tests/cli/serve.
class ServeVerb : public ToyBench {
protected:
    void expect_wrong_usage(std::vector<std::string> arguments, const std::string& problem) const {
        arguments.insert(arguments.begin(), {"serve", "toy.tsr", "--fast"});
        const ProcessResult result = tessera(std::move(arguments));
        EXPECT_EQ(result.exit_code, 2) << result.errors;
        EXPECT_THAT(result.errors, HasSubstr(problem));
    }
};

TEST_F(ServeVerb, WrongUsage) {
    expect_wrong_usage({"--port", "65536"}, "--port");
    expect_wrong_usage({"--host", "a..b"}, "is neither an address of IP nor a name that stands for one");
    expect_wrong_usage({"--cors-origin", "example.org"}, "`--cors-origin`: example.org is no origin");
    expect_wrong_usage({"--parallel", "4"}, "cannot compute 4 texts in one step: 1 to 3 are possible");
    expect_wrong_usage({"--api-key", "a", "--api-key-file", "b"}, "--api-key");
    expect_wrong_usage({"--api-key", "a b"}, "`api-key`: has a character that a header of HTTP cannot have");
    expect_wrong_usage({"--queue", "-1"}, "--queue");
    expect_wrong_usage({"--embeddings"}, "toy.tsr: was compiled without embeddings (compile the model again");
}

TEST_F(ServeVerb, FailedJobs) {
    write("key.txt", std::string("\n"));
    const ProcessResult empty = tessera({"serve", "toy.tsr", "--api-key-file", "key.txt"});
    EXPECT_EQ(empty.exit_code, 1);
    EXPECT_THAT(empty.errors, HasSubstr("key.txt: has no key in its first line"));
    const ProcessResult missing = tessera({"serve", "missing.tsr"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_THAT(missing.errors, HasSubstr("missing.tsr: does not exist"));
}

TEST_F(ServeVerb, ListensUntilItIsTerminated) {
    for (const auto& [host, signal] : {std::pair("127.0.0.1", "TERM"), std::pair("localhost", "HUP")}) {
        const std::string script =
            std::string("'") + TESSERA_PROGRAM + "' serve toy.tsr --fast --port 0 --host " + host +
            " 2> log.txt & pid=$!\n"
            "for i in $(seq 600); do grep -q listening log.txt && break; sleep 0.05; done\n"
            "kill -" +
            signal + " $pid; wait $pid; code=$?; cat log.txt; exit $code";
        const ProcessResult result = run_process(
            {.program = "/usr/bin/env", .arguments = {"-C", folder_.path().string(), "sh", "-c", script}});
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_THAT(result.output, HasSubstr("toy: 3 texts at one time, 128 tokens each"));
        EXPECT_THAT(result.output, HasSubstr(std::string("listening at http://") + host + ":"));
        EXPECT_THAT(result.output, HasSubstr("\nstopped\n"));
    }
}

TEST_F(ServeVerb, AHangUpThatIsIgnoredStaysIgnored) {
    const std::string script =
        std::string("trap '' HUP; '") + TESSERA_PROGRAM +
        "' serve toy.tsr --fast --port 0 2> log.txt & pid=$!\n"
        "for i in $(seq 600); do grep -q listening log.txt && break; sleep 0.05; done\n"
        "kill -HUP $pid; sleep 0.2; kill -0 $pid && echo stays; kill -TERM $pid; wait $pid";
    const ProcessResult result = run_process(
        {.program = "/usr/bin/env", .arguments = {"-C", folder_.path().string(), "sh", "-c", script}});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("stays"));
}

}  // namespace
}  // namespace tessera
