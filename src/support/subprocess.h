#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct Process {
    std::filesystem::path program;       ///< no search: see find_program
    std::vector<std::string> arguments;  ///< handed over as they are: no shell, no quoting
    size_t output_limit = 1 << 20;       ///< bytes kept of each stream; the rest is read and dropped
    /// Called about ten times a second, for progress. It may throw, which ends the program.
    std::function<void()> while_waiting = {};
};

struct ProcessResult {
    int exit_code = 0;  ///< 128 + the signal where one ended the process, as in a shell
    std::string output;
    std::string errors;
    double cpu_seconds = 0;  ///< user and system time of the process and of the children that it waited for
    bool operator==(const ProcessResult&) const = default;
};

/// Runs the program to its end with an empty standard input.
/// @throws Error where it cannot be started. An exit code other than zero is a result.
ProcessResult run_process(const Process&);

/// Runs them side by side, as many at once as there are processors; results in their order. `while_waiting`
/// is called by the calling thread alone, about ten times a second, and may throw, which ends all of them;
/// theirs are not called.
/// @throws Error where one cannot be started, once the others have ended
std::vector<ProcessResult> run_processes(const std::vector<Process>& processes,
                                         const std::function<void()>& while_waiting = {});

/// The executable that a shell would run for `name`: a path is taken as it is where it contains a slash,
/// otherwise the first match in `search_path` (folders between colons, as in PATH).
std::optional<std::filesystem::path> find_program(std::string_view name, std::string_view search_path);

}  // namespace tessera
