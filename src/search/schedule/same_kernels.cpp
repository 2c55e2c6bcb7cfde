// The text of a kernel names nothing. Operators are numbered by kind, values by the place where the kernel
// meets them first:
//
//     i:? j:? { v3; v4 }   and   i:? j:? { v7; v8 }   are both   0:? 1:? { #5(0 1) ; #5(1 2 <- 0) }
#include "search/schedule/same_kernels.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ir/graph_text.h"
#include "lowering/plan/constants.h"
#include "search/schedule/known_kernels.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;

bool is_arithmetic(Function function) {
    return function == Function::kAdd || function == Function::kSub || function == Function::kMul;
}

/// The expression without the values of its constants, which do not change the code around them.
ExprPtr without_constants(const ExprPtr& expr) {
    if (!expr) return expr;
    if (const auto* to = std::get_if<Cast>(&expr->node)) return cast(to->to, without_constants(to->argument));
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call) return expr;
    std::vector<ExprPtr> arguments;
    for (const ExprPtr& argument : call->arguments) {
        const auto* literal = std::get_if<Number>(&argument->node);
        const bool is_any = literal && is_arithmetic(call->function);
        arguments.push_back(!is_any               ? without_constants(argument)
                            : literal->is_integer ? number(2)
                                                  : real(0.5));
    }
    return apply(call->function, std::move(arguments));
}

std::string text_of(Definition definition) {
    definition.name.clear();
    for (size_t i = 0; i < definition.iterators.size(); ++i)
        definition.iterators[i].name = fmt::format("%{}", i);
    for (size_t i = 0; i < definition.tensors.size(); ++i) definition.tensors[i].name = fmt::format("${}", i);
    for (ExprPtr& part : definition.body) part = without_constants(part);
    definition.post = without_constants(definition.post);
    return print(definition);
}

class Kinds {
public:
    Kinds(const lowering::LoweringInput& input, const lowering::BlockLinks& links, KnownKernels& known)
        : input_(input),
          links_(links),
          numbers_(known.operator_kinds),
          storage_(input, input.graph.blocks.front()) {}

    OperatorKind of(const lowering::BlockLinks::Operator& op, size_t leaves) {
        OperatorKind kind;
        const Definition& definition = *op.node->definition();
        std::string text = fmt::format("{}{} {} leaves\n", schedule::text_of(definition), op.largest, leaves);
        for (const int extent : op.extent) text += links_.extents[static_cast<size_t>(extent)] + "\n";
        for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
            const ValueId value = lowering::value_of(*op.node, t);
            text += text_of(value);
            kind.storages.push_back(
                storages_.emplace(storage_.base(value), static_cast<int>(storages_.size())).first->second);
        }
        for (const lowering::BlockLinks::Result& result : op.results) text += result.is_in_view ? "v" : "-";
        kind.number = numbers_.emplace(std::move(text), static_cast<int>(numbers_.size())).first->second;
        return kind;
    }

private:
    /// The value and all through which it is found.
    std::string text_of(ValueId value) const {
        std::string text;
        while (true) {
            const plan::TensorPlan& plan = storage_.plan_of(value);
            const Value& is = input_.graph[value];
            const bool is_output =
                std::ranges::find(input_.graph.outputs, value) != input_.graph.outputs.end();
            const Layout& layout =
                is.kind == ValueKind::kIntermediate ? plan.layout : plan::stored_layout(input_.plan, is.name);
            text += fmt::format("{} {}{} {}, ", name(is.kind), print(is.type), is_output ? " output" : "",
                                print(layout));
            if (plan.place == plan::Place::kView)
                text += schedule::text_of(*storage_.producer(value)->definition());
            else if (plan.place != plan::Place::kInPlace)
                return text + "\n";
            value = input_.values.at(plan.of);
        }
    }

    const lowering::LoweringInput& input_;
    const lowering::BlockLinks& links_;
    std::map<std::string, int>& numbers_;
    const lowering::Storage storage_;  ///< only names of storages are asked for: any block will do
    std::map<ValueId, int> storages_;
};

class KernelText {
public:
    KernelText(const BlockContext& block, const NumberedNest& kernel)
        : block_(block), is_tile_(tiles_of(block, kernel)) {}

    std::string of(const NumberedNest& nest) {
        std::string text;
        for (const NumberedNest::Loop& loop : nest.loops)
            text += fmt::format("{}:{}{} ", loop.iterator, loop.tile, loop.is_divided() ? "@" : "");
        text += "{ ";
        for (const auto& item : nest.items) {
            const auto* inner = std::get_if<NumberedNest>(&item);
            text += inner ? of(*inner) : of(std::get<int>(item));
        }
        return text + "} ";
    }

private:
    std::string of(int op) {
        const auto at = static_cast<size_t>(op);
        const OperatorKind& kind = block_.kinds[at];
        std::string text = fmt::format("#{}{}(", kind.number, is_tile_[at] ? "t" : "");
        for (const int storage : kind.storages)
            text += fmt::format("{} ",
                                storages_.emplace(storage, static_cast<int>(storages_.size())).first->second);
        for (const lowering::BlockLinks::Access& access : block_.links.operators[at].accesses) {
            const auto producer = operators_.find(access.producer);
            if (producer == operators_.end()) continue;
            text += fmt::format("<- {}.{}", producer->second, access.result);
            for (const lowering::BlockLinks::Axis& axis : access.axes)
                text += fmt::format(" {}{}", axis.iterator, axis.mixed);
        }
        operators_.emplace(op, static_cast<int>(operators_.size()));
        return text + ") ";
    }

    const BlockContext& block_;
    const std::vector<bool> is_tile_;
    std::map<int, int> operators_, storages_;  ///< by number in the block, that in the kernel
};

NumberedNest renamed(NumberedNest nest, const std::map<int, int>& operators) {
    for (auto& item : nest.items) {
        if (auto* inner = std::get_if<NumberedNest>(&item))
            *inner = renamed(std::move(*inner), operators);
        else
            item = operators.at(std::get<int>(item));
    }
    return nest;
}

}  // namespace

std::vector<OperatorKind> operator_kinds(const lowering::LoweringInput& input, const BlockContext& block,
                                         KnownKernels& known) {
    Kinds kinds(input, block.links, known);
    std::vector<OperatorKind> found;
    for (size_t op = 0; op < block.links.operators.size(); ++op)
        found.push_back(kinds.of(block.links.operators[op], block.leaves[op].size()));
    // A stated kernel keeps the leaves that it names.
    for (const NumberedNest& stated : block.stated)
        for (const int op : stated.operators()) {
            const auto number = static_cast<int>(known.operator_kinds.size());
            known.operator_kinds.emplace(fmt::format("stated {}", number), number);
            found[static_cast<size_t>(op)].number = number;
        }
    return found;
}

std::string kind_of(const BlockContext& block, const NumberedNest& kernel) {
    return KernelText(block, kernel).of(kernel);
}

SolvedKernel by_places(const BlockContext& block, const SolvedKernel& solved) {
    const std::vector<int> all = solved.nest.operators();
    std::map<int, int> places;
    for (size_t i = 0; i < all.size(); ++i) places.emplace(all[i], static_cast<int>(i));
    SolvedKernel found = solved;
    found.nest = renamed(std::move(found.nest), places);
    for (size_t i = 0; i < all.size(); ++i) {
        const std::vector<int>& leaves = block.leaves[static_cast<size_t>(all[i])];
        const auto at = std::ranges::find(leaves, solved.leaves[i]);
        found.leaves[i] = at == leaves.end() ? -1 : static_cast<int>(at - leaves.begin());
    }
    return found;
}

SolvedKernel solved_alike(const BlockContext& block, const SolvedKernel& by_places,
                          const NumberedNest& kernel) {
    const std::vector<int> all = kernel.operators();
    std::map<int, int> operators;
    for (size_t i = 0; i < all.size(); ++i) operators.emplace(static_cast<int>(i), all[i]);
    SolvedKernel alike = by_places;
    alike.nest = renamed(std::move(alike.nest), operators);
    for (size_t i = 0; i < all.size(); ++i) {
        const auto op = static_cast<size_t>(all[i]);
        const int place = by_places.leaves[i];
        alike.leaves[i] =
            place < 0 ? block.plain_leaves[op] : block.leaves[op].at(static_cast<size_t>(place));
    }
    return alike;
}

}  // namespace tessera::schedule
