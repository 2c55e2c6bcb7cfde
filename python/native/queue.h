#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include "native/convert.h"

namespace tessera::python {

/// A text on its way from a thread of the library to one of Python. The former never waits for the GIL.
class TextQueue {
public:
    void push(std::string piece);
    void finish(Generation result);
    void fail(std::exception_ptr fault);

    /// The next piece; nothing at the end of the text. Takes and gives back the GIL.
    /// @throws what the text ended with, or what a handler of a signal has raised
    std::optional<std::string> next();
    /// Waits for the end of the text. @throws as next
    Generation result();
    bool is_done() const;

private:
    /// Waits until there is a piece or the end. @throws what a handler of a signal has raised
    void wait(bool for_end);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> pieces_;
    std::optional<Generation> result_;
    std::exception_ptr fault_;
};

}  // namespace tessera::python
