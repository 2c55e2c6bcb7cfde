#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/definition.h"
#include "machine/machine.h"

/// The description of a micro-kernel. The existing ones are declared in kernels/, one file each; code that
/// needs the list of them gets it passed.
namespace tessera::kernels {
class CallText;
struct Candidate;
struct CandidateScope;
}  // namespace tessera::kernels
namespace tessera::lowering {
struct LeafScope;
}
namespace tessera::movement {
class Call;
struct CallKind;
struct Statement;
}  // namespace tessera::movement

namespace tessera::plan {

enum class ParameterKind : uint8_t {
    kNumber,
    kIterator,  ///< the name of an iterator of the operator
};

/// A property of a call that a plan may state. Parameters of the same name have the same meaning everywhere;
/// each micro-kernel has its own range.
struct Parameter {
    std::string_view name;
    std::string_view meaning;
    ParameterKind kind = ParameterKind::kNumber;
    bool is_required = false;  ///< has no default
    // For a number:
    int64_t otherwise = 1;  ///< the default
    int64_t least = 1, most = 1;
    int64_t multiple_of = 1;
    bool is_power_of_two = false;
    bool is_stated = false;    ///< printed even if it has its default, since it distinguishes calls
    bool is_of_block = false;  ///< belongs to the register block, for which there are alternatives

    constexpr bool is_iterator() const { return kind == ParameterKind::kIterator; }
    /// The value where none is given; for a required number, a value outside its range.
    constexpr int64_t default_number() const { return is_required ? 0 : otherwise; }
};

/// Why the parameter, a number, cannot have the value, as "is 65, expected a number from 1 to 64"; empty if
/// it can.
std::string why_out_of_range(const Parameter& parameter, int64_t value);

class Leaf;

/// Its parameters that name the iterators of a product C[m, n] = sum_k A[m, k] B[n, k], or of a streaming
/// softmax with rows m, values n and all of its reductions for k.
struct ProductParameters {
    const Parameter* m = nullptr;
    const Parameter* n = nullptr;  ///< null: it computes no product
    const Parameter* k = nullptr;  ///< null: all reductions of the operator
};

/// Its parameters for the number of lanes of results, and their iterator.
struct LaneParameters {
    const Parameter* along = nullptr;  ///< null: it makes no pass over the results
    const Parameter* count = nullptr;
};

/// Types of the operands under which the machine's table lists times: "A": "f32", "B": "q8_0".
using KernelTypes = std::map<std::string, std::string>;

/// The factors that a compute unit multiplies for a product.
struct UnitFactors {
    std::string a, b;
    double products = 1;  ///< of the unit for each of the operator's
};

/// The cache in which a product wants the part of its weights that all rows share.
enum class WeightTile : uint8_t {
    kNone,         ///< no part in particular
    kInLastCache,  ///< if a block has several rows
    kInOwnCache,   ///< of the core, with as many rows as fit beside it
};

struct MicroKernel {
    std::string_view name;
    std::string_view summary;     ///< how it computes
    std::string_view implements;  ///< which operators
    std::span<const Parameter> parameters;
    std::span<const ElementType> results;  ///< types in which it stores; it reads every type, computes in f32
    machine::UnitKind unit = machine::UnitKind::kVector;  ///< that it is for; others emulate it
    bool tiles_reductions = false;  ///< folds into the results of earlier tiles, so a reduction loop may
                                    ///< stand outside
    bool combines_parts = false;    ///< reads the parts that the workers have folded, not the operands
    bool is_plain = false;  ///< implements every operator, and products slower than any other; there is one
    bool is_listed =
        true;  ///< a thorough measurement lists its times; else its price is the work that it does
    WeightTile weight_tile = WeightTile::kNone;
    ProductParameters product = {};
    LaneParameters lanes = {};

    /// Why it does not implement the definition; empty if it does.
    std::string (*why_not)(const Definition& definition) = nullptr;
    /// Ways to call it for an operator (lowering/kernels/candidates.h).
    void (*candidates)(const kernels::CandidateScope& scope, std::vector<kernels::Candidate>& out) = nullptr;
    /// Leaves that may be faster than this one, by other numbers of lanes; null: the candidates that differ
    /// in their register block alone.
    std::vector<Leaf> (*alternatives)(const Definition& definition, const Leaf& leaf,
                                      int64_t lanes_of_a_register) = nullptr;
    /// Loops and calls that compute the operator in a tile (lowering/leaf.h). @throws Error where it cannot
    std::vector<movement::Statement> (*lower)(const lowering::LeafScope& scope) = nullptr;
    /// The call that it lowers to; null if it has none.
    const movement::CallKind& (*call)() = nullptr;
    /// Writes such a call in C++ over NTT (lowering/kernels/call_text.h); null: C++ has the statements of its
    /// meaning.
    void (*spell)(const movement::Call& call, kernels::CallText& out) = nullptr;
    /// Empty if the leaf finds no product in the definition; null if the micro-kernel computes none.
    KernelTypes (*types)(const Definition& definition, const Leaf& leaf) = nullptr;
    /// The factors that its unit multiplies if the operands have these types; null: f32 on the vector unit.
    UnitFactors (*factors)(const Leaf& leaf, const KernelTypes& types) = nullptr;
    /// Tensors that stream through it, while it waits for them: B of a product, the values of a softmax.
    std::set<int> (*streamed)(const Definition& definition, const Leaf& leaf) = nullptr;
    /// A product's call sums over all reductions, and not over k alone, if its factors have strides along
    /// them; null: it never does.
    bool (*sums_all)(const Definition& definition, const Leaf& leaf) = nullptr;

    /// True if it has a parameter of this name.
    bool has(const Parameter& parameter) const;
};

/// All of them, in one order.
using MicroKernels = std::span<const MicroKernel* const>;

/// Null if there is none of this name.
const MicroKernel* find_micro_kernel(MicroKernels kernels, std::string_view name);

}  // namespace tessera::plan
