#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/nest.h"

/// The notation of nests, a tiling expression, before its names mean anything:
///
///     b:1 g:1@worker { gather[loops x=e]; s:16 { scores[contract m=i]; attend[stream] }; normalise[loops] }
///     m:8 { load A @L2; n:? { c; e } store E @L1 }
///
///     nest     = {loop} "{" items "}"
///     loop     = name ":" (number | "?") ["@worker" | "@unit"]
///     items    = {item | ";"}
///     item     = nest | move | operator
///     move     = ("load" | "store" | "keep") name ["@" level] ["as" layout]
///     operator = name ["[" micro-kernel {name "=" value} "]"]
///
/// Braces without loops are allowed, and the outermost ones may be left out.
namespace tessera::nest {

/// The text is no nest.
struct BrokenForm : std::runtime_error {
    explicit BrokenForm(const std::string& problem, size_t at = 0)
        : std::runtime_error(problem), position(at) {}
    size_t position;  ///< in the text, from 1; 0: at no place of it
};

/// A placement of a tensor by an item of a nest.
enum class MoveKind : uint8_t {
    kLoad,   ///< fills a buffer of a level with what is read inside
    kStore,  ///< a buffer of a level takes what is made before
    kKeep,   ///< names the level at which a result lives
};
std::string_view name(MoveKind kind);  ///< "load", "store", "keep"

struct WrittenKernel {
    std::string name;
    std::vector<std::pair<std::string, std::string>> parameters;  ///< each once
    bool operator==(const WrittenKernel&) const = default;
};
struct WrittenOperator {
    std::string name;
    std::optional<WrittenKernel> kernel = {};
    bool operator==(const WrittenOperator&) const = default;
};
struct WrittenMove {
    MoveKind kind = MoveKind::kLoad;
    std::string tensor;
    std::string level = {};   ///< `?`: open; empty: none is written
    std::string layout = {};  ///< behind `as`; empty: none is written
    bool operator==(const WrittenMove&) const = default;
};
using WrittenNest = Nest<std::string, WrittenOperator, WrittenMove>;

/// The moves that a text may have. Without them their words are names of operators.
enum class Moves : uint8_t {
    kNone,
    kLoads,   ///< `load X`, perhaps `as` a layout
    kLevels,  ///< `load X @L`, `store X @L`, `keep X @L`
};

/// The items of the text, as a nest without loops. A number beyond 64 bits is the largest one.
/// @throws BrokenForm; Error beyond the limits on its size, `where` names the source
WrittenNest parse_nest(std::string_view text, const std::string& where, Moves moves);
/// The same for a text that is one nest with its braces.
WrittenNest parse_braces(std::string_view text, const std::string& where, Moves moves);

}  // namespace tessera::nest
