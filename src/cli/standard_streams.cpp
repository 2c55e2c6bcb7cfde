#include "cli/standard_streams.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::cli {

void prepare_standard_streams() {
    // In the order of their numbers, since the lowest free one is given. Errors are lost, the others fail.
    constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF && ::open("/dev/null", kModes[stream]) != stream)
            std::_Exit(1);  // nothing can be said
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void show(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0)
        throw Error("", "", fmt::format("cannot write to the standard output: {}", std::strerror(errno)));
}

bool flush_standard_output() {
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

std::string read_standard_input() {
    std::string text;
    char buffer[64 * 1024];
    for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) text.append(buffer, count);
    if (std::ferror(stdin) != 0)
        throw Error("standard input", "", fmt::format("cannot be read: {}", std::strerror(errno)));
    return text;
}

std::string read_text_input(const std::filesystem::path& file) {
    return file == "-" ? read_standard_input() : std::string(MappedFile::open(file).text());
}

}  // namespace tessera::cli
