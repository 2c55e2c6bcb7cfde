#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// A nest as it is written, before its names mean anything.
namespace tessera::nests {

/// The text is no nest. It does not leave parse_nest, which makes an Illegal of it.
struct BrokenForm : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct WrittenLoop {
    std::string iterator;
    int64_t size = 1;  ///< the largest int64 for what is larger
    bool is_unit = false;
};
struct WrittenBrace;
struct WrittenRun {
    std::string op;
};
struct WrittenLoad {
    std::string tensor;
};
using WrittenItem = std::variant<std::unique_ptr<WrittenBrace>, WrittenRun, WrittenLoad>;
struct WrittenBrace {
    std::vector<WrittenLoop> loops;
    std::vector<WrittenItem> items;
};

/// @throws BrokenForm; Error beyond the limits on its size, `where` names the source
WrittenBrace parse_written_nest(std::string_view text, const std::string& where);

}  // namespace tessera::nests
