#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chip/chip_description.h"
#include "chip/partition/executable_program.h"
#include "chip/partition/held_numbers.h"
#include "ir/graph_interpreter.h"

namespace tessera::partition {

/// The use of numbers on a core.
struct NumbersKey {
    enum class Use : uint8_t {
        kValue,    ///< of the graph, from their making to their last use; `number` is that of the ChipValue
        kOperand,  ///< preloaded or sent for the operator at a position; `number` is the tensor
        kPartial,  ///< results of it until they are complete; likewise
    };
    Use use = Use::kValue;
    size_t position = 0;
    size_t number = 0;
    auto operator<=>(const NumbersKey&) const = default;
};

/// Numbers on the cores of a chip, and the bytes that they take. Each core has the whole SRAM of one, and the
/// buffer through which arriving data passes.
class ChipMemory {
public:
    ChipMemory(const chip::ChipDescription& chip, std::string program);

    /// Sets the cycle of the following calls, for errors.
    void set_time(double cycles) { now_ = cycles; }
    const HeldNumbers& at(int32_t core, const NumbersKey& key) const;
    /// @throws Error naming the core and the cycle if they do not fit
    void put(int32_t core, const NumbersKey& key, int64_t bits, const Elements& elements,
             const std::vector<double>& numbers);
    void drop(int32_t core, const NumbersKey& key, const Elements& elements);
    /// Drops all numbers of the key on all cores.
    void drop(const NumbersKey& key);
    std::vector<int64_t> peaks() const;  ///< bytes of each core

private:
    struct Held {
        HeldNumbers numbers;
        int64_t bits = 0;  ///< of an element
    };
    struct Core {
        std::map<NumbersKey, Held> held;
        int64_t bits = 0;
        int64_t peak = 0;
    };
    void count(int32_t core, int64_t more_bits);

    std::string program_;
    int64_t room_;  ///< bytes of a core
    double now_ = 0;
    std::vector<Core> cores_;
    HeldNumbers nothing_;
};

/// The numbers in the HBM: constants, loaded on first use, and states.
class FarMemory {
public:
    /// @pre both outlive this
    FarMemory(const Graph& graph, const GraphCall& call);

    /// @throws Error for a state that is missing, and for contents of another shape
    TensorData& at(const FarTensor& tensor);
    std::vector<double> numbers(const FarTensor& tensor, const Elements& elements);
    void store(const FarTensor& tensor, const Elements& elements, const std::vector<double>& numbers);
    const GraphStates& states() const { return states_; }

private:
    const Graph& graph_;
    const GraphCall& call_;
    std::map<FarTensor, TensorData> constants_;
    GraphStates states_;
};

/// The numbers of these elements of a whole tensor, in their order.
std::vector<double> numbers_of(const TensorData& data, const Elements& elements);
/// @throws Error naming the value if its contents have another shape than in this call
void check_shape(const Graph& graph, const GraphCall& call, const Value& value, const TensorData& data);

}  // namespace tessera::partition
