#!/usr/bin/env bash
# CLI11 2.1.2. Situation: a flag is bound to a std::optional<bool>, so that "not given" is a third answer, as it is for an option that
# is bound to std::optional<int>. Guess: without the flag the optional is empty. Seen: it holds false, so that a program cannot tell
# "not given" from "switched off". The optional of an option stays empty. A function (add_flag_function) is called only for a flag that is
# given.
source "$(dirname "$0")/setup.sh"
(cd "$folder" && apt-get download -qq libcli11-dev=2.1.2+ds-1 && dpkg-deb -x libcli11-dev_*.deb cli11)
cat > "$folder/flags.cpp" <<'CPP'
#include <cstdio>
#include <optional>
#include <CLI/CLI.hpp>
int main(int argc, char** argv) {
    CLI::App app;
    std::optional<bool> flag, called;
    std::optional<int> option;
    app.add_flag("--flag", flag);
    app.add_flag_function("--called", [&](std::int64_t count) { called = count > 0; });
    app.add_option("--option", option);
    CLI11_PARSE(app, argc, argv);
    std::printf("flag %s, function %s, option %s\n", flag ? *flag ? "true" : "false" : "empty",
                called ? "called" : "empty", option ? "set" : "empty");
}
CPP
g++ -std=c++17 -I "$folder/cli11/usr/include" -o "$folder/flags" "$folder/flags.cpp"
seen=$("$folder/flags")
[[ $seen == "flag false, function empty, option empty" ]] || { echo "changed: $seen" >&2; exit 1; }
echo "$seen"
