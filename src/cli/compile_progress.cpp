#include "cli/compile_progress.h"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace tessera::cli {
namespace {

/// A step of several passes, by the first one. All passes before the second step are reading.
struct Step {
    std::string_view first_pass;
    std::string_view what;
};
constexpr std::array<Step, 4> kSteps = {{{"read-model", "reading the model"},
                                         {"decompose", "searching for a plan"},
                                         {"lower", "compiling C++"},
                                         {"pack-weights", "packing weights"}}};

}  // namespace

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
    // A pass that begins no step belongs to the present one. No pass leads back to an earlier step.
    for (size_t later = step_ + 1; later < kSteps.size(); ++later)
        if (kSteps[later].first_pass == pass) step_ = later;
    progress_.rename(
        fmt::format("{}, step {} of {}, {} ({})", task_, step_ + 1, kSteps.size(), kSteps[step_].what, pass));
}

}  // namespace tessera::cli
