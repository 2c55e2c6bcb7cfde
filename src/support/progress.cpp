#include "support/progress.h"

#include <utility>

#include <fmt/core.h>

#include "support/printable.h"

namespace tessera {
namespace {

constexpr std::chrono::seconds kSilence{1};
constexpr std::chrono::milliseconds kInterval{100};

// ECMA-48: carriage return, then erase to the end of the line.
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::FILE* terminal, std::string task, int64_t total)
    : terminal_(terminal),
      task_(std::move(task)),
      total_(total),
      start_(Clock::now()),
      next_(start_ + kSilence) {}

Progress::~Progress() {
    if (!is_shown_) return;
    std::fputs(kClearLine, terminal_);
    std::fflush(terminal_);
}

void Progress::update(int64_t done) {
    if (terminal_ == nullptr) return;
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + kInterval;
    is_shown_ = true;
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
    std::fputs((kClearLine + printable(progress_line(task_, done, total_, elapsed))).c_str(), terminal_);
    std::fflush(terminal_);
}

std::string progress_line(const std::string& task, int64_t done, int64_t total, int64_t elapsed_seconds) {
    if (total > 0) return fmt::format("{}: {} of {}, {} s", task, done, total, elapsed_seconds);
    if (done > 0) return fmt::format("{}: {}, {} s", task, done, elapsed_seconds);
    return fmt::format("{}: {} s", task, elapsed_seconds);
}

}  // namespace tessera
