#include "import/part_builder.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/architecture/functions.h"
#include "ir/ops/elementwise.h"
#include "support/error.h"

namespace tessera::import {
namespace {

bool reads_as_factor(const PartStep& step, const std::string& name) {
    return step.is_call("linear") && step.term->arguments[0]->is_name(name);
}

}  // namespace

std::vector<ValueId> joined(std::vector<ValueId> operands, const std::vector<ValueId>& weight) {
    operands.insert(operands.end(), weight.begin(), weight.end());
    return operands;
}

PartBuilder::PartBuilder(ModelStep& step, Block& block, const SpecPart& part, std::string prefix,
                         SourcesOf sources)
    : step_(step),
      block_(block),
      part_(part),
      prefix_(std::move(prefix)),
      sources_(std::move(sources)),
      builder_(step.graph, block, step.rounding()) {
    find_readers();
}

void PartBuilder::find_readers() {
    for (const PartStep& each : part_.steps) {
        std::set<std::string> names;
        walk(each.term, [&](const Term& term) {
            if (term.kind == Term::Kind::kName || term.kind == Term::Kind::kElement) names.insert(term.name);
        });
        for (const std::string& name : names) readers_[name].push_back(&each);
    }
}

void PartBuilder::make_weights() {
    for (const PartStep& each : part_.steps)
        walk(each.term, [&](const Term& term) {
            if (term.kind != Term::Kind::kName || !part_.tensors.contains(term.name)) return;
            (void)weight(term.name);
            if (part_.tensors.contains(bias_of(term.name))) (void)weight(bias_of(term.name));
        });
}

void PartBuilder::run(const std::map<std::string, ValueId>& inputs) {
    for (const auto& [name, id] : inputs) finish(name, id);
    for (const PartStep& each : part_.steps) make(each);
}

ValueId PartBuilder::value(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end())
        throw Error("architecture", name, "is no value of its part of the model",
                    "a cache can be attended to alone");
    return found->second;
}

void PartBuilder::make(const PartStep& step) {
    const size_t nodes = block_.nodes.size();
    if (!step.lines.empty())
        recur(step);
    else if (step.is_call("conv"))
        convolve(step);
    else if (step.has_indices)
        finish(step.name(), indexed(step));
    else if (step.is_alias() && caches_.contains(step.term->name))
        caches_[step.name()] = caches_.at(step.term->name);
    else if (step.is_alias())
        finish(step.name(), argument(step, 0));
    else if (step.is_call("cache"))
        cache(step);
    else if (step.is_call("split"))
        split(step);
    else if (step.term->kind == Term::Kind::kCall && find_value_function(step.term->name))
        finish(step.name(), call(step));
    else if (step.is_call("add_lookup"))
        finish(step.name(), add_lookup(step));
    else if (step.term->kind == Term::Kind::kCall)
        finish(step.name(), map(step, wanted_type(step.name())));
    else
        fail(step, "is a constant, expected an expression of values");
    constexpr size_t kMostNodes = 20000;
    TESSERA_CHECK(block_.nodes.size() >= nodes);
    if (block_.nodes.size() > kMostNodes) fail(step, fmt::format("is more than {} nodes", kMostNodes));
}

/// The form in which all readers want the value; empty if not all of them are matrices.
std::optional<ops::Activation> PartBuilder::form_of(const std::string& name) const {
    const auto found = readers_.find(name);
    if (found == readers_.end()) return std::nullopt;
    std::vector<ops::WeightFormat> formats;
    int64_t width = 0;
    for (const PartStep* reader : found->second) {
        if (!reads_as_factor(*reader, name)) return std::nullopt;
        const SpecTensor& matrix = tensor(*reader, 1);
        formats.push_back(matrix.format);
        width = matrix.shape.back();
    }
    return activation_of(step_.spec.policy, formats, width);
}

/// The type in which the node of this value is to make it.
ElementType PartBuilder::wanted_type(const std::string& name) const {
    if (const auto form = form_of(name)) return computed_type(*form);
    const auto found = readers_.find(name);
    const bool is_reshaped = found != readers_.end() && found->second.size() == 1 &&
                             found->second.front()->is_call("shape") &&
                             found->second.front()->names.size() == 1;
    return is_reshaped ? wanted_type(found->second.front()->name()) : ElementType::kF32;
}

void PartBuilder::finish(const std::string& name, ValueId made) {
    values_[name] = made;
    const auto form = form_of(name);
    if (!form) return;
    const ElementType type = computed_type(*form);
    if (step_.graph[made].type.element != type) {
        const std::vector<Dim> shape = step_.graph[made].type.shape;
        if (shape.size() != 2 || step_.graph[made].type.element != ElementType::kF32)
            throw Error("architecture", name, "has other axes than a matrix reads: [tokens, width]",
                        "`shape` it");
        made = builder_.add(node_name(name) + "_rounded",
                            ops::rounded_to(symbols(), shape[0], shape[1].factor, type), {made});
    }
    factors_[name] = {*form, ops::factor_operands(builder_, node_name(name), made, *form)};
}

PartBuilder::Factor PartBuilder::factor_of(const std::string& name) {
    const auto found = factors_.find(name);
    return found == factors_.end() ? Factor{{}, {value(name)}} : found->second;
}

ValueId PartBuilder::argument(const PartStep& step, size_t index) const {
    const TermPtr& term = step.is_alias() ? step.term : step.term->arguments.at(index);
    if (term->kind != Term::Kind::kName) fail(step, fmt::format("reads {}, expected a value", print(term)));
    const auto found = values_.find(term->name);
    if (found == values_.end())
        fail(step, fmt::format("reads {}, which is no value that a token has here", term->name));
    return found->second;
}

const SpecTensor& PartBuilder::tensor(const PartStep& step, size_t index) const {
    const TermPtr& term = step.term->arguments.at(index);
    const auto found = part_.tensors.find(term->name);
    if (term->kind != Term::Kind::kName || found == part_.tensors.end())
        fail(step, fmt::format("reads {}, expected a tensor", print(term)));
    return found->second;
}

std::vector<ValueId> PartBuilder::weight(const std::string& name) {
    if (const auto found = weights_.find(name); found != weights_.end()) return found->second;
    const SpecTensor& own = part_.tensors.at(name);
    if (!own.tied.empty()) return weights_[name] = step_.shared.at(own.tied);
    const std::vector<ValueId> made =
        step_.weight(node_name(name), own.format, own.shape, sources_(own, name));
    if (are_shared_) step_.shared[name] = made;
    return weights_[name] = made;
}

/// The constant extents behind the token axis of a value with so many of them.
std::vector<int64_t> PartBuilder::shape_of(const PartStep& step, ValueId value, size_t axes) const {
    const std::vector<Dim>& shape = step_.graph[value].type.shape;
    if (shape.size() != axes + 1)
        fail(step, fmt::format("reads {} with {} axes for each token, expected {}", step_.graph[value].name,
                               shape.size() - 1, axes));
    std::vector<int64_t> extents;
    for (size_t i = 1; i < shape.size(); ++i) extents.push_back(shape[i].factor);
    return extents;
}

void PartBuilder::fail(const PartStep& step, const std::string& problem, const std::string& advice) const {
    throw Error(step.where, step.name(), problem, advice);
}

TensorType PartBuilder::typed(ValueId like, ElementType element) const {
    TensorType type = step_.graph[like].type;
    type.element = element;
    type.rounding = element == ElementType::kF32 ? Rounding::kExact : step_.rounding();
    return type;
}

ValueId PartBuilder::hidden() {
    const PartStep* last = nullptr;
    for (const PartStep& each : part_.steps)
        if (each.is_call("linear")) last = &each;
    if (!last) throw Error("architecture", kLogits, "are made by no matrix, whose rows `hidden` are");
    const std::string& name = last->term->arguments[0]->name;
    for (const PartStep& each : part_.steps)
        if (each.name() == name && (each.is_call("rms") || each.is_call("layernorm")))
            return norm(each, "hidden", ElementType::kF32);
    return value(name);
}

}  // namespace tessera::import
