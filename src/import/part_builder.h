#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/map_operator.h"
#include "import/model_step.h"
#include "ir/ops/activation.h"
#include "ir/ops/attention.h"
#include "ir/ops/block_builder.h"

namespace tessera::import {

/// The sources of a tensor, one for each repetition of a block.
using SourcesOf = std::function<std::vector<std::string>(const SpecTensor&, const std::string& name)>;

/// Appends the nodes of one part of a model to a block. What matrices read is rounded as the policy says,
/// where matrices alone read it: in the node that makes it, if that can, else in one of its own.
class PartBuilder {
public:
    /// `prefix`: before the names of all values and constants. All must live longer.
    PartBuilder(ModelStep& step, Block& block, const SpecPart& part, std::string prefix, SourcesOf sources);

    /// Makes the constants of all tensors before any node, in the order in which they are read.
    void make_weights();
    /// Keeps the constants for the parts that follow.
    void share_tensors() { are_shared_ = true; }
    /// Appends all nodes. `inputs`: values that are there already, by name.
    void run(const std::map<std::string, ValueId>& inputs);
    ValueId value(const std::string& name) const;
    /// The rows that the last matrix multiplies, in F32.
    ValueId hidden();

private:
    /// An activation that products read.
    struct Factor {
        ops::Activation form;
        std::vector<ValueId> operands;
    };

    // part_builder.cpp
    void find_readers();
    void make(const PartStep& step);
    void finish(const std::string& name, ValueId made);
    std::optional<ops::Activation> form_of(const std::string& name) const;
    ElementType wanted_type(const std::string& name) const;
    Factor factor_of(const std::string& name);
    ValueId argument(const PartStep& step, size_t index) const;
    const SpecTensor& tensor(const PartStep& step, size_t index) const;
    std::vector<ValueId> weight(const std::string& name);
    std::vector<int64_t> shape_of(const PartStep& step, ValueId value, size_t axes) const;
    [[noreturn]] void fail(const PartStep& step, const std::string& problem,
                           const std::string& advice = {}) const;
    ops::Symbols symbols() const { return step_.graph.symbols; }
    const Dim& rows_of(ValueId value) const { return step_.graph[value].type.shape.front(); }
    TensorType typed(ValueId like, ElementType element) const;
    std::string node_name(const std::string& name) const { return prefix_ + name; }

    // part_functions.cpp
    ValueId call(const PartStep& step);
    ValueId lookup(const PartStep& step);
    ValueId add_lookup(const PartStep& step);
    ValueId linear(const PartStep& step);
    ValueId norm(const PartStep& step, const std::string& node, ElementType result);
    ValueId shape(const PartStep& step);
    void split(const PartStep& step);
    ValueId join(const PartStep& step);
    ValueId rotate(const PartStep& step);
    RopeTablesOfStep rope(const PartStep& step, size_t index) const;
    ValueId waves(const PartStep& step);
    ValueId softmax(const PartStep& step);

    // part_attention.cpp
    void cache(const PartStep& step);
    ValueId attend(const PartStep& step);
    void add_index(const PartStep& step, std::vector<ValueId>& operands) const;
    ops::AttentionPart part_of(const PartStep& step) const;
    ValueId numbers_of_distances(const PartStep& step, const TermPtr& term, int64_t heads);
    ValueId spread(const PartStep& step);
    ValueId vectors_of_distances(const PartStep& step, const TermPtr& term,
                                 const std::vector<int64_t>& queries) const;
    ValueId number_of_heads(const PartStep& step, const TermPtr& term, int64_t heads);
    ValueId stored(const std::string& node, ValueId x, int64_t heads, int64_t width, ElementType type);

    // part_experts.cpp
    ValueId top(const PartStep& step);
    ValueId pick(const PartStep& step);
    ValueId rows(const PartStep& step);
    ValueId experts(const PartStep& step);
    ValueId each(const PartStep& step);
    ValueId shares(const PartStep& step);
    ValueId mix(const PartStep& step);

    // part_recurrences.cpp
    void recur(const PartStep& step);
    void convolve(const PartStep& step);
    void add_recurrence(const PartStep& step, const std::vector<PartLine>& lines, const std::string& node);

    // part_maps.cpp
    std::vector<MapOperand> operands_of(const PartStep& step, std::vector<ValueId>& ids);
    ValueId map(const PartStep& step, ElementType result);
    ValueId indexed(const PartStep& step);

    ModelStep& step_;
    Block& block_;
    const SpecPart& part_;
    const std::string prefix_;
    const SourcesOf sources_;
    ops::BlockBuilder builder_;
    bool are_shared_ = false;
    std::map<std::string, ValueId> values_;
    std::map<std::string, Factor> factors_;
    std::map<std::string, std::vector<ValueId>> weights_;
    std::map<std::string, std::vector<ValueId>> caches_;  ///< the parts of a cache behind its update
    std::map<std::string, std::vector<const PartStep*>> readers_;
};

/// An option of a call that is a number; the other one where there is none, or it is null.
double number_option(const PartStep& step, const char* option, double otherwise);

/// Operands of a node: activations, then those of its weight.
std::vector<ValueId> joined(std::vector<ValueId> operands, const std::vector<ValueId>& weight);

}  // namespace tessera::import
