#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace tessera {

/// One line on a terminal for work that takes over a second, "compiling C++: 12 of 28, 3 s", rewritten in
/// place and gone when the work ends. Silent without a terminal, and for whatever ends within a second.
class Progress {
public:
    /// @param terminal  where the line goes; null keeps it silent
    /// @param total     steps of the whole work; 0 where they are not known
    Progress(std::FILE* terminal, std::string task, int64_t total = 0);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Cheap enough for an inner loop of milliseconds: the line is rewritten at most ten times a second.
    void update(int64_t done = 0);
    /// The time goes on.
    void rename(std::string task) { task_ = std::move(task); }

private:
    using Clock = std::chrono::steady_clock;

    std::FILE* terminal_;
    std::string task_;
    int64_t total_;
    Clock::time_point start_;
    Clock::time_point next_;
    bool is_shown_ = false;
};

/// The line of `Progress`, without its control characters.
std::string progress_line(const std::string& task, int64_t done, int64_t total, int64_t elapsed_seconds);

}  // namespace tessera
