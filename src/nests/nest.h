#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nests/kernel.h"

/// Nests of tiled loops over the operators of a kernel.
namespace tessera::nests {

/// Why a nest is refused, an expected answer.
struct Illegal {
    enum class Kind : uint8_t {
        kForm,     ///< it breaks the syntax or a rule of the notation
        kNumbers,  ///< it would compute wrong numbers
    };
    Kind kind = Kind::kForm;
    std::string reason;
    bool operator==(const Illegal&) const = default;
};
std::string_view name(Illegal::Kind kind);  ///< "form", "numbers"

struct Loop {
    int op = 0;           ///< the root of its brace
    size_t iterator = 0;  ///< of the root
    int64_t size = 1;
    bool is_unit = false;
    std::string name;  ///< "e.m", "e.m#2"
    bool operator==(const Loop&) const = default;
};

struct Item {
    enum class Kind : uint8_t { kBrace, kRun, kLoad };
    Kind kind = Kind::kRun;
    int index = 0;  ///< in Nest::braces, Kernel::operators or Kernel::tensors
    bool operator==(const Item&) const = default;
};

struct Brace {
    std::vector<Loop> loops;  ///< the first outermost
    std::vector<Item> items;
    int root = -1;  ///< the operator that stands last in it
    bool operator==(const Brace&) const = default;
};

/// A loop around a place.
struct LoopPosition {
    int brace = 0;
    size_t loop = 0;
    bool operator==(const LoopPosition&) const = default;
};

/// A nest that keeps the rules of form.
struct Nest {
    std::vector<Brace> braces;                      ///< the outermost first
    std::vector<std::vector<LoopPosition>> around;  ///< of each operator, outermost first
    std::vector<std::vector<size_t>> shared;  ///< of two operators: the loops of the braces that hold both
    std::vector<std::optional<size_t>> load;  ///< of each tensor: the loops around its load
    std::vector<bool> visible;                ///< of each tensor
    int last = 0;                             ///< the operator that stands last

    const Loop& loop(const LoopPosition& at) const {
        return braces[static_cast<size_t>(at.brace)].loops[at.loop];
    }
    size_t units() const;  ///< how many loops have `@unit`
    bool operator==(const Nest&) const = default;
};

/// Reads the nest that a file writes, such as `m:16@unit { n:16 { load B; k:8 { c } e } }`.
/// @throws Error beyond the limits on its size
std::variant<Nest, Illegal> parse_nest(const Kernel& kernel, std::string_view text,
                                       const std::vector<std::string>& visible = {});

/// On one line; parse_nest(print(n)) equals n.
std::string print(const Kernel& kernel, const Nest& nest);

}  // namespace tessera::nests
