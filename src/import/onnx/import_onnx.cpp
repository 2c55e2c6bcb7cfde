#include "import/onnx/import_onnx.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/onnx/call.h"
#include "import/onnx/control_flow.h"
#include "import/onnx/graph_inputs.h"
#include "import/onnx/narrow_float.h"
#include "import/onnx/operator_list.h"
#include "import/onnx/primitives.h"
#include "import/onnx/scope.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

constexpr int kDeepestCall = 32;
constexpr int64_t kMostNodesRun = 200'000;  ///< bodies of functions are counted where they are called

std::string operator_name(const NodeText& node) {
    return node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
}

class Importer {
public:
    Importer(ModelText text, const ImportOptions& options) : options_(options) {
        out_.text = std::move(text);
    }

    ImportedModel run() {
        const GraphText& graph = out_.text.graph;
        Scope scope;
        for (const auto& [output, input] : options_.aliases) {
            try {
                aliases_[input] = alias_of(graph, options_, output, input);
            } catch (const Error& error) {
                refuse({output, "--alias", 0, error.problem});
            }
        }
        std::vector<DimSymbol> symbols = symbols_of(graph, options_, aliases_);
        std::vector<Point> points;
        for (const Point& stated : options_.points) {
            try {
                points.push_back(point_of(graph, options_, aliases_, stated));
            } catch (const Error& error) {
                refuse({stated.name, "--point", 0, error.problem});
            }
        }
        builder_ = std::make_unique<GraphBuilder>(graph.name.empty() ? "model" : graph.name,
                                                  std::move(symbols), std::move(points));
        for (const std::string& name : graph.sparse_initializers)
            refuse({name, "initializer", 0, "is sparse, which is not supported"});
        inputs(graph, scope);
        for (const std::string& name : unknown_dims(graph, options_, aliases_))
            refuse({name, "--dim", 0, "is stated, and no symbolic extent of an input"});
        for (const auto& [name, text] : options_.constants)
            if (std::ranges::find(graph.inputs, name, &ValueInfo::name) == graph.inputs.end())
                refuse({name, "constant", 0, "is stated, and no input of the model"});
        initializers(graph, scope);
        nodes(graph.nodes, out_.text.opsets, scope, "");
        if (out_.unsupported.empty()) outputs(graph, scope);
        out_.graph = builder_->graph();
        out_.weights = builder_->weights();
        out_.operators = builder_->origins();
        return std::move(out_);
    }

private:
    void refuse(Unsupported unsupported) { out_.unsupported.push_back(std::move(unsupported)); }

    void inputs(const GraphText& graph, Scope& scope) {
        for (const ValueInfo& input : graph.inputs) {
            if (graph.initializers.contains(input.name)) continue;
            try {
                scope.set(input.name, input_of(input));
            } catch (const Error& error) {
                refuse({input.name, "input", 0, error.problem});
                scope.miss(input.name);
            }
        }
    }

    Operand input_of(const ValueInfo& input) {
        const std::vector<Dim> shape = input_shape(input, options_);
        if (const auto alias = aliases_.find(input.name); alias != aliases_.end()) {
            Operand cache = builder_->cache(alias->second, input.type, shape);
            out_.states.push_back({input.name, builder_->graph()[cache.id.value()].name, false,
                                   cache.element(), builder_->graph()[cache.id.value()].type.shape});
            return cache;
        }
        for (const auto& [name, alias] : aliases_)
            if (std::ranges::find(shape, Dim(alias.held)) != shape.end())
                throw Error("", "",
                            fmt::format("has the extent {}, which only aliased inputs may have", alias.held));
        if (const auto constant = options_.constants.find(input.name); constant != options_.constants.end())
            return stated_input(input, shape, constant->second);
        if (std::ranges::find(shape, Dim(0)) != shape.end()) {
            Operand empty = known_numbers(input.type, evaluate(shape, {}), {});
            out_.inputs.push_back({input.name, "", false, empty.element(), shape});
            return empty;
        }
        Operand operand = builder_->input(input.name, input.type, shape);
        out_.inputs.push_back({input.name, builder_->graph()[operand.id.value()].name, operand.rank() == 0,
                               operand.element(), shape});
        // The file holds wider elements: what they have is made what the type has.
        const std::optional<NarrowFloat> narrow = narrow_float(input.type);
        if (!narrow && bits(input.type) >= 8) return operand;
        builder_->begin_node("narrowed");
        builder_->set_origin(fmt::format("input `{}` of {}", input.name, onnx::name(input.type)));
        return element_by_element(operand,
                                  narrow ? rounded_text(*narrow, "X", true) : wrapped("X", input.type));
    }

    /// A function of each element, by a node.
    Operand element_by_element(const Operand& operand, const std::string& value) {
        OperatorText text("op_copy");
        for (size_t axis = 0; axis < operand.rank(); ++axis) text.over(axis_name(axis), operand.shape[axis]);
        const std::vector<std::string> axes = axis_names(operand.rank());
        return builder_->add_node(
            text.read(operand, "X", axes).write(operand.type, operand.shape, axes, value));
    }

    void initializers(const GraphText& graph, Scope& scope) {
        for (const auto& [name, tensor] : graph.initializers) {
            try {
                scope.set(name, operand_of(tensor));
            } catch (const Error& error) {
                refuse({name, "initializer", 0, error.problem});
                scope.miss(name);
            }
        }
    }

    void nodes(const std::vector<NodeText>& all, const std::map<std::string, int64_t>& opsets, Scope& scope,
               const std::string& prefix) {
        for (size_t i = 0; i < all.size(); ++i) {
            const std::string name = prefix + (all[i].name.empty() ? fmt::format("#{}", i) : all[i].name);
            node(all[i], opsets, scope, name);
        }
    }

    void node(const NodeText& node, const std::map<std::string, int64_t>& opsets, Scope& scope,
              const std::string& name) {
        const auto found = opsets.find(node.domain);
        const int64_t opset = found == opsets.end() ? 0 : found->second;
        std::vector<const Operand*> inputs;
        bool is_missing = false;
        try {
            if (++nodes_run_ > kMostNodesRun) throw Error("", "", "is one of too many nodes");
            for (const std::string& input : node.inputs) {
                inputs.push_back(input.empty() ? nullptr : scope.find(input));
                if (input.empty() || inputs.back()) continue;
                is_missing = is_missing || scope.is_missing(input);
                if (!scope.is_missing(input))
                    throw Error("", "", fmt::format("reads `{}`, which nothing before it makes", input));
            }
            if (is_missing) {
                check_known(node, opset);
                for (const std::string& output : node.outputs) scope.miss(output);
                return;
            }
            builder_->begin_node(operator_name(node));
            builder_->set_origin(fmt::format("node `{}`, {} of opset {}", name, operator_name(node), opset));
            const std::vector<Operand> results = imported(node, opsets, opset, inputs, scope, name);
            for (size_t i = 0; i < node.outputs.size(); ++i) {
                if (node.outputs[i].empty()) continue;
                if (i >= results.size())
                    throw Error("", "", fmt::format("has an output {}, which is not supported", i));
                if (results[i].shape.size() > 32) throw Error("", "", "has too many axes");
                scope.set(node.outputs[i], results[i]);
            }
        } catch (const Error& error) {
            std::string reason = error.problem;
            if (!error.entity.empty() && !error.where.empty())
                reason = fmt::format("`{}` {}", error.entity, reason);
            if (!error.advice.empty()) reason += "; " + error.advice;
            refuse({name, operator_name(node), opset, reason});
            for (const std::string& output : node.outputs) scope.miss(output);
        }
    }

    /// An operator behind one that is refused is named, too, if it is not supported at all.
    void check_known(const NodeText& node, int64_t opset) const {
        if (find_function(node) || find_operator(node.domain, node.op_type, opset) || is_control_flow(node))
            return;
        throw Error("", "", "is not supported");
    }

    const FunctionText* find_function(const NodeText& node) const {
        const auto found = std::ranges::find_if(out_.text.functions, [&](const FunctionText& f) {
            return f.domain == node.domain && f.name == node.op_type && f.overload == node.overload;
        });
        return found == out_.text.functions.end() ? nullptr : &*found;
    }

    std::vector<Operand> imported(const NodeText& node, const std::map<std::string, int64_t>& opsets,
                                  int64_t opset, const std::vector<const Operand*>& inputs,
                                  const Scope& scope, const std::string& name) {
        if (const FunctionText* function = find_function(node)) return called(*function, node, inputs, name);
        if (node.domain.empty() && opset == 0)
            throw Error("", "", "is of an operator set whose version the model does not state");
        if (node.domain.empty() && opset > kNewestOpset)
            throw Error("", "",
                        fmt::format("is newer than opset {}, the newest that is supported", kNewestOpset));
        const Call call(*builder_, node, opset, inputs);
        if (is_control_flow(node))
            return control_flow(call, [&](const GraphText& body, const std::vector<Operand>& operands) {
                return run_body(body, operands, opsets, scope, name);
            });
        const Operator* found = find_operator(node.domain, node.op_type, opset);
        if (!found) throw Error("", "", "is not supported");
        for (const Operand* input : inputs)
            if (input && !element_of(input->type))
                throw Error(
                    "", "",
                    fmt::format("has an input of {}, which is not supported", onnx::name(input->type)));
        return found->import(call);
    }

    /// The body of a node, which sees the scope around it.
    std::vector<Operand> run_body(const GraphText& body, const std::vector<Operand>& operands,
                                  const std::map<std::string, int64_t>& opsets, const Scope& scope,
                                  const std::string& name) {
        ++nodes_run_;  // a body without nodes takes time, too
        Scope inner(&scope);
        initializers(body, inner);
        if (operands.size() > body.inputs.size()) throw Error("", "", "has a body of fewer inputs");
        for (size_t i = 0; i < operands.size(); ++i) inner.set(body.inputs[i].name, operands[i]);
        std::vector<std::string> outputs;
        for (const ValueInfo& output : body.outputs) outputs.push_back(output.name);
        return body_results(body.nodes, opsets, inner, name, outputs);
    }

    std::vector<Operand> called(const FunctionText& function, const NodeText& node,
                                const std::vector<const Operand*>& inputs, const std::string& name) {
        Scope inner;
        for (size_t i = 0; i < inputs.size() && i < function.inputs.size(); ++i)
            if (inputs[i]) inner.set(function.inputs[i], *inputs[i]);
        std::map<std::string, Attribute> attributes = function.defaulted;
        for (const auto& [key, attribute] : node.attributes) attributes[key] = attribute;
        std::vector<NodeText> body = function.nodes;
        for (NodeText& each : body) {
            for (auto at = each.attributes.begin(); at != each.attributes.end();) {
                if (at->second.reference.empty()) {
                    ++at;
                    continue;
                }
                const auto given = attributes.find(at->second.reference);
                if (given == attributes.end()) {
                    at = each.attributes.erase(at);
                    continue;
                }
                const std::string own = at->second.name;
                at->second = given->second;
                at->second.name = own;
                ++at;
            }
            for (std::string& input : each.inputs)
                if (std::ranges::find(function.inputs, input) != function.inputs.end() && !inner.find(input))
                    input.clear();  // an optional input that the call leaves out
        }
        return body_results(body, function.opsets, inner, name, function.outputs);
    }

    std::vector<Operand> body_results(const std::vector<NodeText>& body,
                                      const std::map<std::string, int64_t>& opsets, Scope& inner,
                                      const std::string& name, const std::vector<std::string>& outputs) {
        if (depth_ == kDeepestCall)
            throw Error("", "", fmt::format("lies in more than {} others", kDeepestCall));
        const size_t refused = out_.unsupported.size();
        ++depth_;
        nodes(body, opsets, inner, name + "/");
        --depth_;
        if (out_.unsupported.size() > refused)
            throw Error("", "", "has a body with a node that is not supported");
        std::vector<Operand> results;
        for (const std::string& output : outputs) {
            const Operand* found = inner.find(output);
            if (!found && inner.is_missing(output))
                throw Error("", "", "has a body with a node that is not supported");
            if (!found) throw Error("", "", fmt::format("has a body that does not make `{}`", output));
            results.push_back(*found);
        }
        return results;
    }

    /// Every output is the result of a node of its own.
    void outputs(const GraphText& graph, const Scope& scope) {
        std::set<ValueId> taken;
        for (const ValueInfo& output : graph.outputs) {
            const Operand* found = scope.find(output.name);
            if (!found) {
                refuse({output.name, "output", 0, "is made by no node"});
                continue;
            }
            Operand result = *found;
            if (const std::string* aliased = alias_of_output(output.name)) {
                if (!builder_->is_appended(result, *aliased))
                    refuse({output.name, "--alias", 0,
                            fmt::format("is not what `{}` holds with rows appended", *aliased)});
                continue;
            }
            if (std::ranges::find(result.shape, Dim(0)) != result.shape.end()) {
                out_.outputs.push_back({output.name, "", false, result.element(), result.shape});
                continue;
            }
            builder_->begin_node("output");
            builder_->set_origin(fmt::format("output `{}`", output.name));
            const bool is_made = result.id && result.room.empty() &&
                                 builder_->graph()[*result.id].kind == ValueKind::kIntermediate &&
                                 !taken.contains(*result.id);
            if (!is_made) result = element_by_element(result, "X");
            taken.insert(*result.id);
            builder_->output(result);
            out_.outputs.push_back({output.name, builder_->graph()[*result.id].name, result.rank() == 0,
                                    result.element(), result.shape});
        }
        if (graph.outputs.empty()) refuse({graph.name, "graph", 0, "has no outputs"});
        if (builder_->graph().outputs.empty()) output_of_nothing();
    }

    const std::string* alias_of_output(const std::string& output) const {
        const auto found =
            std::ranges::find_if(aliases_, [&](const auto& a) { return a.second.output == output; });
        return found == aliases_.end() ? nullptr : &found->first;
    }

    /// A step has an output; where all of the model's have no elements, it is one that nobody sees.
    void output_of_nothing() {
        builder_->begin_node("nothing");
        builder_->output(element_by_element(known_scalar(DataType::kFloat, 0), "X"));
    }

    const ImportOptions& options_;
    Aliases aliases_;
    ImportedModel out_;
    std::unique_ptr<GraphBuilder> builder_;
    int depth_ = 0;
    int64_t nodes_run_ = 0;
};

}  // namespace

std::string print(const Unsupported& unsupported) {
    if (unsupported.opset == 0 && !unsupported.op.empty())
        return fmt::format("{} `{}` {}", unsupported.op, unsupported.node, unsupported.reason);
    return fmt::format("node `{}`, {} of opset {}: {}", unsupported.node, unsupported.op, unsupported.opset,
                       unsupported.reason);
}

ImportedModel import_onnx(ModelText text, const ImportOptions& options) {
    return Importer(std::move(text), options).run();
}

ImportedModel import_onnx(const std::filesystem::path& path, const ImportOptions& options) {
    return import_onnx(read_model(path), options);
}

ImportedModel import_supported_onnx(const std::filesystem::path& path, const ImportOptions& options) {
    ImportedModel model = import_onnx(path, options);
    if (model.unsupported.empty()) return model;
    constexpr size_t kMostNamed = 20;
    std::string all;
    for (size_t i = 0; i < model.unsupported.size() && i < kMostNamed; ++i)
        all += (all.empty() ? "" : "\n  ") + print(model.unsupported[i]);
    if (model.unsupported.size() > kMostNamed)
        all += fmt::format("\n  and {} more", model.unsupported.size() - kMostNamed);
    throw Error(path.string(), "", all, "`tessera check` names everything at once");
}

}  // namespace tessera::import::onnx
