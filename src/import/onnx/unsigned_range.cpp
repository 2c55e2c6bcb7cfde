#include "import/onnx/unsigned_range.h"

#include <algorithm>
#include <bit>

namespace tessera::import::onnx {
namespace {

bool is_choice(const ExprPtr& expr) {
    if (const auto* apply = std::get_if<Apply>(&expr->node)) {
        const auto begin = apply->arguments.begin() + (apply->function == Function::kSelect ? 1 : 0);
        const bool chooses = apply->function == Function::kSelect || apply->function == Function::kMin ||
                             apply->function == Function::kMax;
        return chooses && std::all_of(begin, apply->arguments.end(), is_choice);
    }
    if (const auto* number = std::get_if<Number>(&expr->node)) return number->value >= 0;
    return std::holds_alternative<Read>(expr->node) || std::holds_alternative<Folded>(expr->node);
}

bool is_power_of_two(const ExprPtr& expr) {
    const auto* number = std::get_if<Number>(&expr->node);
    return number && number->is_integer && number->value >= 1 && number->value < 0x1p63 &&
           std::has_single_bit(static_cast<uint64_t>(number->value));
}

bool keeps_bits(const ExprPtr& expr) {
    const auto* apply = std::get_if<Apply>(&expr->node);
    if (!apply) return !std::holds_alternative<Cast>(expr->node);
    switch (apply->function) {
        case Function::kMod:
            if (!is_power_of_two(apply->arguments.back())) return false;
            break;
        case Function::kAdd:
        case Function::kSub:
        case Function::kMul:
        case Function::kNegate:
        case Function::kBitAnd:
        case Function::kBitOr:
        case Function::kBitXor:
        case Function::kBitNot:
        case Function::kShiftLeft:
        case Function::kShiftRight:
        case Function::kEqual:
        case Function::kNotEqual:
        case Function::kAnd:
        case Function::kOr:
        case Function::kNot:
        case Function::kSelect:
            break;
        default:
            return false;
    }
    return std::ranges::all_of(apply->arguments, keeps_bits);
}

}  // namespace

bool only_chooses(const Definition& definition) {
    const bool folds = definition.monoid == Monoid::kSum || definition.monoid == Monoid::kProd;
    return !folds && std::ranges::all_of(definition.body, is_choice) &&
           (!definition.post || is_choice(definition.post));
}

bool is_modular(const Definition& definition) {
    const bool folds_bits = definition.monoid == Monoid::kNone || definition.monoid == Monoid::kSum ||
                            definition.monoid == Monoid::kProd;
    return folds_bits && definition.accumulator == ElementType::kI64 && !definition.where &&
           std::ranges::all_of(definition.body, keeps_bits) &&
           (!definition.post || keeps_bits(definition.post));
}

}  // namespace tessera::import::onnx
