#include <string>

#include <gmock/gmock.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// The protocol and the answers are tested in tests/serve.
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
    expect_wrong_usage({"--host", "localhost"}, "is no numeric address of IP (127.0.0.1, ::1 or 0.0.0.0)");
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
    const std::string script =
        std::string("'") + TESSERA_PROGRAM +
        "' serve toy.tsr --fast --port 0 2> log.txt & pid=$!\n"
        "for i in $(seq 600); do grep -q listening log.txt && break; sleep 0.05; done\n"
        "kill -TERM $pid; wait $pid; code=$?; cat log.txt; exit $code";
    const ProcessResult result = run_process(
        {.program = "/usr/bin/env", .arguments = {"-C", folder_.path().string(), "sh", "-c", script}});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("toy: 3 texts at one time, 128 tokens each"));
    EXPECT_THAT(result.output, HasSubstr("listening at http://127.0.0.1:"));
    EXPECT_THAT(result.output, HasSubstr("\nstopped\n"));
}

}  // namespace
}  // namespace tessera
