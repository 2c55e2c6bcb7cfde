#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/subprocess.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The completions that bash offers for the word of this number.
std::string offered(const std::string& words, int number) {
    const std::string script = "source <(" TESSERA_PROGRAM " completion bash); COMP_WORDS=(" + words +
                               "); COMP_CWORD=" + std::to_string(number) +
                               "; _tessera; echo \"${COMPREPLY[*]}\"";
    const ProcessResult result = run_process({.program = "/bin/bash", .arguments = {"-c", script}});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return result.output;
}

TEST(Completion, BashCompletesVerbsAndTheirFlags) {
    EXPECT_EQ(offered("tessera perp", 1), "perplexity\n");
    EXPECT_EQ(offered("tessera cache l", 2), "list limit\n");
    EXPECT_EQ(offered("tessera run --cache", 2), "--cache-type\n");
    EXPECT_THAT(offered("tessera chip plan --obj", 3), HasSubstr("--objective"));
    EXPECT_EQ(offered("tessera run model", 2), "\n") << "a file is for the shell itself";
    EXPECT_THAT(offered("tessera cache list --", 3), Not(HasSubstr("--prompt")));
}

TEST(Completion, OtherShellsAreRefused) {
    const ProcessResult result =
        run_process({.program = TESSERA_PROGRAM, .arguments = {"completion", "tcsh"}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.errors, HasSubstr("tcsh"));
}

}  // namespace
}  // namespace tessera
