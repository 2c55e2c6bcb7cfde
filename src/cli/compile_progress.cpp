#include "cli/compile_progress.h"

#include <chrono>
#include <utility>

namespace tessera::cli {

CompileProgress::CompileProgress(std::FILE* terminal, std::string task)
    : task_(std::move(task)), progress_(terminal, task_) {
    if (terminal == nullptr) return;
    ticking_ = std::thread([this] {
        std::unique_lock lock(mutex_);
        while (!ended_.wait_for(lock, std::chrono::milliseconds(200), [this] { return has_ended_; }))
            progress_.update();
    });
}

CompileProgress::~CompileProgress() {
    if (!ticking_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
    }
    ended_.notify_one();
    ticking_.join();
}

void CompileProgress::begin(const std::string& pass) {
    const std::lock_guard lock(mutex_);
    progress_.rename(task_ + ", " + pass);
}

}  // namespace tessera::cli
