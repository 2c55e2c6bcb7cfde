#include "nest/nests/placements.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace tessera::nests {
namespace {

class PlacementRules {
public:
    PlacementRules(const Kernel& kernel, const Nest& nest, const Move& move)
        : kernel_(kernel),
          nest_(nest),
          move_(move),
          tensor_(kernel.tensors[static_cast<size_t>(move.tensor)]) {}

    void check() const {
        if (move_.kind == MoveKind::kKeep) return check_keep();
        if (move_.level <= nest_.home[static_cast<size_t>(move_.tensor)])
            refuse("cannot stand: the tensor lives at this level or inside of it");
        if (move_.kind == MoveKind::kLoad)
            check_load();
        else
            check_store();
    }

private:
    [[noreturn]] void refuse(const std::string& problem) const {
        throw BrokenForm(fmt::format("{} {} {}", name(move_.kind), tensor_.name, problem));
    }
    int place_of(int op) const { return nest_.place[static_cast<size_t>(op)]; }
    bool holds(int op) const { return nest_.stands_in(op, move_.brace); }

    /// Checks the moves of the same kind and tensor at levels outside this one.
    bool outer_ones_stand(auto&& fits) const {
        return std::ranges::all_of(nest_.moves, [&](const Move& other) {
            return other.kind != move_.kind || other.tensor != move_.tensor || other.level >= move_.level ||
                   fits(other);
        });
    }

    void check_load() const {
        if (tensor_.readers.empty()) refuse("cannot stand: no operator reads it");
        for (const int reader : tensor_.readers)
            if (place_of(reader) < move_.place || !holds(reader))
                refuse(fmt::format("has to stand before {}, in a brace around it",
                                   kernel_.operators[static_cast<size_t>(reader)].name()));
        if (tensor_.maker >= 0 && place_of(tensor_.maker) > move_.place)
            refuse("stands before the tensor is made");
        if (!outer_ones_stand([&](const Move& other) { return other.place < move_.place; }))
            refuse("stands before the load into a level outside of it");
    }

    void check_store() const {
        if (tensor_.maker < 0) refuse("cannot stand: no operator makes it");
        if (place_of(tensor_.maker) > move_.place || !holds(tensor_.maker))
            refuse("has to stand behind the operator that makes it, in a brace around that");
        if (std::ranges::any_of(tensor_.readers, [&](int reader) { return holds(reader); }))
            refuse("stands in a brace in which the tensor is read");
        if (!outer_ones_stand([&](const Move& other) { return other.place > move_.place; }))
            refuse("stands behind the store into a level outside of it");
    }

    void check_keep() const {
        const auto stands_inside = [&](int op) { return place_of(op) > move_.place && holds(op); };
        if (!stands_inside(tensor_.maker) || !std::ranges::all_of(tensor_.readers, stands_inside))
            refuse("has to stand before all that make and read it, in one brace around them");
    }

    const Kernel& kernel_;
    const Nest& nest_;
    const Move& move_;
    const Tensor& tensor_;
};

}  // namespace

void place_tensors(const Kernel& kernel, int inner, Nest& nest) {
    nest.home.clear();
    std::vector<bool> is_between;  // operators
    for (const Tensor& tensor : kernel.tensors) {
        is_between.push_back(tensor.maker >= 0 && tensor.maker != nest.last);
        nest.home.push_back(is_between.back() ? inner : 0);
    }
    std::vector<bool> is_kept(kernel.tensors.size());
    for (const Move& move : nest.moves) {
        if (move.kind != MoveKind::kKeep) continue;
        const auto t = static_cast<size_t>(move.tensor);
        if (!is_between[t])
            throw BrokenForm(
                fmt::format("keep {} cannot stand: it is no result that passes between operators",
                            kernel.tensors[t].name));
        if (is_kept[t]) throw BrokenForm(fmt::format("{} is kept twice", kernel.tensors[t].name));
        is_kept[t] = true;
        nest.home[t] = move.level;
    }
    for (const Move& move : nest.moves) PlacementRules(kernel, nest, move).check();
}

int source_of(const Nest& nest, int tensor, int level) {
    int from = nest.home[static_cast<size_t>(tensor)];
    for (const Move& move : nest.moves)
        if (move.kind == MoveKind::kLoad && move.tensor == tensor && move.level < level)
            from = std::max(from, move.level);
    return from;
}

std::vector<int> levels_on_the_way_home(const Nest& nest, int tensor, int inner) {
    if (nest.home[static_cast<size_t>(tensor)] == inner) return {};
    std::vector<int> levels{inner};
    for (const Move& move : nest.moves)
        if (move.kind == MoveKind::kStore && move.tensor == tensor && move.level != inner)
            levels.push_back(move.level);
    std::ranges::sort(levels);
    return levels;
}

}  // namespace tessera::nests
