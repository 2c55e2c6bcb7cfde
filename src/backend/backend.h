#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/code.h"
#include "backend/exchanges.h"
#include "lowering/movement/program.h"

/// The border between programs and what runs them. A back end prints programs as text; the toolchain
/// (backend/toolchain.h) makes an object of the text; in it each program has two entries with the linkage of
/// C, entry_name(program) and the same with kTesseraMarkedSuffix behind it, which are called as
/// tessera/step.h says. Nothing else of a program reaches the run time.
namespace tessera::backend {

struct Backend {
    std::string_view name;     ///< as commands call it
    std::string_view summary;  ///< what it prints
    std::string_view suffix;   ///< of files with its text
    /// The text says the same whatever it is compiled for.
    /// @param model named in the first line, unless it is empty: equal programs then give equal text
    /// @param exchanges at the ends of kernels, by which the ranks of a program meet
    Code (*emit)(const std::string& model, const std::vector<movement::Program>& programs,
                 const Exchanges& exchanges);
};

/// The first one is the fastest, and the default.
std::span<const Backend> backends();
const Backend& default_backend();
/// "cpp or scalar-c".
std::string backend_names();
/// Null if there is none of this name.
const Backend* find_backend(std::string_view name);

std::string entry_name(const movement::Program& program);

}  // namespace tessera::backend
