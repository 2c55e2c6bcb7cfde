#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/verb.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/atomic_file.h"

namespace tessera::cli {
namespace {

int describe(const std::string& out) {
    const std::string text = "# Written by `tessera machine`; rates are absent until they are measured.\n" +
                             print_machine(probe_host());
    if (out.empty()) {
        fmt::print("{}", text);
    } else {
        write_file(out, text);
    }
    return 0;
}

}  // namespace

Verb machine_verb() {
    return {.name = "machine",
            .help = "describe this machine: cores, memory, compute units, compiler flags",
            .examples = {"tessera machine", "tessera machine --out host.toml"},
            .declare = [](CLI::App& app, const Environment&) -> Job {
                const auto out = std::make_shared<std::string>();
                app.add_option("-o,--out", *out, "write the description to this file instead of stdout")
                    ->type_name("FILE");
                return [out] { return describe(*out); };
            }};
}

}  // namespace tessera::cli
