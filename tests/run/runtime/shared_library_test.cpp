// Code that is loaded from memory.

#include "run/runtime/shared_library.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "backend/toolchain.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::runtime {
namespace {

class SharedLibraries : public ::testing::Test {
protected:
    /// A library whose function `answer` gives the number.
    std::string answering(int number) const {
        const char* search_path = std::getenv("PATH");
        return backend::compile_shared_object(
                   {fmt::format("extern \"C\" int answer() {{ return {}; }}\n", number)},
                   {.compiler = {},
                    .isa = machine::kHostIsa,
                    .include_directory = TESSERA_SOURCE_DIR "/include",
                    .cache_directory = folder_.path(),
                    .search_path = search_path ? search_path : ""})
            .bytes;
    }

    TemporaryFolder folder_;
};

TEST_F(SharedLibraries, EachHasItsOwnCode) {
    const SharedLibrary first(answering(1), "first"), second(answering(2), "second");
    EXPECT_EQ(first.function<int (*)()>("answer")(), 1);
    EXPECT_EQ(second.function<int (*)()>("answer")(), 2);
}

TEST_F(SharedLibraries, WhatIsNoLibraryIsRefused) {
    EXPECT_THROW(SharedLibrary("no library", "nonsense"), Error);
}

}  // namespace
}  // namespace tessera::runtime
