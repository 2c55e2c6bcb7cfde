#pragma once

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "support/progress.h"

namespace tessera::cli {

/// A line on the terminal that says what is compiled, which step of the work is done, and for how
/// long: "compiling toy.gguf, step 2 of 4, searching for a plan (layouts): 12 s". A thread keeps it up to
/// date, since some passes take half a minute and report nothing.
class CompileProgress {
public:
    /// @param terminal null: nothing is shown
    CompileProgress(std::FILE* terminal, std::string task);
    ~CompileProgress();
    CompileProgress(const CompileProgress&) = delete;
    CompileProgress& operator=(const CompileProgress&) = delete;

    void begin(const std::string& pass);

private:
    const std::string task_;
    Progress progress_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool has_ended_ = false;
    size_t step_ = 0;
    std::thread ticking_;
};

}  // namespace tessera::cli
