#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// Parts of random_definition.cpp. Distributions are written out, since those of the standard library differ
/// between implementations.
namespace tessera {

class Dice {
public:
    explicit Dice(uint64_t seed) : engine_(seed) {}
    int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
    int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
    bool chance(int percent) { return below(100) < percent; }
    template <typename T>
    T pick(const std::vector<T>& from) {
        return from.at(static_cast<size_t>(below(static_cast<int64_t>(from.size()))));
    }
    template <typename T>
    void shuffle(std::vector<T>& list) {
        for (size_t i = list.size(); i > 1; --i)
            std::swap(list[i - 1], list[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
    }

private:
    std::mt19937_64 engine_;
};

struct DrawnIterator {
    std::string name;
    std::string extent_text;
    int64_t extent = 1;
    bool is_reduction = false;
    bool is_dim = false;  ///< the extent is a dim alone
};

/// A component of a map and bounds of its values over the box.
struct DrawnComponent {
    std::string text;
    int64_t low = 0;
    int64_t high = 0;
    bool is_indirect = false;
};

/// An index operand over one or two iterators; its contents lie in [0, limit).
struct DrawnIndex {
    std::string name;
    std::string type;
    std::vector<std::string> map;
    std::vector<std::string> iterators;  ///< that occur in the map
    std::string fill;
    int64_t limit = 1;
};

struct DrawnOperand {
    std::string name;
    std::string type;
    std::vector<DrawnComponent> map;
    std::vector<std::string> shape;  ///< empty: none is written
};

/// A direct component over some of these iterators (at least one).
DrawnComponent draw_component(Dice& dice, const std::vector<DrawnIterator>& iterators);
/// A component that reads an index operand.
DrawnComponent draw_indirect_component(Dice& dice, const DrawnIndex& index);
/// An operand whose map may use these iterators and index operands.
DrawnOperand draw_operand(Dice& dice, const std::string& name, const std::string& type,
                          const std::vector<DrawnIterator>& iterators,
                          const std::vector<DrawnIndex>& indices);
/// A read: the declared map, or coordinates of its own.
std::string draw_read(Dice& dice, const DrawnOperand& operand, const std::vector<DrawnIterator>& iterators,
                      const std::vector<DrawnIndex>& indices);

/// An expression in which every leaf occurs once, of operations that give finite numbers.
std::string draw_body(Dice& dice, std::vector<std::string> leaves,
                      const std::vector<DrawnIterator>& iterators, bool is_integer);
/// A post-expression around the monoid call.
std::string draw_post(Dice& dice, const std::string& call, const std::vector<std::string>& leaves);
/// A predicate over these iterators and index operands.
std::string draw_predicate(Dice& dice, const std::vector<DrawnIterator>& iterators,
                           const std::vector<DrawnIndex>& indices);

bool is_integer_type(const std::string& type);
std::string joined(const std::vector<std::string>& parts, const std::string& separator);

}  // namespace tessera
