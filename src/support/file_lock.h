#pragma once

#include <filesystem>
#include <functional>

namespace tessera {

/// A lock that one process has at a time. The system releases it however the process ends; the file stays.
class FileLock {
public:
    /// Waits for the lock, after `on_wait` if another process has it. On a file system without locks, or if
    /// the file cannot be made, there is no lock and no waiting.
    FileLock(const std::filesystem::path& file, const std::function<void()>& on_wait);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

private:
    int descriptor_;
};

}  // namespace tessera
