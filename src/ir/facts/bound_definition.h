#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/definition.h"

/// The input of every derivation: a definition, the values of its dims, and known contents of its index
/// operands.
namespace tessera::facts {

/// Half-open: [first, last).
struct Range {
    int64_t first = 0;
    int64_t last = 0;

    int64_t size() const { return last - first; }
    bool empty() const { return last <= first; }
    auto operator<=>(const Range&) const = default;
};

struct BoundDefinition {
    Definition definition;
    BoundExtents extents;
    /// Row-major contents for each tensor; empty where they are not known. Only index operands, and operands
    /// that the predicate reads, may have some: no other contents decide a fact. Facts about an index operand
    /// of unknown contents hold for all of them: an address that it gives may be any.
    std::vector<std::vector<double>> contents;
    std::string where;  ///< names the source in errors

    int rank(int tensor) const {
        return static_cast<int>(extents.shapes[static_cast<size_t>(tensor)].size());
    }
    const TensorDecl& tensor(int t) const { return definition.tensors[static_cast<size_t>(t)]; }
    const std::vector<int64_t>& shape(int t) const { return extents.shapes[static_cast<size_t>(t)]; }
    bool is_result(int t) const { return tensor(t).role == Role::kOut || tensor(t).role == Role::kUpdate; }
};

/// The definition under its test setup: dims bound, index operands filled.
BoundDefinition bind_test(const DefinitionFile& file, const std::string& where);

/// The definition at these values of its dims, contents of index operands unknown.
BoundDefinition bind_unfilled(const Definition& definition, const std::vector<int64_t>& dims,
                              const std::string& where);

/// The same with the contents of operands that the predicate reads unknown: facts then hold for all contents.
BoundDefinition for_all_contents(BoundDefinition bound);

/// One access of a tensor: a read of an operand, or the write of a result.
struct Access {
    std::vector<ExprPtr> coordinates;
    bool in_predicate = false;  ///< reached in the whole box, also where the predicate is false
};

/// All accesses of a tensor; one that stands in the predicate and elsewhere is listed for both.
std::vector<Access> accesses_of(const Definition& definition, int tensor);

/// A sub-box of the iterations, one range for each iterator.
using IterationBox = std::vector<Range>;

IterationBox whole_box(const BoundDefinition& bound);

}  // namespace tessera::facts
