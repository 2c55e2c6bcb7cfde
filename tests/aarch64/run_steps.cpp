// Runs the recorded steps of a session (tests/acceptance/aarch64_test.cpp) on the code of an artefact. It is
// cross-compiled and runs under qemu, so it needs nothing but the C++ library.
//
// Usage: run_steps CODE.so CONSTANTS RECORDING OUTPUTS ENTRY...
//
// A recording is a row of int64: symbols, inputs and outputs of a step (their numbers), bytes of the arena,
// number of states, bytes of each; then for each step the number of its entry, the values of the symbols, the
// bytes of each input followed by the input itself, and the bytes of each output. The outputs of all steps
// are written one after the other.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "tessera/step.h"

namespace {

[[noreturn]] void fail(const std::string& problem) {
    std::fprintf(stderr, "run_steps: %s\n", problem.c_str());
    std::exit(1);
}

std::string read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(std::string("cannot read ") + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Zeroed, aligned as the run time aligns it.
unsigned char* allocate(int64_t bytes) {
    const size_t size = (static_cast<size_t>(bytes) / 4096 + 1) * 4096;
    void* memory = std::aligned_alloc(4096, size);
    if (memory == nullptr) fail("out of memory");
    return static_cast<unsigned char*>(std::memset(memory, 0, size));
}

class Recording {
public:
    explicit Recording(std::string bytes) : bytes_(std::move(bytes)) {}
    bool at_end() const { return at_ == bytes_.size(); }
    int64_t number() {
        int64_t value = 0;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    const char* take(size_t count) {
        if (count > bytes_.size() - at_) fail("the recording is truncated");
        at_ += count;
        return bytes_.data() + at_ - count;
    }

private:
    std::string bytes_;
    size_t at_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 6) fail("usage: run_steps CODE.so CONSTANTS RECORDING OUTPUTS ENTRY...");
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) fail(dlerror());
    std::vector<TesseraStepFunction> entries;
    for (int i = 5; i < argc; ++i) {
        void* entry = dlsym(library, argv[i]);
        if (entry == nullptr) fail(dlerror());
        entries.push_back(reinterpret_cast<TesseraStepFunction>(entry));
    }
    const std::string constants_file = read(argv[2]);
    unsigned char* constants = allocate(static_cast<int64_t>(constants_file.size()));
    std::memcpy(constants, constants_file.data(), constants_file.size());

    Recording recording(read(argv[3]));
    std::vector<int64_t> symbols(static_cast<size_t>(recording.number()));
    std::vector<unsigned char*> inputs(static_cast<size_t>(recording.number()));
    std::vector<unsigned char*> outputs(static_cast<size_t>(recording.number()));
    unsigned char* arena = allocate(recording.number());
    std::vector<unsigned char*> states(static_cast<size_t>(recording.number()));
    for (unsigned char*& state : states) state = allocate(recording.number());

    std::ofstream file(argv[4], std::ios::binary);
    while (!recording.at_end()) {
        const auto entry = static_cast<size_t>(recording.number());
        if (entry >= entries.size()) fail("the recording names an entry that was not given");
        for (int64_t& symbol : symbols) symbol = recording.number();
        for (unsigned char*& input : inputs) {
            const int64_t bytes = recording.number();
            input = allocate(bytes);
            std::memcpy(input, recording.take(static_cast<size_t>(bytes)), static_cast<size_t>(bytes));
        }
        std::vector<int64_t> output_bytes;
        for (unsigned char*& output : outputs) {
            output_bytes.push_back(recording.number());
            output = allocate(output_bytes.back());
        }
        const std::vector<const void*> read_only(inputs.begin(), inputs.end());
        const std::vector<void*> written(outputs.begin(), outputs.end());
        const TesseraStep step{.symbols = symbols.data(),
                               .inputs = read_only.data(),
                               .outputs = written.data(),
                               .constants = constants,
                               .states = states.data(),
                               .arena = arena,
                               .worker = 0,
                               .meet = nullptr,
                               .team = nullptr};
        entries[entry](&step);
        for (size_t i = 0; i < outputs.size(); ++i) {
            file.write(reinterpret_cast<const char*>(outputs[i]),
                       static_cast<std::streamsize>(output_bytes[i]));
            std::free(outputs[i]);
        }
        for (unsigned char* input : inputs) std::free(input);
    }
    if (!file.flush()) fail("cannot write the outputs");
}
