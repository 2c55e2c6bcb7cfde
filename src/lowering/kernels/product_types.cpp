#include "lowering/kernels/product_types.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "ir/iterator_use.h"
#include "lowering/kernels/block_contraction.h"
#include "lowering/kernels/contraction.h"
#include "lowering/kernels/parameters.h"

namespace tessera::kernels {
namespace {

using Operand = std::pair<ElementType, int64_t>;  ///< and how many neighbours along k share an element

/// The number of neighbours along k that share a read element.
int64_t block_along(const Read& read, int k) {
    for (const ExprPtr& component : read.coordinates) {
        const auto* call = std::get_if<Apply>(&component->node);
        if (!call || call->function != Function::kFloorDiv) continue;
        const auto* x = std::get_if<IteratorRef>(&call->arguments[0]->node);
        const auto* divisor = std::get_if<Number>(&call->arguments[1]->node);
        if (x && x->index == k && divisor) return static_cast<int64_t>(divisor->value);
    }
    return 1;
}

/// The format with these operands; else the types side by side.
std::string weight_name(std::vector<Operand> operands) {
    std::sort(operands.begin(), operands.end());
    for (auto format = ops::WeightFormat::kF32; format <= ops::WeightFormat::kQ6_K;
         format = static_cast<ops::WeightFormat>(static_cast<int>(format) + 1)) {
        std::vector<Operand> of_format;
        for (const ops::WeightOperand& operand : ops::info(format).operands)
            of_format.emplace_back(operand.type, operand.block);
        std::sort(of_format.begin(), of_format.end());
        if (of_format == operands) return type_name(format);
    }
    std::string text;
    for (const auto& [type, block] : operands)
        text += fmt::format("{}{}", text.empty() ? "" : "_", name(type));
    return text;
}

/// "i8", or the bits of numbers with two bytes: "i15" if one byte counts 128 times the other.
std::string integer_name(const BlockContraction& product) {
    return fmt::format("i{}",
                       8 + (product.a_low ? std::bit_width(static_cast<uint64_t>(product.radix - 1)) : 0));
}

ElementType type(const Definition& definition, const Read& read) {
    return definition.tensors[static_cast<size_t>(read.tensor)].type;
}

/// True if a parameter names one of these iterators, or is not given.
bool may_be(const std::vector<int>& iterators, int x) {
    return x < 0 || contains(iterators, x);
}

std::string type_of_result(const Definition& definition) {
    return std::string(name(definition.tensors[static_cast<size_t>(definition.results().back())].type));
}

}  // namespace

std::string type_name(ops::WeightFormat format) {
    std::string text(ops::info(format).name);
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

plan::KernelTypes product_types(const Definition& definition, const plan::Leaf& leaf) {
    const std::string c = type_of_result(definition);
    const int n = plan::iterator_of(definition, leaf, parameter::kColumns),
              k = plan::iterator_of(definition, leaf, parameter::kReduction);
    const auto operands_of = [&](const std::vector<Read>& reads) {
        std::vector<Operand> operands;
        for (const Read& read : reads) operands.emplace_back(type(definition, read), block_along(read, k));
        return operands;
    };
    for (const BlockContraction& roles : block_contractions_of(definition)) {
        if (!may_be(roles.n, n) || (k >= 0 && k != roles.k)) continue;
        std::vector<Read> reads = roles.b_reads;
        reads.push_back(roles.b);
        return {{"A", integer_name(roles)}, {"B", weight_name(operands_of(reads))}, {"C", c}};
    }
    for (const Contraction& roles : contractions_of(definition)) {
        if (!may_be(roles.n, n) || !may_be(roles.k, k)) continue;
        return {{"A", std::string(name(type(definition, roles.a)))},
                {"B", weight_name(operands_of(roles.b_reads))},
                {"C", c}};
    }
    return {};
}

plan::KernelTypes softmax_types(const Definition& definition, const plan::Leaf&) {
    const auto* score = std::get_if<Read>(&definition.body[0]->node);
    const std::vector<Read> values = reads_in({definition.body[1]});
    if (values.empty()) return {};
    const ElementType weights =
        score && definition.weights == ElementType::kF32 ? type(definition, *score) : definition.weights;
    return {{"A", std::string(name(weights))},
            {"B", std::string(name(type(definition, values.front())))},
            {"C", type_of_result(definition)}};
}

plan::UnitFactors factors_in_pairs(const plan::Leaf& leaf, const plan::KernelTypes& types) {
    return leaf.number(parameter::kDot) > 1 ? factors_of_types(leaf, types) : plan::UnitFactors{"f32", "f32"};
}

plan::UnitFactors factors_of_types(const plan::Leaf&, const plan::KernelTypes& types) {
    return {types.at("A"), types.at("B")};
}

std::set<int> streamed_factor(const Definition& definition, const plan::Leaf& leaf) {
    std::set<int> tensors;
    const int n = plan::iterator_of(definition, leaf, parameter::kColumns);
    for (const BlockContraction& roles : block_contractions_of(definition)) {
        if (!contains(roles.n, n)) continue;
        for (const Read& read : roles.b_reads) tensors.insert(read.tensor);
        tensors.insert(roles.b.tensor);
        return tensors;
    }
    for (const Contraction& roles : contractions_of(definition)) {
        if (!contains(roles.n, n)) continue;
        for (const Read& read : roles.b_reads) tensors.insert(read.tensor);
        return tensors;
    }
    return tensors;
}

std::set<int> streamed_values(const Definition& definition, const plan::Leaf&) {
    std::set<int> tensors;
    if (definition.monoid == Monoid::kSoftmaxSum)
        for (const Read& read : reads_in({definition.body[1]})) tensors.insert(read.tensor);
    return tensors;
}

}  // namespace tessera::kernels
