#include "import/quantise/quantise_rows.h"

#include <algorithm>
#include <array>

#include "import/quantise/quantise_block.h"
#include "ir/element_bits.h"
#include "support/error.h"
#include "support/in_order.h"

namespace tessera::quantise {
namespace {

/// Bytes of one block's elements of an operand: always whole ones.
size_t bytes_in_block(const ops::WeightFormatInfo& facts, const ops::WeightOperand& operand) {
    const auto bits = static_cast<size_t>(facts.block / operand.block * tessera::bits(operand.type));
    TESSERA_CHECK(bits % 8 == 0, "{} bits of {}", bits, facts.name);
    return bits / 8;
}

void quantise_blocks(ops::WeightFormat format, size_t first, size_t last, const ReadElements& read,
                     OperandBytes& to) {
    const ops::WeightFormatInfo& facts = ops::info(format);
    const auto elements = static_cast<size_t>(facts.block);
    std::array<float, QuantisedBlock::kMostElements> x{};
    QuantisedBlock block{};
    for (size_t b = first; b < last; ++b) {
        const auto values = std::span(x).first(elements);
        read(b * elements, values);
        quantise_block(format, values, block);
        for (size_t i = 0; i < to.size(); ++i) {
            const size_t bytes = bytes_in_block(facts, facts.operands[i]);
            const int bits = std::min(tessera::bits(facts.operands[i].type), 8);
            write_element_bits(std::span(block.operands[i]).first(bytes * 8 / static_cast<size_t>(bits)),
                               bits, std::span(to[i]).subspan(b * bytes, bytes));
        }
    }
}

}  // namespace

OperandBytes quantise_rows(ops::WeightFormat format, size_t elements, const ReadElements& read, int workers) {
    const ops::WeightFormatInfo& facts = ops::info(format);
    const size_t blocks = elements / static_cast<size_t>(facts.block);
    TESSERA_CHECK(blocks * static_cast<size_t>(facts.block) == elements && workers >= 1, "{} elements of {}",
                  elements, facts.name);
    OperandBytes result;
    for (const ops::WeightOperand& operand : facts.operands)
        result.emplace_back(blocks * bytes_in_block(facts, operand));
    const auto count = std::clamp<size_t>(static_cast<size_t>(workers), 1, std::max<size_t>(blocks, 1));
    run_at_once(count, [&](size_t w) {
        quantise_blocks(format, blocks * w / count, blocks * (w + 1) / count, read, result);
    });
    return result;
}

}  // namespace tessera::quantise
