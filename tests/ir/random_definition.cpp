#include "ir/random_definition.h"

#include <algorithm>
#include <numeric>

#include "ir/random_parts.h"
#include "support/error.h"

namespace tessera {
namespace {

/// How many drafts may fail (a box too large, a predicate that leaves a store colliding) before that is a
/// bug.
constexpr uint64_t kMostDrafts = 64;

class Draft {
public:
    Draft(uint64_t seed, const RandomDefinitionOptions& options) : dice_(seed), options_(options) {}

    /// Empty if the box came out too large.
    std::string run() {
        const std::vector<std::string> kinds = {"none", "none", "sum", "sum", "sum",
                                                "sum",  "prod", "max", "min", "softmax_sum"};
        monoid_ = dice_.pick(kinds);
        draw_iterators();
        int64_t box = 1;
        for (const DrawnIterator& iterator : iterators_) box *= iterator.extent;
        if (box > options_.largest_box) return "";
        if (dice_.chance(50)) draw_index({dice_.pick(iterators_)}, false);
        if (dice_.chance(25)) draw_index({dice_.pick(iterators_), dice_.pick(iterators_)}, false);
        return monoid_ == "softmax_sum" ? softmax() : single_result();
    }

private:
    std::vector<DrawnIterator> chosen(bool reduction) const {
        std::vector<DrawnIterator> found;
        std::ranges::copy_if(iterators_, std::back_inserter(found),
                             [&](const DrawnIterator& i) { return i.is_reduction == reduction; });
        return found;
    }

    void draw_iterators() {
        std::vector<std::string> names = {"t", "h", "s", "e", "k", "n", "y", "x", "i", "j", "c"};
        dice_.shuffle(names);
        const int64_t parallel = dice_.between(1, 3);
        const int64_t reductions = monoid_ == "none" ? 0 : dice_.between(monoid_ == "softmax_sum" ? 1 : 0, 2);
        for (int64_t i = 0; i < parallel + reductions; ++i) {
            DrawnIterator iterator;
            iterator.name = names[static_cast<size_t>(i)];
            iterator.is_reduction = i >= parallel;
            draw_extent(iterator);
            iterators_.push_back(iterator);
        }
        dice_.shuffle(iterators_);
    }

    void draw_extent(DrawnIterator& iterator) {
        static const std::vector<int64_t> kExtents = {1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 12, 16};
        iterator.extent = dice_.pick(kExtents);
        iterator.extent_text = std::to_string(iterator.extent);
        if (!dice_.chance(40)) return;
        static const std::vector<std::string> kDims = {"T", "S", "N", "D", "H"};
        const std::string dim = kDims[dims_.size()];
        const int64_t divisor = dice_.chance(40) ? std::gcd(iterator.extent, int64_t{4}) : 1;
        const int64_t low = dice_.chance(70) ? divisor : iterator.extent;
        std::string declaration =
            fmt::format("{} in {}..{}", dim, low, iterator.extent * dice_.between(1, 9));
        if (divisor > 1) declaration += fmt::format(" multiple of {}", divisor);
        dims_.push_back(declaration);
        bindings_.push_back(fmt::format("{} = {}", dim, iterator.extent));
        iterator.extent_text = dim;
        iterator.is_dim = true;
        if (dice_.chance(80)) return;
        iterator.extent_text = fmt::format("{} div 2 + 1", dim);
        iterator.extent = iterator.extent / 2 + 1;
        iterator.is_dim = false;
    }

    /// Contents are distinct if iterations must not meet where they point to.
    void draw_index(const std::vector<DrawnIterator>& over, bool is_distinct) {
        static const std::vector<std::string> kNames = {"id", "page", "slot", "position"};
        DrawnIndex index;
        index.name = kNames[indices_.size()];
        index.type = dice_.chance(80) ? "i32" : "u8";
        int64_t count = 1;
        for (const DrawnIterator& iterator : over) {
            if (!index.iterators.empty() && iterator.name == over.front().name) continue;
            const int64_t block = is_distinct || dice_.chance(70) ? 1 : 4;
            index.map.push_back(block == 1 ? iterator.name : fmt::format("{} div {}", iterator.name, block));
            index.iterators.push_back(iterator.name);
            count *= (iterator.extent - 1) / block + 1;
        }
        index.limit = is_distinct ? count + dice_.below(6) : dice_.between(1, 10);
        int64_t step = dice_.between(1, 13);
        while (is_distinct && std::gcd(step, index.limit) != 1) ++step;
        index.fill = fmt::format("({} * i + {}) mod {}", step, dice_.below(7), index.limit);
        indices_.push_back(index);
    }

    std::string draw_type(bool is_integer) {
        static const std::vector<std::string> kIntegers = {"i8", "i8", "u8", "i32", "i4", "u4", "u6"};
        static const std::vector<std::string> kFloats = {"f32", "f32", "f32", "f16", "bf16"};
        return dice_.pick(is_integer ? kIntegers : kFloats);
    }

    DrawnOperand draw_input(const std::vector<DrawnIterator>& over, bool is_integer) {
        static const std::vector<std::string> kNames = {"X", "W", "U", "V", "Q", "R"};
        const std::string type = draw_type(is_integer || dice_.chance(15));
        operands_.push_back(draw_operand(dice_, kNames[operands_.size()], type, over, usable(over)));
        return operands_.back();
    }

    /// Index operands whose iterators are all among these.
    std::vector<DrawnIndex> usable(const std::vector<DrawnIterator>& over) const {
        std::vector<DrawnIndex> found;
        std::ranges::copy_if(indices_, std::back_inserter(found), [&](const DrawnIndex& index) {
            return std::ranges::all_of(index.iterators, [&](const std::string& name) {
                return std::ranges::find(over, name, &DrawnIterator::name) != over.end();
            });
        });
        return found;
    }

    /// Reads of new operands, some of them twice.
    std::vector<std::string> draw_leaves(int64_t count, const std::vector<DrawnIterator>& over,
                                         bool is_integer) {
        std::vector<std::string> leaves;
        for (int64_t i = 0; i < count; ++i) {
            const DrawnOperand operand = draw_input(over, is_integer);
            const int64_t reads = dice_.chance(25) ? 2 : 1;
            for (int64_t r = 0; r < reads; ++r)
                leaves.push_back(draw_read(dice_, operand, over, usable(over)));
        }
        return leaves;
    }

    /// Components that determine all of these iterators; for a monoid they may merge some.
    std::vector<DrawnComponent> draw_result_map(std::vector<DrawnIterator> over, bool may_merge) {
        std::vector<DrawnComponent> map;
        dice_.shuffle(over);
        while (!over.empty()) {
            const DrawnIterator x = over.back();
            over.pop_back();
            const int64_t n = x.extent;
            const int64_t c = dice_.between(2, 4);
            const int64_t way = dice_.below(14);
            if (way == 0) {
                map.push_back({fmt::format("{} div {}", x.name, c), 0, (n - 1) / c});
                if (!may_merge || dice_.chance(60))
                    map.push_back({fmt::format("{} mod {}", x.name, c), 0, std::min(n, c) - 1});
            } else if (way == 1 && !over.empty()) {
                const DrawnIterator y = over.back();
                over.pop_back();
                const int64_t stride = may_merge && dice_.chance(40) ? 1 : y.extent;
                map.push_back({fmt::format("{} * {} + {}", stride, x.name, y.name), 0,
                               stride * (n - 1) + y.extent - 1});
            } else if (way == 2) {
                map.push_back(
                    {fmt::format("{} - 1 - {}", x.is_dim ? x.extent_text : std::to_string(n), x.name), 0,
                     n - 1});
            } else if (way == 3) {
                map.push_back({fmt::format("{} + {}", x.name, c - 1), 0, n + c - 2});
            } else if (way == 4) {
                map.push_back({fmt::format("{} div 2 * 2 + 1 - {} mod 2", x.name, x.name), 0, n});
            } else if (way == 5 && indices_.size() < 4) {
                draw_index({x}, !may_merge);
                const DrawnIndex& slot = indices_.back();
                const std::string value = fmt::format("{}[{}]", slot.name, joined(slot.map, ", "));
                if (dice_.chance(50)) {
                    map.push_back({value, 0, slot.limit - 1, true});
                } else {
                    map.push_back({fmt::format("{} div {}", value, c), 0, (slot.limit - 1) / c, true});
                    map.push_back({fmt::format("{} mod {}", value, c), 0, c - 1, true});
                }
            } else {
                map.push_back({x.name, 0, n - 1});
            }
        }
        dice_.shuffle(map);
        return map;
    }

    DrawnOperand result(const std::string& name, const std::string& type, std::vector<DrawnComponent> map,
                        bool is_update) {
        DrawnOperand drawn{name, type, std::move(map), {}};
        const bool is_indirect = std::ranges::any_of(drawn.map, &DrawnComponent::is_indirect);
        if (!is_indirect && !dice_.chance(is_update ? 60 : 15)) return drawn;
        for (const DrawnComponent& component : drawn.map)
            drawn.shape.push_back(std::to_string(component.high + 1 + (dice_.chance(30) ? 2 : 0)));
        return drawn;
    }

    std::string single_result() {
        const bool is_map = monoid_ == "none";
        const bool is_integer = dice_.chance(20);
        const bool is_update = dice_.chance(25);
        std::vector<DrawnIterator> stored = chosen(false);
        // If iterations share an element, the reads of a post-expression must be the same for all of them.
        const bool may_merge = !is_map && dice_.chance(25);
        std::vector<DrawnComponent> map = draw_result_map(stored, may_merge);
        if (!is_map && dice_.chance(12) && indices_.size() < 4 && !chosen(true).empty()) {
            draw_index({dice_.pick(chosen(true))}, false);
            const DrawnIndex& slot = indices_.back();
            map.push_back(
                {fmt::format("{}[{}]", slot.name, joined(slot.map, ", ")), 0, slot.limit - 1, true});
        }
        const std::vector<std::string> leaves = draw_leaves(dice_.between(1, 3), iterators_, is_integer);
        std::string body = draw_body(dice_, leaves, iterators_, is_integer);
        if (!is_map) body = fmt::format("{}({})", monoid_, body);
        if (!is_map && !is_update && dice_.chance(40)) {
            const bool has_operand = !may_merge && dice_.chance(50);
            const std::vector<std::string> around =
                has_operand ? draw_leaves(1, stored, false) : std::vector<std::string>{};
            body = draw_post(dice_, body, around);
        }
        const std::string type = dice_.chance(75) ? draw_type(is_integer) : draw_type(!is_integer);
        const DrawnOperand target = result("Y", type, map, is_update);
        const bool accumulates_integers = is_integer && dice_.chance(60);
        return text(fmt::format("{} {} = {}", is_update ? "update" : "out", declaration(target), body),
                    dice_.chance(40) ? draw_predicate(dice_, iterators_, indices_) : "",
                    accumulates_integers);
    }

    std::string softmax() {
        std::vector<DrawnIterator> parallel = chosen(false);
        const std::vector<DrawnIterator> reductions = chosen(true);
        // Leave out iterators that the score, M and L do not use.
        std::vector<DrawnIterator> scored = parallel;
        if (scored.size() > 1 && dice_.chance(60)) scored.pop_back();
        std::vector<DrawnIterator> in_score = scored;
        in_score.insert(in_score.end(), reductions.begin(), reductions.end());
        const std::string score =
            draw_body(dice_, draw_leaves(dice_.between(1, 2), in_score, false), in_score, false);
        const std::string value = draw_body(dice_, draw_leaves(1, iterators_, false), iterators_, false);
        // The zoo's oracle merges M and L element by element: one map for both.
        DrawnOperand maximum = result("M", "f32", plain_map(scored), false);
        DrawnOperand sum = maximum;
        sum.name = "L";
        const std::string results =
            joined({declaration(maximum), declaration(sum),
                    declaration(result("A", draw_type(false), plain_map(parallel), false))},
                   ", ");
        return text(fmt::format("out {} = softmax_sum({}, {})", results, score, value),
                    dice_.chance(50) ? draw_predicate(dice_, in_score, usable(in_score)) : "", false);
    }

    std::vector<DrawnComponent> plain_map(std::vector<DrawnIterator> over) {
        dice_.shuffle(over);
        std::vector<DrawnComponent> map;
        for (const DrawnIterator& iterator : over) map.push_back({iterator.name, 0, iterator.extent - 1});
        return map;
    }

    static std::string declaration(const DrawnOperand& operand) {
        std::vector<std::string> map;
        for (const DrawnComponent& component : operand.map) map.push_back(component.text);
        const std::string shape =
            operand.shape.empty() ? "" : fmt::format(" of [{}]", joined(operand.shape, ", "));
        return fmt::format("{} {}[{}]{}", operand.name, operand.type, joined(map, ", "), shape);
    }

    static bool mentions(const std::string& text, const std::string& name) {
        const auto is_part = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
        };
        for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
            const size_t end = at + name.size();
            if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end])))
                return true;
        }
        return false;
    }

    std::string text(const std::string& results, const std::string& predicate, bool accumulates_integers) {
        std::vector<std::string> iterators;
        for (const DrawnIterator& i : iterators_)
            iterators.push_back(fmt::format("{}{}: {}", i.name, i.is_reduction ? "*" : "", i.extent_text));
        std::string body = results + "\n";
        if (!predicate.empty()) body += fmt::format("where {}\n", predicate);
        std::string inputs;
        for (const DrawnOperand& operand : operands_) inputs += fmt::format("in {}\n", declaration(operand));
        std::string out = fmt::format("op drawn({})\n", joined(iterators, ", "));
        if (!dims_.empty()) out += fmt::format("dim {}\n", joined(dims_, ", "));
        std::string fills;
        for (const DrawnIndex& index : indices_) {
            if (!mentions(inputs + body, index.name)) continue;
            out += fmt::format("index {} {}[{}]\n", index.name, index.type, joined(index.map, ", "));
            fills += fmt::format("fill {}[i] = {}\n", index.name, index.fill);
        }
        out += inputs + body;
        if (accumulates_integers) out += "acc i32\n";
        out += "\ntest\n";
        if (!bindings_.empty()) out += fmt::format("bind {}\n", joined(bindings_, ", "));
        return out + fills + test_part();
    }

    std::string test_part() {
        std::vector<std::string> tiles;
        for (const DrawnIterator& iterator : iterators_) {
            if (!dice_.chance(65)) continue;
            const int64_t size = dice_.between(1, iterator.extent);
            tiles.push_back(
                fmt::format("{} {} at {}", iterator.name, size, size * dice_.below(iterator.extent / size)));
        }
        std::string out = tiles.empty() ? "" : fmt::format("tile {}\n", joined(tiles, ", "));
        if (dice_.chance(50)) out += fmt::format("lanes {}\n", dice_.pick<int64_t>({2, 3, 4, 8}));
        static const std::vector<std::string> kUnits = {"A<m4,k4> B<k2,n4,k2> C<m4,n4>",
                                                        "A<m2,k2> B<k2,n2> C<m2,n2>", "A<m4,k2> B<k2> C<m4>",
                                                        "A<k4> B<n2,k4> C<n2>"};
        if (dice_.chance(60)) out += fmt::format("unit {}\n", dice_.pick(kUnits));
        return out;
    }

    Dice dice_;
    const RandomDefinitionOptions& options_;
    std::string monoid_;
    std::vector<DrawnIterator> iterators_;
    std::vector<std::string> dims_;
    std::vector<std::string> bindings_;
    std::vector<DrawnIndex> indices_;
    std::vector<DrawnOperand> operands_;
};

}  // namespace

std::string random_definition_text(uint64_t seed, const RandomDefinitionOptions& options) {
    const std::string where = fmt::format("random definition {}", seed);
    std::string problem;
    for (uint64_t draft = 0; draft < kMostDrafts; ++draft) {
        const std::string text = Draft(seed * kMostDrafts + draft, options).run();
        if (text.empty()) continue;
        try {
            const DefinitionFile file = parse_definition_file(text, where);
            check_bound(file, bound_extents(file, where), where);
            return text;
        } catch (const Error& error) {
            problem = error.what();
        }
    }
    TESSERA_CHECK(false, "no draft of seed {} is valid: {}", seed, problem);
    return "";
}

DefinitionFile random_definition(uint64_t seed, const RandomDefinitionOptions& options) {
    return parse_definition_file(random_definition_text(seed, options),
                                 fmt::format("random definition {}", seed));
}

}  // namespace tessera
