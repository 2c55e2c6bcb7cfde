// Runs a fuzz target without libFuzzer, the same way every time:
//
//     PARSER_fuzz [--iterations N] [--seed S] FILE-OR-FOLDER...
//
// First every file and every seed as it is, then N mutations of them. A run fails where the target lets
// anything but an answer escape (with the sanitizers: where they complain), or allocates more than twice the
// input and 64 MiB. The input that did it is written to `PARSER_fuzz.failed`, which is an argument for the
// next run.

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "fuzz/allocation.h"
#include "fuzz/mutate.h"
#include "fuzz/target.h"

extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFixedBytes = size_t{64} << 20;
constexpr size_t kLongest = size_t{1} << 20;

// The input of the current run, for a handler of signals.
const std::string* current = nullptr;
std::string failed_path;

void keep_input() {
    if (current == nullptr) return;
    const int file = ::open(failed_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) return;
    const ssize_t written = ::write(file, current->data(), current->size());
    ::close(file);
    std::fprintf(stderr, "the input, %zd bytes, is in %s\n", written, failed_path.c_str());
    current = nullptr;
}

void on_signal(int number) {
    std::fprintf(stderr, "signal %d\n", number);
    keep_input();
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void on_exceeded(size_t wanted) {
    std::fprintf(stderr, "allocates %zu bytes for an input of %zu\n", wanted, current->size());
    std::abort();
}

/// A stack that has run over leaves no room for the handler.
void handle_signals() {
    static char other_stack[1 << 16];
    const stack_t stack{.ss_sp = other_stack, .ss_flags = 0, .ss_size = sizeof other_stack};
    ::sigaltstack(&stack, nullptr);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        // The sanitizers have handlers of their own, which say more, and call us.
        if (__sanitizer_set_death_callback != nullptr && number != SIGABRT) continue;
        struct sigaction action {};
        action.sa_handler = on_signal;
        action.sa_flags = SA_ONSTACK;
        ::sigaction(number, &action, nullptr);
    }
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_input);
}

size_t run(const std::string& input) {
    current = &input;
    AllocationLimit::set(2 * input.size() + kFixedBytes, on_exceeded);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    AllocationLimit::clear();
    current = nullptr;
    return AllocationLimit::peak();
}

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void add_files(const fs::path& path, std::vector<std::string>& inputs) {
    if (!fs::is_directory(path)) return inputs.push_back(read(path));
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) inputs.push_back(read(file));
}

uint64_t number(const char* text) {
    uint64_t value = 0;
    const char* end = text + std::strlen(text);
    if (std::from_chars(text, end, value).ptr == end) return value;
    std::fprintf(stderr, "%s is no number\n", text);
    std::exit(2);
}

int main(int argc, char** argv) {
    failed_path = fs::path(argv[0]).filename().string() + ".failed";
    uint64_t iterations = 1000;
    Random random(1);
    std::vector<std::string> inputs = seeds();
    for (int i = 1; i < argc; ++i) {
        if (argv[i] == std::string_view("--iterations") && i + 1 < argc)
            iterations = number(argv[++i]);
        else if (argv[i] == std::string_view("--seed") && i + 1 < argc)
            random.seed(number(argv[++i]));
        else if (fs::exists(argv[i]))
            add_files(argv[i], inputs);
        else
            return std::fprintf(stderr, "%s is neither a file nor a folder\n", argv[i]), 2;
    }
    if (inputs.empty()) return std::fprintf(stderr, "there are no inputs\n"), 2;

    handle_signals();
    size_t most = 0;
    for (const std::string& input : inputs) most = std::max(most, run(input));
    for (uint64_t i = 0; i < iterations; ++i)
        most = std::max(most, run(mutate(inputs[random() % inputs.size()], inputs, kLongest, random)));
    std::printf("%zu inputs, %llu mutations; the most that one allocated is %zu bytes\n", inputs.size(),
                static_cast<unsigned long long>(iterations), most);
    return 0;
}

}  // namespace
}  // namespace tessera::fuzz

int main(int argc, char** argv) {
    return tessera::fuzz::main(argc, argv);
}
