#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/toy_bench.h"

extern char** environ;

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// A process whose output is read when the test wants it: a pipe of one page fills up, so that the process
/// waits in the middle of its text, however fast it is.
class Child {
public:
    explicit Child(std::vector<std::string> arguments, const std::string& input = "/dev/null") {
        int output[2], errors[2];
        EXPECT_EQ(pipe2(output, O_CLOEXEC), 0);
        EXPECT_EQ(pipe2(errors, O_CLOEXEC), 0);
        EXPECT_GE(fcntl(output[0], F_SETPIPE_SZ, 4096), 4096);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
        // A test runner may have SIGINT ignored.
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t defaults;
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGINT);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        EXPECT_EQ(posix_spawn(&id_, TESSERA_PROGRAM, &actions, &attributes, argv.data(), environ), 0);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        close(output[1]);
        close(errors[1]);
        output_ = output[0];
        errors_ = errors[0];
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (!ended_) {
            kill(id_, SIGKILL);
            wait_for_end();
        }
        close(output_);
        close(errors_);
    }

    /// Afterwards it waits until somebody reads.
    void wait_for_full_pipe() {
        const int capacity = fcntl(output_, F_GETPIPE_SZ);
        for (int waiting = 0; waiting < capacity; usleep(1000)) {
            ASSERT_FALSE(has_ended());
            ASSERT_EQ(ioctl(output_, FIONREAD, &waiting), 0);
        }
    }
    void interrupt() { kill(id_, SIGINT); }
    bool has_ended() {
        ended_ = ended_ || waitpid(id_, &status_, WNOHANG) == id_;
        return ended_;
    }
    std::string text() { return read_all(output_); }
    std::string errors() { return read_all(errors_); }
    int wait_for_end() {
        if (!ended_) waitpid(id_, &status_, 0);
        ended_ = true;
        return status_;
    }

private:
    static std::string read_all(int file) {
        std::string text;
        char buffer[4096];
        for (ssize_t count; (count = ::read(file, buffer, sizeof buffer)) > 0;)
            text.append(buffer, static_cast<size_t>(count));
        return text;
    }

    pid_t id_ = -1;
    int output_ = -1, errors_ = -1;
    int status_ = 0;
    bool ended_ = false;
};

class Interrupt : public ToyBench {
protected:
    static constexpr int64_t kTokens = 12000;

    void SetUp() override {
        toy_.context = 16384;
        ToyBench::SetUp();
    }
    std::vector<std::string> long_text() const {
        return {"tessera", "run", path("toy.tsr"), "-p", "cab", "-n", std::to_string(kTokens), "--verbose"};
    }
};

TEST_F(Interrupt, EndsTheTextWithStatistics) {
    Child child(long_text());
    child.wait_for_full_pipe();
    child.interrupt();
    const std::string text = child.text();
    const std::string errors = child.errors();
    const int status = child.wait_for_end();
    ASSERT_TRUE(WIFEXITED(status)) << errors;
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
    EXPECT_LT(text.size(), static_cast<size_t>(kTokens)) << "it did not go on to the end";
    EXPECT_EQ(text, letters(greedy({2, 0, 1}, text.size() - 1)) + "\n") << "what was there stays";
    EXPECT_THAT(errors, HasSubstr("stopped: interrupted\nprompt: 3 tokens in "));
    EXPECT_THAT(errors, HasSubstr("\ntext:   "));
}

TEST_F(Interrupt, EndsAnAnswerOfAChatAndNotTheChat) {
    toy_.tokenizer.push_back({"chat_template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}"});
    toy_.write(path("toy.tsr"));
    write("talk.txt", std::string("/stats\n/clear\ndad\n"));
    Child child(
        {"tessera", "chat", path("toy.tsr"), "-p", "cab", "-n", std::to_string(kTokens), "--temp", "0"},
        path("talk.txt"));
    child.wait_for_full_pipe();
    child.interrupt();
    const std::string text = child.text();
    const std::string errors = child.errors();
    const int status = child.wait_for_end();
    ASSERT_TRUE(WIFEXITED(status)) << errors;
    EXPECT_EQ(WEXITSTATUS(status), 0) << errors;
    const size_t first = text.find('\n');
    EXPECT_LT(first, static_cast<size_t>(kTokens)) << "it did not go on to the end";
    EXPECT_EQ(text, letters(greedy({2, 0, 1}, first)) + "\n" + letters(greedy({3, 0, 3}, kTokens)) + "\n");
    EXPECT_THAT(errors, HasSubstr("stopped: interrupted\nprompt: 3 tokens in "));
    EXPECT_THAT(errors, HasSubstr("the conversation begins anew\n"));
}

TEST_F(Interrupt, ASecondOneEndsTheProcess) {
    Child child(long_text());
    child.wait_for_full_pipe();
    // Without a reader it cannot end in order.
    while (!child.has_ended()) {
        child.interrupt();
        usleep(1000);
    }
    const int status = child.wait_for_end();
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGINT);
}

}  // namespace
}  // namespace tessera
