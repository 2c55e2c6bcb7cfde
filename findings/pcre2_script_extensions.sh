#!/usr/bin/env bash
# PCRE2 10.42. Situation: a pattern with \p{Han}, written for Oniguruma, Perl before 5.26 or ICU's \p{script=Han}. Guess: it matches the characters
# whose script is Han. Seen: since 10.40 it matches all whose script extensions have Han, which are shared with other scripts, such as the
# ideographic comma; \p{sc:Han} is the script alone. Not everything that is shared is that of several: a space stays outside of all.
source "$(dirname "$0")/setup.sh"
(cd "$folder" && apt-get download -qq libpcre2-dev=10.42-1 && dpkg-deb -x libpcre2-dev_*.deb pcre2)
cat > "$folder/match.cpp" <<'CPP'
#define PCRE2_CODE_UNIT_WIDTH 8
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <pcre2.h>
int main() {
    for (const char* pattern : {"\\p{Han}", "\\p{sc:Han}", "\\p{scx:Han}"}) {
        int error = 0;
        PCRE2_SIZE offset = 0;
        auto* code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
        auto* data = pcre2_match_data_create_from_pattern(code, nullptr);
        std::printf("%s", pattern);
        for (const char* text : {"\u6f22", "\u3001", " "})
            std::printf(" %d", pcre2_match(code, (PCRE2_SPTR)text, std::strlen(text), 0, 0, data, nullptr) > 0);
        std::printf("\n");
    }
}
CPP
g++ -std=c++17 -I "$folder/pcre2/usr/include" -o "$folder/match" "$folder/match.cpp" "$folder"/pcre2/usr/lib/*/libpcre2-8.a
seen=$("$folder/match")
[[ $seen == $'\\p{Han} 1 1 0\n\\p{sc:Han} 1 0 0\n\\p{scx:Han} 1 1 0' ]] || { echo "changed: $seen" >&2; exit 1; }
echo "$seen"
