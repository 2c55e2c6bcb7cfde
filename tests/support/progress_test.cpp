#include "support/progress.h"

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace tessera {
namespace {

/// Records the output to a terminal.
class FakeTerminal {
public:
    std::FILE* stream() { return file_.get(); }
    std::string text() {
        std::fflush(file_.get());
        std::string result(static_cast<size_t>(std::ftell(file_.get())), '\0');
        std::rewind(file_.get());
        EXPECT_EQ(std::fread(result.data(), 1, result.size(), file_.get()), result.size());
        return result;
    }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), std::fclose};
};

TEST(Progress, LineSaysWhatIsKnown) {
    EXPECT_EQ(progress_line("reading", 3, 7, 2), "reading: 3 of 7, 2 s");
    EXPECT_EQ(progress_line("writing", 3, 0, 2), "writing: 3, 2 s");
    EXPECT_EQ(progress_line("compiling", 0, 0, 2), "compiling: 2 s");
}

TEST(Progress, IsSilentWithinTheFirstSecond) {
    FakeTerminal terminal;
    {
        Progress progress(terminal.stream(), "quick", 10);
        for (int i = 0; i < 10; ++i) progress.update(i);
    }
    EXPECT_EQ(terminal.text(), "");
}

TEST(Progress, ShowsALineAndTakesItAway) {
    FakeTerminal terminal;
    {
        Progress progress(terminal.stream(), "slow", 10);
        std::this_thread::sleep_for(std::chrono::milliseconds(1050));
        progress.update(4);
        progress.update(5);  // too soon after the last one to be drawn
    }
    EXPECT_EQ(terminal.text(), "\r\x1b[Kslow: 4 of 10, 1 s\r\x1b[K");
}

TEST(Progress, WithoutATerminalNothingHappens) {
    Progress progress(nullptr, "silent");
    progress.update(1);
}

}  // namespace
}  // namespace tessera
