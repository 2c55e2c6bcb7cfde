#include "cli/line_editor.h"

#include <clocale>
#include <cstdio>

#include <histedit.h>
#include <unistd.h>

#include "support/error.h"

namespace tessera::cli {
namespace {

constexpr int kKeptLines = 1000;

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
