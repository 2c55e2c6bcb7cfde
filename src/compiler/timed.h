#pragma once

#include <chrono>
#include <string>

#include "compiler/compiler.h"

namespace tessera::compiler {

/// Announces a step, runs it, and enters its time into the report.
template <typename Run>
auto timed(const std::string& name, const CompileOptions& options, CompileReport& report, Run&& run) {
    if (options.on_pass) options.on_pass(name);
    const auto begin = std::chrono::steady_clock::now();
    auto result = run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    report.passes.push_back({name, seconds.count(), {}});
    return result;
}

}  // namespace tessera::compiler
