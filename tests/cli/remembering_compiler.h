#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_folder.h"

namespace tessera {

/// Puts a C++ compiler in front of PATH that remembers what it has compiled: for tests that need the same
/// code in many caches.
class RememberingCompiler {
public:
    RememberingCompiler() {
        const std::filesystem::path program = folder_.path() / "c++";
        std::ofstream(program) << R"(#!/bin/sh
PATH=${PATH#*:}
case "$*" in *--version*) exec c++ --version;; esac
out=
previous=
for word; do [ "$previous" = -o ] && out=$word; previous=$word; done
key=$(for word; do
    if [ "$word" != "$out" ] && [ -f "$word" ]; then cat "$word"; else echo "${word##*/}"; fi
done | md5sum)
kept=$(dirname "$0")/${key%% *}
[ -e "$kept" ] || { c++ "$@" && cp "$out" "$kept"; } || exit 1
cp "$kept" "$out"
)";
        std::filesystem::permissions(program, std::filesystem::perms(0700));
        setenv("PATH", (folder_.path().string() + ":" + before_).c_str(), 1);
    }
    ~RememberingCompiler() { setenv("PATH", before_.c_str(), 1); }
    RememberingCompiler(const RememberingCompiler&) = delete;
    RememberingCompiler& operator=(const RememberingCompiler&) = delete;

private:
    TemporaryFolder folder_;
    std::string before_ = std::getenv("PATH");
};

}  // namespace tessera
