#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// Loop nests over operators: a tile tree (paper 000, 3.2).
namespace tessera::nest {

/// The tile of a loop that a search chooses, written `?`.
inline constexpr int64_t kOpenTile = 0;

/// The runner of a loop's trips.
enum class Bind : uint8_t {
    kSerial,  ///< one thread, one trip after the other
    kWorker,  ///< `@worker`: trip i belongs to worker i mod workers
    kUnit,    ///< `@unit`: each unit of a machine runs trips of its own
};

template <typename Iterator>
struct Loop {
    Iterator iterator{};
    int64_t tile = 1;
    Bind bind = Bind::kSerial;

    bool is_divided() const { return bind == Bind::kWorker; }
    bool operator==(const Loop&) const = default;
};

/// Loops around operators, further nests, and moves of values. Iterators are those of the nest's *root*, its
/// last operator. A document names iterators and operators; a search numbers them.
template <typename IteratorType, typename OperatorType, typename... Moves>
struct Nest {
    using Loop = nest::Loop<IteratorType>;
    using Operator = OperatorType;
    using Item = std::variant<Operator, Nest, Moves...>;

    std::vector<Loop> loops;  ///< outermost first; may be empty
    std::vector<Item> items;  ///< in the order of execution
    bool operator==(const Nest&) const = default;

    /// The last operator. @pre there is one
    const Operator& root() const {
        auto last = items.rbegin();
        while (last->index() > 1) ++last;  // behind moves
        if (const auto* inner = std::get_if<Nest>(&*last)) return inner->root();
        return std::get<Operator>(*last);
    }

    /// Calls `act` with each operator, in the order of execution.
    template <typename Act>
    void for_each_operator(const Act& act) const {
        for (const Item& item : items) {
            if (const auto* inner = std::get_if<Nest>(&item))
                inner->for_each_operator(act);
            else if (const auto* op = std::get_if<Operator>(&item))
                act(*op);
        }
    }

    std::vector<Operator> operators() const {
        std::vector<Operator> all;
        for_each_operator([&](const Operator& op) { all.push_back(op); });
        return all;
    }
};

/// Without braces that say nothing: those without loops, and those that are alone in others, whose loops
/// become one list. Only the outermost nest may have no loops.
template <typename AnyNest>
AnyNest normal_form(AnyNest nest) {
    AnyNest flat{.loops = std::move(nest.loops), .items = {}};
    for (typename AnyNest::Item& item : nest.items) {
        auto* inner = std::get_if<AnyNest>(&item);
        if (inner) *inner = normal_form(std::move(*inner));
        if (inner && inner->loops.empty())
            std::ranges::move(inner->items, std::back_inserter(flat.items));
        else
            flat.items.push_back(std::move(item));
    }
    auto* only = flat.items.size() == 1 ? std::get_if<AnyNest>(&flat.items.front()) : nullptr;
    if (!only) return flat;
    only->loops.insert(only->loops.begin(), flat.loops.begin(), flat.loops.end());
    return AnyNest(std::move(*only));
}

/// The same nest in another alphabet, each item in the order of execution. `iterator` gets a nest and one of
/// its loops; `op` an operator; `move` a move and the items so far, to which it may append.
template <typename To, typename From, typename Iterator, typename Operator, typename Move>
To translated(const From& from, const Iterator& iterator, const Operator& op, const Move& move) {
    To to;
    to.loops.reserve(from.loops.size());
    to.items.reserve(from.items.size());
    for (const typename From::Loop& loop : from.loops)
        to.loops.push_back({iterator(from, loop), loop.tile, loop.bind});
    for (const typename From::Item& item : from.items)
        std::visit(
            [&](const auto& each) {
                using Each = std::decay_t<decltype(each)>;
                if constexpr (std::is_same_v<Each, From>)
                    to.items.emplace_back(translated<To>(each, iterator, op, move));
                else if constexpr (std::is_same_v<Each, typename From::Operator>)
                    to.items.emplace_back(op(each));
                else
                    move(each, to.items);
            },
            item);
    return to;
}

/// The same without moves, if the nest has any.
template <typename To, typename From, typename Iterator, typename Operator>
To translated(const From& from, const Iterator& iterator, const Operator& op) {
    return translated<To>(from, iterator, op, [](const auto&, auto&) {});
}

}  // namespace tessera::nest
