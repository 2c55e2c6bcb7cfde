#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
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
/// Braces without loops are allowed, and the outermost ones may be left out. Every alphabet prints by
/// `print`.
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

std::string print(const WrittenOperator& op);
std::string print(const WrittenMove& move);

/// A nest on one line, in its braces. `iterator` names the iterator of a loop of a nest; `item` gives the
/// text of an operator or a move.
template <typename AnyNest, typename Iterator, typename ItemText>
std::string print_braces(const AnyNest& nest, const Iterator& iterator, const ItemText& item);
/// The same without the outermost braces where they have no loops.
template <typename AnyNest, typename Iterator, typename ItemText>
std::string print_nest(const AnyNest& nest, const Iterator& iterator, const ItemText& item);

/// In its braces; parse_braces(print(n)) equals n.
std::string print(const WrittenNest& nest);

namespace detail {

/// "x:8@worker ", "n:? ".
std::string loop_text(std::string_view iterator, int64_t tile, Bind bind);

template <typename AnyNest, typename Iterator, typename ItemText>
std::string items_text(const AnyNest& nest, const Iterator& iterator, const ItemText& item) {
    std::string text;
    for (const typename AnyNest::Item& each : nest.items) {
        if (!text.empty()) text += "; ";
        text += std::visit(
            [&](const auto& one) -> std::string {
                if constexpr (std::is_same_v<std::decay_t<decltype(one)>, AnyNest>)
                    return print_braces(one, iterator, item);
                else
                    return item(one);
            },
            each);
    }
    return text;
}

}  // namespace detail

template <typename AnyNest, typename Iterator, typename ItemText>
std::string print_braces(const AnyNest& nest, const Iterator& iterator, const ItemText& item) {
    std::string loops;
    for (const typename AnyNest::Loop& loop : nest.loops)
        loops += detail::loop_text(iterator(nest, loop), loop.tile, loop.bind);
    return loops + "{ " + detail::items_text(nest, iterator, item) + " }";
}

template <typename AnyNest, typename Iterator, typename ItemText>
std::string print_nest(const AnyNest& nest, const Iterator& iterator, const ItemText& item) {
    return nest.loops.empty() ? detail::items_text(nest, iterator, item) : print_braces(nest, iterator, item);
}

}  // namespace tessera::nest
