#pragma once

#include <utility>

#include "cli/environment.h"
#include "support/note.h"

namespace tessera::cli {

/// note of something that nobody needs who reads the results by a program: said where somebody watches, at a
/// terminal, or where it was asked for.
class Remarks {
public:
    Remarks(const Environment& environment, bool is_verbose)
        : are_wanted_(is_verbose || environment.terminal != nullptr) {}

    static Remarks all() { return Remarks(true); }

    template <typename... Arguments>
    void operator()(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
        if (are_wanted_) note(format, std::forward<Arguments>(arguments)...);
    }

private:
    explicit Remarks(bool are_wanted) : are_wanted_(are_wanted) {}

    bool are_wanted_;
};

}  // namespace tessera::cli
