#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ntt/processor.h"

// The same tests are built once for each instruction set. This file is built for the plain machine.

namespace {

// Before the static objects of the other files, whose construction may use the instructions in question.
[[gnu::constructor(101)]] void leave_unless_supported() {
    if (processor_has_them()) return;
    constexpr std::string_view kText = "this processor lacks the instruction set\n";
    (void)!write(STDERR_FILENO, kText.data(), kText.size());
    _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
