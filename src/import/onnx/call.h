#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/graph_builder.h"
#include "import/onnx/onnx_model.h"

namespace tessera::import::onnx {

/// One node of an ONNX graph, with its operands.
class Call {
public:
    /// @param inputs null where an optional one is left out
    Call(GraphBuilder& builder, const NodeText& node, int64_t opset, std::vector<const Operand*> inputs)
        : build(builder), node_(node), opset_(opset), inputs_(std::move(inputs)) {}

    GraphBuilder& build;

    const std::string& op() const { return node_.op_type; }
    /// The version of the operator set whose meaning the node has.
    int64_t opset() const { return opset_; }

    size_t inputs() const { return inputs_.size(); }
    bool has(size_t input) const { return input < inputs_.size() && inputs_[input]; }
    const Operand& in(size_t input) const;
    /// Null where it is left out.
    const Operand* given(size_t input) const { return has(input) ? inputs_[input] : nullptr; }
    /// All of them. @throws Error where one is left out
    std::vector<Operand> all() const;
    size_t outputs() const { return node_.outputs.size(); }
    bool wants(size_t output) const {
        return output < node_.outputs.size() && !node_.outputs[output].empty();
    }

    bool has_attribute(const std::string& name) const { return node_.attributes.contains(name); }
    int64_t integer(const std::string& name, int64_t otherwise) const;
    double number(const std::string& name, double otherwise) const;
    std::string text(const std::string& name, const std::string& otherwise) const;
    std::vector<int64_t> integers(const std::string& name, const std::vector<int64_t>& otherwise = {}) const;
    std::vector<double> numbers(const std::string& name) const;
    const Attribute* attribute(const std::string& name) const;

    /// An input that decides a shape, an axis or a place. @throws Error where it is not known
    std::vector<int64_t> known_integers(size_t input) const;
    std::vector<double> known_numbers(size_t input) const;
    /// The same of one element. @throws Error where there are none or several
    int64_t known_integer(size_t input) const;
    double known_number(size_t input) const;
    LinearForm form(size_t input) const;
    /// The same, where it may depend on symbols.
    Forms forms(size_t input) const;
    /// The same as a shape. @throws Error for an extent that is negative, or no multiple of one symbol
    std::vector<Dim> known_shape(size_t input) const;
    /// An extent of a shape. @throws Error as above
    Dim dim(const LinearForm& form) const;
    /// An axis counted from either end. @throws Error if the rank has it not
    size_t axis(int64_t number, size_t rank) const;
    /// Sorted. @throws Error for one that is there twice
    std::vector<size_t> axes(const std::vector<int64_t>& numbers, size_t rank) const;
    /// The extents. @throws Error where one is symbolic
    std::vector<int64_t> extents(const Operand& operand) const;
    /// Those from an axis on, and one. @throws Error where they are symbolic
    std::vector<int64_t> extents_from(const Operand& operand, size_t first) const;
    int64_t extent(const Operand& operand, size_t axis) const;

    /// Refuses the node.
    [[noreturn]] void refuse(const std::string& problem, const std::string& advice = {}) const;
    void expect(bool holds, const std::string& problem) const {
        if (!holds) refuse(problem);
    }

private:
    const Operand& known(size_t input, bool may_have_symbols = false) const;
    void expect_one_element(size_t input) const;

    const NodeText& node_;
    int64_t opset_;
    std::vector<const Operand*> inputs_;
};

/// An operator of ONNX: how a node of it becomes structured operators.
struct Operator {
    std::string_view name;
    std::vector<Operand> (*import)(const Call& call);
    std::string_view domain = "";
    int64_t since = 1;  ///< the first version of the operator set in which it has this form
};

}  // namespace tessera::import::onnx
