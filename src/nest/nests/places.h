#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nest/nests/buffer.h"
#include "nest/nests/dependence.h"
#include "nest/nests/influence.h"
#include "nest/nests/needed.h"

namespace tessera::nests {

/// A buffer and the place that fills it.
struct Place {
    Buffer buffer;
    Dependence dependence;
    std::vector<LoopPosition> loops;  ///< around it
    Needed needed;                    ///< at the present trips
};

/// The part that an operator reads of a result that another one keeps.
struct Need {
    Needed needed;  ///< its number says nothing
    std::optional<Box> box;
};

/// The buffers of a nest, in the order of operators and their tensors: `A for c` or, with a load, `A` for
/// outside tensors; one for each result.
class Places {
public:
    Places(const Kernel& kernel, const Nest& nest, Influence& influence);

    std::vector<Place>& all() { return all_; }
    /// The place of an outside tensor, or of the result that is read.
    Place& operand(int op, size_t position) { return at(operands_, op, position); }
    Place& result(int op, size_t position) { return at(results_, op, position); }
    Place& load(int tensor) { return all_[loads_.at(tensor)]; }
    Need& need(int op, size_t position) { return needs_[static_cast<size_t>(op)][position]; }

private:
    using Numbers = std::vector<std::vector<size_t>>;  ///< in `all_`, of each operator

    Place& at(const Numbers& numbers, int op, size_t position) {
        return all_[numbers[static_cast<size_t>(op)][position]];
    }
    void add_operator(int op);
    size_t operand_place(int op, int tensor, uint64_t loops);
    size_t load_place(int op, const Move& load);
    size_t result_place(int tensor) const;
    size_t add(std::string name, int tensor, BufferRole role, uint64_t loops, int op, size_t depth);

    const Kernel& kernel_;
    const Nest& nest_;
    Influence& influence_;
    std::vector<Place> all_;
    Numbers operands_;
    Numbers results_;
    std::vector<std::vector<Need>> needs_;  ///< of each operator and operand
    std::map<int, size_t> loads_;           ///< of each tensor with a load
};

}  // namespace tessera::nests
