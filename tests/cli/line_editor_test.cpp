#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cli/toy_bench.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// Before an answer the terminal is asked to mark pastes no more, before the prompt to mark them.
const std::string kPlainPaste = "\n\x1b[?2004l";
constexpr const char* kEditorPrompt = "\x1b[?2004h> ";

/// `tessera chat toy.tsr -n 3` in a pseudo-terminal.
class TypedChat {
public:
    explicit TypedChat(const std::string& folder) {
        child_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
        if (child_ < 0) throw std::runtime_error("no pseudo-terminal");
        if (child_ > 0) return;
        ::setenv("TERM", "xterm", 1);
        ::setenv("XDG_CACHE_HOME", (folder + "/cache").c_str(), 1);
        if (::chdir(folder.c_str()) == 0)
            ::execl(TESSERA_PROGRAM, TESSERA_PROGRAM, "chat", "toy.tsr", "-n", "3", "--temp", "0", nullptr);
        std::_Exit(127);
    }
    ~TypedChat() {
        ::close(terminal_);
        if (child_ > 0) ::kill(child_, SIGKILL), ::waitpid(child_, nullptr, 0);
    }
    TypedChat(const TypedChat&) = delete;
    TypedChat& operator=(const TypedChat&) = delete;

    /// The text that it writes up to and with `end`, or until it ends.
    std::string read_to(const std::string& end) {
        std::string text;
        pollfd ready{terminal_, POLLIN, 0};
        char byte = 0;
        while (!text.ends_with(end) && ::poll(&ready, 1, 60'000) == 1 && ::read(terminal_, &byte, 1) == 1)
            text += byte;
        return text;
    }
    /// The text that follows these keys, up to the next prompt.
    std::string type(const std::string& keys, const std::string& end = kEditorPrompt) {
        expect_keys();
        if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
            throw std::runtime_error("the terminal takes no keys");
        return read_to(end);
    }
    /// -1 if it goes on.
    int status() {
        int status = -1;
        if (!holds_soon([&] { return ::waitpid(child_, &status, WNOHANG) != 0; })) return -1;
        child_ = -1;
        return status;
    }

private:
    /// libedit takes the terminal over behind its prompt; what comes before is a line of the terminal's own,
    /// with another Ctrl-D.
    void expect_keys() {
        const auto takes_keys = [&] {
            termios settings{};
            return ::tcgetattr(terminal_, &settings) == 0 && (settings.c_lflag & ICANON) == 0;
        };
        if (!holds_soon(takes_keys)) throw std::runtime_error("nobody waits for keys");
    }
    static bool holds_soon(const std::function<bool()>& holds) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

    int terminal_ = -1;
    pid_t child_ = -1;
};

class LineEditing : public ToyBench {
protected:
    void SetUp() override {
        ToyBench::SetUp();
        toy_.tokenizer.push_back(
            {"chat_template.jinja",
             "{% for m in messages %}{{ 'u' if m.role == 'user' else 'a' }}{{ m.content }}{% endfor %}a"});
        toy_.write(path("toy.tsr"));
    }
    std::string answer(const std::string& prompt) const {
        std::vector<int32_t> ids;
        for (const char letter : prompt) ids.push_back(letter - 'a');
        return letters(greedy(ids, 3));
    }
};

constexpr const char* kLeft = "\x1b[D";
constexpr const char* kUp = "\x1b[A";
constexpr const char* kControlC = "\x03";
constexpr const char* kControlD = "\x04";

TEST_F(LineEditing, ArrowsMoveAndBringBackEarlierLines) {
    TypedChat chat(folder_.path().string());
    chat.read_to("> ");
    const std::string first = answer("ucada"), second = answer("ucada" + first + "ucada");
    EXPECT_THAT(chat.type(std::string("cd") + kLeft + "a\r"), HasSubstr(kPlainPaste + first + "\r\n"));
    EXPECT_THAT(chat.type(std::string(kUp) + "\r"), HasSubstr(kPlainPaste + second + "\r\n"));
    chat.type(kControlD);
    EXPECT_EQ(chat.status(), 0);
}

TEST_F(LineEditing, ControlCEndsTheProgramAtThePrompt) {
    TypedChat chat(folder_.path().string());
    chat.read_to("> ");
    chat.type(std::string("cab") + kControlC);
    const int status = chat.status();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
}

TEST_F(LineEditing, TabsAndPastedLinesAreTold) {
    for (const auto& [keys, told] : std::vector<std::pair<std::string, std::string>>{
             {"a\tb\tc\r", "a\tb\tc"},
             {"\x1b[200~a\tb\rcd\r\r\u00e9\x1b[201~\r", "a\tb\ncd\n\n\u00e9"},
             {std::string("ac") + kLeft + "\x1b[200~b\nb\x1b[201~d\r", "ab\nbdc"},
             {"a\x1b[200~b\rc\x1b[201~\\\r"
              "d\r",
              "ab\nc\nd"}}) {
        TypedChat chat(folder_.path().string());
        chat.read_to("> ");
        if (keys.ends_with("\\\rd\r")) {
            chat.type(keys.substr(0, keys.size() - 2), ". ");
            chat.type("d\r");
        } else {
            chat.type(keys);
        }
        chat.type("/save talk.json\r");
        chat.type(kControlD);
        EXPECT_EQ(chat.status(), 0);
        std::ifstream file(path("talk.json"));
        const auto talk = nlohmann::json::parse(file);
        EXPECT_EQ(talk.at("messages").at(0).at("content").get<std::string>(), told);
    }
}

TEST_F(LineEditing, TheTerminalForgetsThePasteMode) {
    TypedChat chat(folder_.path().string());
    chat.read_to("> ");
    EXPECT_THAT(chat.type(std::string("ca") + kControlC), HasSubstr("\x1b[?2004l"));
}

}  // namespace
}  // namespace tessera
