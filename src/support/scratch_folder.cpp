#include "support/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "support/error.h"
#include "support/left_over.h"

namespace tessera {
namespace {

constexpr std::string_view kRandom = "XXXXXX";

}  // namespace

ScratchFolder::ScratchFolder(const std::filesystem::path& parent, const std::string& kind) {
    const std::string start = kind + "-";
    remove_left_over(parent, std::filesystem::file_type::directory, [&](std::string_view name) {
        return name.starts_with(start) && name.size() == start.size() + kRandom.size();
    });
    for (;;) {
        std::string name = (parent / start).string();
        name += kRandom;
        if (::mkdtemp(name.data()) == nullptr)
            throw Error(parent.string(), "",
                        fmt::format("cannot create a folder here: {}", std::strerror(errno)));
        path_ = name;
        descriptor_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (descriptor_ < 0 ? errno != ENOENT : claim(descriptor_)) return;
        // Another process took the folder for a left-over one before it was locked.
        if (descriptor_ >= 0) ::close(descriptor_);
    }
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace tessera
