#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "import/onnx/aliases.h"
#include "import/onnx/operand.h"
#include "import/onnx/operator_text.h"
#include "import/weights.h"
#include "ir/graph.h"

namespace tessera::import::onnx {

/// The constants of an imported graph, by their sources.
class OnnxWeights : public WeightSource {
public:
    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    void add(const std::string& name, StoredTensor tensor, std::shared_ptr<const void> owner);

private:
    std::map<std::string, StoredTensor, std::less<>> tensors_;
    std::vector<std::shared_ptr<const void>> owners_;
};

/// Builds the graph of a model. What is known when the model is compiled is computed then, by the interpreter
/// of the same operators; all else becomes a node.
class GraphBuilder {
public:
    GraphBuilder(std::string name, std::vector<DimSymbol> symbols, std::vector<Point> points);

    Operand input(const std::string& name, DataType type, const std::vector<Dim>& shape);
    /// The result of an operator.
    Operand add(const OperatorText& text);
    /// As `add`, but a node even where the result is known: outputs are made by nodes.
    Operand add_node(const OperatorText& text);
    /// An input that rows are appended to. @param shape with the held rows
    Operand cache(const Alias& alias, DataType type, const std::vector<Dim>& shape);
    /// The cache with these rows behind those that it holds. @throws Error if they are not of its alias
    Operand append(const Operand& cache, const Operand& rows, size_t axis);
    /// True if an operand is the cache of this input with its rows appended.
    bool is_appended(const Operand& operand, const std::string& input) const;
    /// An extent as a number; that of held rows follows from that of all rows.
    LinearForm extent(const Dim& dim) const;
    /// The same contents in another shape of as many elements.
    Operand with_shape(const Operand& operand, std::vector<Dim> shape);
    void output(const Operand& operand);

    /// The names of the nodes that are made from now on begin with this.
    void begin_node(const std::string& name) { prefix_ = name; }
    const Graph& graph() const { return graph_; }
    const std::shared_ptr<OnnxWeights>& weights() const { return weights_; }
    /// The ONNX node that made each node.
    const std::map<std::string, std::string>& origins() const { return origins_; }
    void set_origin(std::string origin) { origin_ = std::move(origin); }

private:
    struct Cache {
        Alias alias;
        ValueId before;
        std::optional<ValueId> after;  ///< with the rows
    };

    ValueId value_of(const Operand& operand);
    ValueId value_of_forms(const Operand& operand);
    /// The elements of the result, where they follow from operands that are known up to symbols and places.
    std::optional<Forms> folded_forms(const Definition& definition,
                                      const std::vector<OperatorText::Tensor>& operands) const;
    std::string fresh(const std::string& wanted);

    Graph graph_;
    std::shared_ptr<OnnxWeights> weights_ = std::make_shared<OnnxWeights>();
    std::map<const std::byte*, std::vector<ValueId>>
        constants_;                         ///< by their bytes, which may have several shapes
    std::map<std::string, ValueId> forms_;  ///< nodes that make them, by their operators
    std::map<std::string, Cache> caches_;   ///< by the input
    std::map<std::string, int> taken_;
    std::map<std::string, std::string> origins_;
    std::string prefix_ = "node", origin_;
};

}  // namespace tessera::import::onnx
