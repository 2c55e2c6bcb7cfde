#pragma once

#include <cstdlib>
#include <string>

#include "support/temporary_folder.h"

namespace tessera {

/// Puts the compiler that remembers what it has compiled, tests/compiler/c++, in front of PATH: for tests
/// that need the same code in many caches. With the presets of CTest it stands there for every test.
class RememberingCompiler {
public:
    RememberingCompiler() {
        setenv("PATH", (TESSERA_SOURCE_DIR "/tests/compiler:" + before_).c_str(), 1);
        setenv("TESSERA_TEST_CODE", folder_.path().c_str(), 0);
    }
    ~RememberingCompiler() { setenv("PATH", before_.c_str(), 1); }
    RememberingCompiler(const RememberingCompiler&) = delete;
    RememberingCompiler& operator=(const RememberingCompiler&) = delete;

private:
    TemporaryFolder folder_;
    std::string before_ = std::getenv("PATH");
};

}  // namespace tessera
