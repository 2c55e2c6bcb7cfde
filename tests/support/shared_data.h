#pragma once

#include <filesystem>

#include <gtest/gtest.h>

namespace tessera::test {

/// A file or folder of `shared/`, which may lie beside the checkout: checkpoints, instances and oracles that
/// the tests use where they are.
inline std::filesystem::path shared_data(const std::filesystem::path& name) {
    return std::filesystem::path(TESSERA_SOURCE_DIR).parent_path() / "shared" / name;
}

}  // namespace tessera::test

/// Skips the test where `shared/name` is missing. `what` is not checked then, which scripts/test.sh prints.
#define TESSERA_SKIP_WITHOUT_SHARED(name, what)                       \
    if (!std::filesystem::exists(::tessera::test::shared_data(name))) \
    GTEST_SKIP() << "not checked: " << (what) << "; ../shared/" << (name) << " is missing"
