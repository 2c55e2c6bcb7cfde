#include "support/subprocess.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/error.h"

extern char** environ;

namespace tessera {
namespace {

constexpr int kTickMilliseconds = 100;

class Descriptor {
public:
    Descriptor() = default;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { reset(); }

    int get() const { return value_; }
    bool is_open() const { return value_ >= 0; }
    void reset(int value = -1) {
        if (value_ >= 0) close(value_);
        value_ = value;
    }

private:
    int value_ = -1;
};

struct Pipe {
    Descriptor read_end;
    Descriptor write_end;

    Pipe() {
        std::array<int, 2> ends{};
        // Close-on-exec: a child that another thread starts now must not hold our pipe open.
        if (pipe2(ends.data(), O_CLOEXEC) != 0)
            throw Error("", "", fmt::format("no pipe: {}", std::strerror(errno)));
        read_end.reset(ends[0]);
        write_end.reset(ends[1]);
    }
};

struct FileActions {
    posix_spawn_file_actions_t value;
    FileActions() { posix_spawn_file_actions_init(&value); }
    ~FileActions() { posix_spawn_file_actions_destroy(&value); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
};

struct Attributes {
    posix_spawnattr_t value;
    Attributes() { posix_spawnattr_init(&value); }
    ~Attributes() { posix_spawnattr_destroy(&value); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
};

pid_t start(const Process& process, const Pipe& output, const Pipe& errors) {
    FileActions actions;
    posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions.value, output.write_end.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions.value, errors.write_end.get(), STDERR_FILENO);

    std::string program = process.program.string();
    std::vector<std::string> arguments = process.arguments;
    std::vector<char*> argv = {program.data()};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);

    // A signal that this process ignores stays ignored in its children.
    Attributes attributes;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes.value, &signals);
    posix_spawnattr_setflags(&attributes.value, POSIX_SPAWN_SETSIGDEF);

    pid_t child = 0;
    const int error =
        posix_spawn(&child, program.c_str(), &actions.value, &attributes.value, argv.data(), environ);
    if (error != 0) throw Error(program, "", fmt::format("cannot run the program: {}", std::strerror(error)));
    return child;
}

/// Takes the available bytes; closes `source` at its end.
void drain(Descriptor& source, std::string& kept, size_t limit) {
    std::array<char, 65536> buffer;
    const ssize_t count = read(source.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return source.reset();
    kept.append(buffer.data(), std::min(static_cast<size_t>(count), limit - std::min(limit, kept.size())));
}

void collect(const Process& process, Descriptor& output, Descriptor& errors, ProcessResult& result) {
    while (output.is_open() || errors.is_open()) {
        // poll ignores an entry whose descriptor is negative: a stream that has ended.
        std::array<pollfd, 2> streams = {pollfd{output.get(), POLLIN, 0}, pollfd{errors.get(), POLLIN, 0}};
        const int ready =
            poll(streams.data(), streams.size(), process.while_waiting ? kTickMilliseconds : -1);
        if (process.while_waiting) process.while_waiting();
        if (ready <= 0) continue;
        if (streams[0].revents != 0) drain(output, result.output, process.output_limit);
        if (streams[1].revents != 0) drain(errors, result.errors, process.output_limit);
    }
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void wait_for(pid_t child, ProcessResult& result) {
    int status = 0;
    rusage usage{};
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

ProcessResult run_process(const Process& process) {
    Pipe output;
    Pipe errors;
    const pid_t child = start(process, output, errors);
    output.write_end.reset();
    errors.write_end.reset();
    ProcessResult result;
    try {
        collect(process, output.read_end, errors.read_end, result);
    } catch (...) {
        kill(child, SIGTERM);
        wait_for(child, result);
        throw;
    }
    wait_for(child, result);
    return result;
}

std::vector<ProcessResult> run_processes(const std::vector<Process>& processes,
                                         const std::function<void()>& while_waiting) {
    std::vector<ProcessResult> results(processes.size());
    std::atomic<size_t> next = 0;
    std::atomic<bool> is_ended = false;
    struct Ended {};
    const auto run_next_ones = [&] {
        for (size_t i = next++; i < processes.size() && !is_ended; i = next++) {
            Process process = processes[i];
            process.while_waiting = [&is_ended] {
                if (is_ended) throw Ended();
            };
            try {
                results[i] = run_process(process);
            } catch (const Ended&) {
                return;
            } catch (...) {
                is_ended = true;
                throw;
            }
        }
    };
    std::vector<std::future<void>> runners;
    const size_t at_once =
        std::min<size_t>(processes.size(), std::max(1U, std::thread::hardware_concurrency()));
    for (size_t i = 0; i < at_once; ++i) runners.push_back(std::async(std::launch::async, run_next_ones));
    try {
        for (const std::future<void>& runner : runners)
            while (runner.wait_for(std::chrono::milliseconds(kTickMilliseconds)) != std::future_status::ready)
                if (while_waiting) while_waiting();
    } catch (...) {
        is_ended = true;
        throw;  // the futures wait for the runners
    }
    for (std::future<void>& runner : runners) runner.get();
    return results;
}

std::optional<std::filesystem::path> find_program(std::string_view name, std::string_view search_path) {
    const auto is_executable = [](const std::filesystem::path& path) {
        std::error_code error;
        return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
    };
    if (name.empty()) return std::nullopt;
    if (name.find('/') != std::string_view::npos)
        return is_executable(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
    while (!search_path.empty()) {
        const size_t colon = std::min(search_path.find(':'), search_path.size());
        const std::filesystem::path folder = search_path.substr(0, colon);
        search_path.remove_prefix(std::min(colon + 1, search_path.size()));
        if (!folder.empty() && is_executable(folder / name)) return folder / name;
    }
    return std::nullopt;
}

}  // namespace tessera
