#include "lowering/kernels/block_contraction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "ir/facts/product.h"
#include "ir/iterator_use.h"
#include "lowering/kernels/contraction.h"

namespace tessera::kernels {
namespace {

constexpr int64_t kLargestZero = 256, kLargestByte = 128;

/// coefficient * (B + zero) + offset.
struct LinearForm {
    ExprPtr coefficient;  ///< null: 1
    ExprPtr offset;       ///< null: 0
    int64_t zero = 0;
};

ExprPtr times(const ExprPtr& a, const ExprPtr& b) {
    return a && b ? apply(Function::kMul, {a, b}) : a ? a : b;
}

std::optional<int64_t> small_integer(const ExprPtr& e) {
    const auto* number = std::get_if<Number>(&e->node);
    if (!number || number->value != std::round(number->value) || std::fabs(number->value) > kLargestZero)
        return std::nullopt;
    return static_cast<int64_t>(number->value);
}

/// A as one operand, or as the bytes of numbers with two.
struct Terms {
    Read high;
    std::optional<Read> low;
    int64_t radix = 1;

    bool reads(int tensor) const { return high.tensor == tensor || (low && low->tensor == tensor); }
};

/// x, or x * radix + y. Null if it is neither.
std::optional<Terms> terms_of(const ExprPtr& factor) {
    if (const auto* read = std::get_if<Read>(&factor->node)) return Terms{*read, std::nullopt};
    const auto* sum = std::get_if<Apply>(&factor->node);
    if (!sum || sum->function != Function::kAdd) return std::nullopt;
    const auto* low = std::get_if<Read>(&sum->arguments[1]->node);
    const auto* product = std::get_if<Apply>(&sum->arguments[0]->node);
    if (!low || !product || product->function != Function::kMul) return std::nullopt;
    const auto* high = std::get_if<Read>(&product->arguments[0]->node);
    const std::optional<int64_t> radix = small_integer(product->arguments[1]);
    if (!high || !radix || *radix < 1 || high->tensor == low->tensor) return std::nullopt;
    return Terms{*high, *low, *radix};
}

/// An expression in which operand `tensor` stands once, as a linear form of it.
class LinearIn {
public:
    explicit LinearIn(int tensor) : tensor_(tensor) {}

    std::optional<LinearForm> operator()(const ExprPtr& expr) const {
        if (const auto* cast = std::get_if<Cast>(&expr->node))
            return cast->to == ElementType::kF32 ? (*this)(cast->argument) : std::nullopt;
        if (std::holds_alternative<Read>(expr->node)) return LinearForm{};
        const auto* call = std::get_if<Apply>(&expr->node);
        if (!call || call->arguments.size() != 2) return std::nullopt;
        const bool is_left = reads_b(call->arguments[0]), is_right = reads_b(call->arguments[1]);
        if (is_left == is_right) return std::nullopt;
        std::optional<LinearForm> form = (*this)(call->arguments[is_left ? 0 : 1]);
        if (!form) return std::nullopt;
        const ExprPtr& other = call->arguments[is_left ? 1 : 0];
        switch (call->function) {
            case Function::kMul:
                form->coefficient = times(form->coefficient, other);
                if (form->offset) form->offset = times(form->offset, other);
                return form;
            case Function::kAdd:
                return added(*form, other, 1);
            case Function::kSub:
                if (!is_left) return std::nullopt;
                return added(*form, other, -1);
            default:
                return std::nullopt;
        }
    }

    bool reads_b(const ExprPtr& expr) const {
        const std::vector<Read> reads = reads_in({expr});
        return std::any_of(reads.begin(), reads.end(), [&](const Read& r) { return r.tensor == tensor_; });
    }

private:
    static LinearForm added(LinearForm form, const ExprPtr& other, int64_t sign) {
        const std::optional<int64_t> integer = small_integer(other);
        if (integer && !form.coefficient && !form.offset) {
            form.zero += sign * *integer;
            return form;
        }
        const ExprPtr term = sign < 0 ? apply(Function::kNegate, {other}) : other;
        form.offset = form.offset ? apply(Function::kAdd, {form.offset, term}) : term;
        return form;
    }

    int tensor_;
};

/// The factors of a product, left to right.
std::vector<ExprPtr> factors_in(const ExprPtr& expr) {
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call || call->function != Function::kMul) return {expr};
    std::vector<ExprPtr> factors = factors_in(call->arguments[0]);
    for (ExprPtr& factor : factors_in(call->arguments[1])) factors.push_back(std::move(factor));
    return factors;
}

bool are_signed_bytes(const IntegerRange& range) {
    return range.low >= INT8_MIN && range.high <= INT8_MAX;
}

int64_t largest_magnitude(const IntegerRange& range) {
    return std::max(std::abs(range.low), std::abs(range.high));
}

bool is_iterator(const ExprPtr& component, int x) {
    const auto* ref = std::get_if<IteratorRef>(&component->node);
    return ref && ref->index == x;
}

/// How many neighbouring k one element of the read is for; 1 if k stands in it otherwise than as `k div c`,
/// 0 if it does not stand in it.
int64_t block_of(const Read& read, int k) {
    int64_t block = 0;
    for (const ExprPtr& component : read.coordinates) {
        if (!contains(iterators_in(component), k)) continue;
        const auto* call = std::get_if<Apply>(&component->node);
        if (!call || call->function != Function::kFloorDiv || !is_iterator(call->arguments[0], k)) return 1;
        const std::optional<int64_t> divisor = small_integer(call->arguments[1]);
        if (!divisor || *divisor < 1) return 1;
        block = std::gcd(block, *divisor);
    }
    return block;
}

bool are_same(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ExprPtr& x, const ExprPtr& y) { return same(x, y); });
}

bool is_small_integer(ElementType type) {
    return is_integer(type) && bits(type) <= 8;
}

class Reader {
public:
    explicit Reader(const Definition& definition)
        : definition_(definition),
          in_c_(iterators_in(definition.tensors[static_cast<size_t>(definition.results().front())].map)) {}

    /// The factors A and its scale are taken out; the rest is B's side.
    std::optional<BlockContraction> read(const Terms& terms, const Read& a_scale, const ExprPtr& side) const {
        const Read& a = terms.high;
        for (int k = 0; k < static_cast<int>(definition_.iterators.size()); ++k) {
            if (contains(in_c_, k) || std::none_of(a.coordinates.begin(), a.coordinates.end(),
                                                   [&](const ExprPtr& c) { return is_iterator(c, k); }))
                continue;
            if (auto found = along(k, terms, a_scale, side)) return found;
        }
        return std::nullopt;
    }

    ElementType type(const Read& read) const {
        return definition_.tensors[static_cast<size_t>(read.tensor)].type;
    }
    bool is_operand(const Read& read) const {
        return definition_.tensors[static_cast<size_t>(read.tensor)].role == Role::kIn;
    }

private:
    std::optional<BlockContraction> along(int k, const Terms& terms, const Read& a_scale,
                                          const ExprPtr& side) const {
        const Read& a = terms.high;
        const int64_t a_block = block_of(a_scale, k);
        if (a_block <= 1) return std::nullopt;
        const std::vector<Read> reads = reads_in({side});
        std::vector<Read> numbers, others;
        for (const Read& read : reads) {
            if (!is_operand(read) || terms.reads(read.tensor) || read.tensor == a_scale.tensor)
                return std::nullopt;
            (block_of(read, k) == 1 ? numbers : others).push_back(read);
        }
        if (numbers.size() != 1 || !is_small_integer(type(numbers.front()))) return std::nullopt;
        const std::optional<LinearForm> form = LinearIn(numbers.front().tensor)(side);
        if (!form || !form->coefficient || std::abs(form->zero) > kLargestZero) return std::nullopt;
        BlockContraction result{.a = a,
                                .a_low = terms.low,
                                .radix = terms.radix,
                                .a_scale = a_scale,
                                .b = numbers.front(),
                                .coefficient = form->coefficient,
                                .offset = form->offset,
                                .b_reads = others,
                                .zero = form->zero,
                                .a_block = a_block,
                                .block = a_block,
                                .m = {},
                                .n = {},
                                .k = k,
                                .fold = std::nullopt,
                                .b_is_of_bytes = are_signed_bytes(numbers_of(numbers.front(), form->zero))};
        for (const Read& read : others) {
            const int64_t block = block_of(read, k);
            if (block > 0) result.block = std::gcd(result.block, block);
        }
        // The largest sum of a block must be an int32: a byte of B is below 256, and so is `zero`.
        constexpr int64_t kLargestFactor = 255 + kLargestZero;
        if (result.block % kQuad != 0 ||
            result.block * kLargestByte * (terms.radix + 1) * kLargestFactor > INT32_MAX)
            return std::nullopt;
        const std::vector<int> in_a = iterators_in(a.coordinates);
        for (const int x : iterators_in(a_scale.coordinates))
            if (!contains(in_a, x)) return std::nullopt;
        facts::ProductRoles roles = facts::product_roles(definition_, in_a, iterators_in(side));
        result.m = std::move(roles.rows);
        result.n = std::move(roles.columns);
        if (result.n.empty()) return std::nullopt;
        result.fold = fold_of(result);
        return result;
    }

    std::optional<BlockContraction::Fold> fold_of(const BlockContraction& product) const {
        if (!product.a_low || product.a_block == product.block) return std::nullopt;
        BlockContraction::Fold fold{nullptr, nullptr, product.a_block};
        int64_t largest_integer = 1;
        for (const ExprPtr& factor : factors_in(product.coefficient)) {
            const auto* read = std::get_if<Read>(&factor->node);
            if (!fold.integer && read && is_small_integer(type(*read)) &&
                block_of(*read, product.k) == product.block) {
                fold.integer = factor;
                largest_integer = largest_magnitude(range(type(*read)));
                continue;
            }
            fold.rest = times(fold.rest, factor);
            for (const Read& each : reads_in({factor}))
                fold.block = std::gcd(fold.block, block_of(each, product.k));
        }
        if (fold.integer && fold.rest) {
            if (auto found = with_room(fold, product, largest_integer)) return found;
        }
        return with_room({nullptr, product.coefficient, product.block}, product, 1);
    }

    IntegerRange numbers_of(const Read& b, int64_t zero) const {
        const IntegerRange stored = range(type(b));
        return {stored.low + zero, stored.high + zero};
    }

    /// The same over so few blocks that no sum is more than an int32.
    std::optional<BlockContraction::Fold> with_room(BlockContraction::Fold fold,
                                                    const BlockContraction& product,
                                                    int64_t largest_integer) const {
        const IntegerRange numbers = numbers_of(product.b, product.zero);
        const int64_t largest_number = largest_magnitude(numbers) * largest_integer;
        if (largest_number > INT16_MAX) return std::nullopt;
        const int64_t largest_product = kLargestByte * (product.radix + 1) * largest_number;
        const auto fits = [&](int64_t block) {
            return fold.block % block == 0 && block <= INT32_MAX / largest_product;
        };
        int64_t blocks = fold.block / product.block;
        while (blocks > 0 && !fits(blocks * product.block)) --blocks;
        if (blocks == 0) return std::nullopt;
        fold.block = blocks * product.block;
        return fold;
    }

    const Definition& definition_;
    const std::vector<int> in_c_;
};

}  // namespace

bool is_of_bytes(const BlockContraction& product) {
    return product.a_low && product.fold && (product.b_is_of_bytes || !product.fold->integer);
}

std::vector<BlockContraction> block_contractions_of(const Definition& definition) {
    std::vector<BlockContraction> result;
    const std::vector<ExprPtr> factors = factors_of(definition);
    if (factors.size() < 3) return result;
    const Reader reader(definition);
    const auto is_byte = [&](const Read& read) {
        return reader.is_operand(read) && reader.type(read) == ElementType::kI8;
    };
    for (const ExprPtr& factor : factors) {
        const std::optional<Terms> a = terms_of(factor);
        if (!a || !is_byte(a->high)) continue;
        if (a->low && (!is_byte(*a->low) || !are_same(a->high.coordinates, a->low->coordinates))) continue;
        for (const ExprPtr& second : factors) {
            const auto* a_scale = std::get_if<Read>(&second->node);
            if (!a_scale || second == factor || !reader.is_operand(*a_scale)) continue;
            ExprPtr side;
            for (const ExprPtr& other : factors)
                if (other != factor && other != second) side = times(side, other);
            if (auto found = reader.read(*a, *a_scale, side)) result.push_back(std::move(*found));
        }
    }
    return result;
}

std::string why_no_block_contraction(const Definition& definition) {
    if (!block_contractions_of(definition).empty()) return {};
    return "its body is no product of small integers whose scales are constant in blocks";
}

}  // namespace tessera::kernels
