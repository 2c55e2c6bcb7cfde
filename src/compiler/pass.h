#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "compiler/compiler.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/output_place.h"

namespace tessera::compiler {

/// Runs passes one after the other: names, times and dumps each. `DIR/03-decompose.ir` is the printed form
/// after a pass, or the word "unchanged" if it is that of the pass before.
class PassRunner {
public:
    PassRunner(const CompileOptions& options, CompileReport& report) : options_(options), report_(report) {}

    /// `make()` is the pass, `print(result)` its printed form, `extension` that of the dump.
    template <typename Make, typename Print>
    auto run(const std::string& name, const std::string& extension, Make&& make, Print&& print) {
        if (options_.on_pass) options_.on_pass(name);
        const auto begin = std::chrono::steady_clock::now();
        auto result = std::forward<Make>(make)();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        report_.passes.push_back({name, seconds.count(), {}});
        if (options_.dump) dump(name, extension, print(result));
        return result;
    }

    /// A search's account of itself, for the pass that ran last: a few words for the report, and the full
    /// text for `DIR/04-rewrite.txt`.
    void note(const std::string& summary, const std::string& text) {
        report_.passes.back().note = summary;
        if (options_.dump) write_file(path_of(report_.passes.back().name, "txt"), text);
    }

    /// For the pass that ran last: what a budget has cut short, if it has. No warning if no search was asked
    /// for. @return the warning, if there is one
    std::vector<std::string> note_cut(const std::string& what) {
        if (what.empty() || options_.search_effort == 0) return {};
        std::string warning = fmt::format("{}: {}; --search-effort {} looks further",
                                          report_.passes.back().name, what, 2 * options_.search_effort);
        if (std::ranges::find(report_.warnings, warning) == report_.warnings.end())
            report_.warnings.push_back(warning);
        return {std::move(warning)};
    }

private:
    std::filesystem::path path_of(const std::string& name, const std::string& extension) const {
        return *options_.dump / fmt::format("{:02}-{}.{}", report_.passes.size(), name, extension);
    }
    void dump(const std::string& name, const std::string& extension, std::string text) {
        const auto path = path_of(name, extension);
        const bool is_unchanged = text == before_;
        create_folders(*options_.dump);
        write_file(path, is_unchanged ? "unchanged\n" : text);
        before_ = std::move(text);
    }

    const CompileOptions& options_;
    CompileReport& report_;
    std::string before_;
};

}  // namespace tessera::compiler
