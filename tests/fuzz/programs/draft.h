#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/programs/choices.h"
#include "fuzz/programs/program.h"

namespace tessera::fuzz {

using Shape = std::vector<Dim>;

/// A program that grows. Every node is interpreted as it is added, so that none drowns the program in NaN or
/// in numbers so large that F32 loses on the way what float64 keeps: such nodes are not added.
class Draft {
public:
    explicit Draft(Choices& choices);

    /// A node of this family, which is refused (false) if its results are of no use. `definition`: without
    /// its `dim` line. `over`: the contents before an `update`; those of a state become its new ones.
    bool add(const std::string& definition, const std::vector<ValueId>& operands,
             std::optional<ValueId> over = {});

    /// A value that is there, mostly a new one; none if no value passes.
    std::optional<ValueId> any(const std::function<bool(const Value&)>& passes);
    std::optional<ValueId> any_of_rank(size_t low, size_t high);
    /// A value of this type and shape: one that is there, or a new input or constant.
    ValueId operand(ElementType type, const Shape& shape);
    /// A new one with these contents. @pre the contents have the shape
    ValueId given(ElementType type, const Shape& shape, TensorData data);
    /// A state that no node has updated, or a new one.
    std::optional<ValueId> state(ElementType type, const Shape& shape);

    ElementType float_type();  ///< mostly F32
    ElementType any_type();
    Dim extent();  ///< a constant, or a symbol
    int64_t extent_of(const Dim& dim) const { return evaluate(dim, program.symbols); }
    const TensorData& data(ValueId id) const { return data_[static_cast<size_t>(id.index)]; }
    std::string type_name(ValueId id) const {
        return std::string(tessera::name(program.graph[id].type.element));
    }
    const Value& operator[](ValueId id) const { return program.graph[id]; }
    ValueId last() const;  ///< the last result of the node that was added last

    Choices& choices;
    Program program;
    std::string kind;  ///< of the nodes that are added now

private:
    void exchange_last_nodes();
    bool is_set(ValueId id) const;  ///< not a state that nothing updates, which holds nothing
    bool is_useful(const TensorData& data, ElementType type) const;
    ValueId add_value(ElementType type, const Shape& shape, ValueKind kind, TensorData data);

    std::vector<TensorData> data_;  ///< as the graph's values
};

/// "i0: 3, i1: T": iterators with these extents; those at `reduced` are reductions.
std::string iterators(const Shape& shape, const std::vector<size_t>& reduced = {});
/// "i0, i1, i2"
std::string coordinates(size_t rank);
std::vector<std::string> coordinate_list(size_t rank);
/// "[3, 2 * T]"
std::string shape_text(const Shape& shape);

/// The families: each adds one node or several, or none and returns false.
using Family = bool (*)(Draft& draft);
struct NamedFamily {
    const char* name;
    Family add;
    int weight;
};
const std::vector<NamedFamily>& movement_families();
const std::vector<NamedFamily>& arithmetic_families();
const std::vector<NamedFamily>& folding_families();
const std::vector<NamedFamily>& indexed_families();

}  // namespace tessera::fuzz
