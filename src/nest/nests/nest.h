#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nest/nest_text.h"
#include "nest/nests/kernel.h"
#include "nest/nests/level_machine.h"

/// Nests of tiled loops over the operators of a kernel.
namespace tessera::nests {

using nest::BrokenForm;
using nest::MoveKind;
using nest::WrittenNest;

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
    enum class Kind : uint8_t { kBrace, kRun, kMove };
    Kind kind = Kind::kRun;
    int index = 0;  ///< in Nest::braces, Kernel::operators or Nest::moves
    bool operator==(const Item&) const = default;
};

/// A tensor placed in a level.
struct Move {
    MoveKind kind = MoveKind::kLoad;
    int tensor = 0;
    int level = 1;     ///< in LevelMachine::levels; 1 where a nest knows one level
    size_t depth = 0;  ///< loops around it
    int brace = 0;     ///< in which it stands
    int place = 0;     ///< in the text, counted with the operators
    bool operator==(const Move&) const = default;
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
    std::vector<std::vector<int>> braces_around;    ///< of each operator, outermost first
    std::vector<int> place;                         ///< of each operator in the text
    std::vector<std::vector<size_t>> shared;  ///< of two operators: the loops of the braces that hold both
    std::vector<Move> moves;                  ///< in the order of the text
    std::vector<int> home;                    ///< of each tensor: the level in which it lives; 0: memory
    std::vector<bool> visible;                ///< of each tensor; nests for one level
    int last = 0;                             ///< the operator that stands last

    bool stands_in(int op, int brace) const;
    /// Null if there is none.
    const Move* find(MoveKind kind, int tensor, int level) const;

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

/// Reads a nest that places tensors in the levels of a machine, such as `m:8 { load A @L2; k:4 { c } }`.
std::variant<Nest, Illegal> parse_nest(const Kernel& kernel, std::string_view text,
                                       const LevelMachine& machine);
/// The same without a text. @pre nothing in it is open
std::variant<Nest, Illegal> build_nest(const Kernel& kernel, const WrittenNest& written,
                                       const std::vector<std::string>& visible = {});
std::variant<Nest, Illegal> build_nest(const Kernel& kernel, const WrittenNest& written,
                                       const LevelMachine& machine);

/// The inverse: build_nest(written(n)) equals n. `machine`: names the levels, of nests that have some.
WrittenNest written(const Kernel& kernel, const Nest& nest, const LevelMachine* machine = nullptr);

}  // namespace tessera::nests
