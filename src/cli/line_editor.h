#pragma once

#include <memory>
#include <optional>
#include <string>

namespace tessera::cli {

/// Lines that a person types at a terminal. They can be edited, and the arrow keys bring back earlier ones.
/// Prompts go to the standard error, as all remarks.
class LineEditor {
public:
    /// True if standard input and error are a terminal.
    static bool is_possible();

    LineEditor();
    ~LineEditor();
    LineEditor(const LineEditor&) = delete;
    LineEditor& operator=(const LineEditor&) = delete;

    /// One line without its end; nothing at the end of the input (Ctrl-D). A text that was pasted is a part
    /// of the line, with tabs and ends of lines.
    std::optional<std::string> read(const std::string& prompt);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tessera::cli
