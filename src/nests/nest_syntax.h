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

/// A placement of a tensor by an item of a nest.
enum class MoveKind : uint8_t {
    kLoad,   ///< fills a buffer of a level with what is read inside
    kStore,  ///< a buffer of a level takes what is made before
    kKeep,   ///< names the level at which a result lives
};
std::string_view name(MoveKind kind);  ///< "load", "store", "keep"

struct WrittenLoop {
    std::string iterator;
    int64_t size = 1;  ///< the largest int64 for what is larger; 0: open, written `?`
    bool is_unit = false;
    bool operator==(const WrittenLoop&) const = default;
};
struct WrittenBrace;
struct WrittenRun {
    std::string op;
    bool operator==(const WrittenRun&) const = default;
};
struct WrittenMove {
    MoveKind kind = MoveKind::kLoad;
    std::string tensor;
    std::string level;  ///< `?`: open; empty in nests for one level
    bool operator==(const WrittenMove&) const = default;
};
using WrittenItem = std::variant<std::unique_ptr<WrittenBrace>, WrittenRun, WrittenMove>;
struct WrittenBrace {
    std::vector<WrittenLoop> loops;
    std::vector<WrittenItem> items;
};

enum class NestLanguage : uint8_t {
    kOneLevel,  ///< `load X` alone, no sizes that are open
    kLevels,    ///< `load X @L`, `store X @L`, `keep X @L`; sizes and levels may be `?`
};

/// @throws BrokenForm; Error beyond the limits on its size, `where` names the source
WrittenBrace parse_written_nest(std::string_view text, const std::string& where,
                                NestLanguage language = NestLanguage::kOneLevel);

}  // namespace tessera::nests
