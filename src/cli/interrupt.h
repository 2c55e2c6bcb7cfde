#pragma once

#include <csignal>

namespace tessera::cli {

/// The exit code that a shell reports for a program that was interrupted.
inline constexpr int kInterruptedExitCode = 128 + SIGINT;

/// While it lives, the first SIGINT (Ctrl-C) is only remembered, so that a job can end in order; a second one
/// ends the process at once. A SIGINT that the caller has ignored stays ignored. One at a time.
class InterruptWatch {
public:
    InterruptWatch();
    ~InterruptWatch();
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

    bool interrupted() const;

private:
    struct sigaction before_ {};
};

}  // namespace tessera::cli
