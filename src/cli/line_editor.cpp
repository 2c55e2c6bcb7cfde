#include "cli/line_editor.h"

#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <string_view>

#include <histedit.h>
#include <unistd.h>

#include "support/error.h"

namespace tessera::cli {
namespace {

constexpr int kKeptLines = 1000;

// Terminals that know bracketed paste (xterm, 1999, and all since) put marks around a text that is pasted.
constexpr std::string_view kPasteOn = "\x1b[?2004h";
constexpr std::string_view kPasteOff = "\x1b[?2004l";
constexpr const char* kPasteBegins = "\\e[200~";
constexpr std::wstring_view kPasteEnds = L"\x1b[201~";

void write_error(std::string_view text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Takes a pasted text into the line as it is: its ends of lines end nothing.
unsigned char insert_pasted(EditLine* editor, int) {
    std::wstring text;
    wchar_t next = 0;
    while (!text.ends_with(kPasteEnds) && el_wgetc(editor, &next) == 1) text += next;
    if (text.ends_with(kPasteEnds)) text.resize(text.size() - kPasteEnds.size());
    std::replace(text.begin(), text.end(), L'\r', L'\n');
    if (!text.empty() && el_winsertstr(editor, text.c_str()) != 0) return CC_ERROR;
    return CC_REFRESH;
}

/// A signal that ends the program leaves the terminal as it was.
class PasteMode {
public:
    PasteMode() {
        struct sigaction action {};
        action.sa_handler = [](int signal) {
            write_error(kPasteOff);
            ::signal(signal, SIG_DFL);
            ::raise(signal);
        };
        for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
        write_error(kPasteOn);
    }
    ~PasteMode() {
        write_error(kPasteOff);
        for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
    }
    PasteMode(const PasteMode&) = delete;
    PasteMode& operator=(const PasteMode&) = delete;

private:
    static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    std::array<struct sigaction, kSignals.size()> before_{};
};

char* prompt_of(EditLine* editor) {
    void* prompt = nullptr;
    el_get(editor, EL_CLIENTDATA, &prompt);
    return static_cast<std::string*>(prompt)->data();
}

}  // namespace

struct LineEditor::State {
    EditLine* editor = nullptr;
    History* lines = nullptr;
    std::string prompt;
};

bool LineEditor::is_possible() {
    return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

LineEditor::LineEditor() : state_(std::make_unique<State>()) {
    // libedit reads characters of this locale, whatever the user's is; numbers stay as they are.
    std::setlocale(LC_CTYPE, "C.UTF-8");
    state_->editor = el_init("tessera", stdin, stderr, stderr);
    state_->lines = history_init();
    TESSERA_CHECK(state_->editor != nullptr && state_->lines != nullptr);
    HistEvent event;
    history(state_->lines, &event, H_SETSIZE, kKeptLines);
    history(state_->lines, &event, H_SETUNIQUE, 1);
    el_set(state_->editor, EL_HIST, history, state_->lines);
    el_set(state_->editor, EL_EDITOR, "emacs");
    // A tab is a character of the text: there is nothing to complete.
    el_set(state_->editor, EL_BIND, "\t", "ed-insert", nullptr);
    el_set(state_->editor, EL_ADDFN, "insert-pasted", "Insert a text that is pasted", insert_pasted);
    el_set(state_->editor, EL_BIND, kPasteBegins, "insert-pasted", nullptr);
    // Ctrl-C gives the terminal back before it ends the program.
    el_set(state_->editor, EL_SIGNAL, 1);
    el_set(state_->editor, EL_CLIENTDATA, &state_->prompt);
    el_set(state_->editor, EL_PROMPT, prompt_of);
}

LineEditor::~LineEditor() {
    history_end(state_->lines);
    el_end(state_->editor);
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
    state_->prompt = prompt;
    int length = 0;
    const PasteMode pastes;
    const char* text = el_gets(state_->editor, &length);
    if (text == nullptr || length <= 0) return std::nullopt;
    std::string line(text);
    if (line.find_first_not_of(" \t\r\n") != std::string::npos) {
        HistEvent event;
        history(state_->lines, &event, H_ENTER, line.c_str());
    }
    if (line.ends_with('\n')) line.pop_back();
    return line;
}

}  // namespace tessera::cli
