#pragma once

#include <filesystem>
#include <string>
#include <string_view>

/// Input, output and errors as the shell has left them: closed, full, or a pipe that nobody reads.
namespace tessera::cli {

/// Puts /dev/null in the place of a closed stream; otherwise the next opened file would take its number and
/// receive the output. Reading from such an input and writing to such an output still fail. After this a pipe
/// that nobody reads, and a file that is larger than `ulimit -f` allows, are errors of writing, no signals.
void prepare_standard_streams();

/// Writes text to the standard output that is to be seen at once. @throws Error where that fails
void show(std::string_view text);

/// Flushes the buffer. False where that, or anything printed before, could not be written.
bool flush_standard_output();

/// All of the standard input. @throws Error if it cannot be read
std::string read_standard_input();
/// The text of a file; `-` is the standard input. @throws Error likewise
std::string read_text_input(const std::filesystem::path& file);

}  // namespace tessera::cli
