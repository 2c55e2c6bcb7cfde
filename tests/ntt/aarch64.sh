#!/bin/sh
# Builds the NTT tests for AArch64 and runs them under qemu. Needs g++-aarch64-linux-gnu, qemu-user and the sources of
# GoogleTest (packages of Debian 12). Usage: tests/ntt/aarch64.sh [BUILD_DIR]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$(mktemp -d)}
gtest=/usr/src/googletest/googletest
compile="aarch64-linux-gnu-g++ -std=c++20 -O1"

mkdir -p "$build"
$compile -I"$gtest" -I"$gtest/include" -c "$gtest/src/gtest-all.cc" -o "$build/gtest-all.o"
for source in "$here"/main.cpp "$here"/*_test.cpp; do
    $compile -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$gtest/include" -I"$here/../../include" -I"$here/.." \
        -c "$source" -o "$build/$(basename "$source" .cpp).o"
done
aarch64-linux-gnu-g++ -static "$build"/*.o -o "$build/ntt_aarch64_tests" -lpthread
qemu-aarch64 "$build/ntt_aarch64_tests"
