#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace tessera {

/// A fresh folder for one test, gone with it.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = ::testing::TempDir() + "tessera-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder " << name;
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace tessera
