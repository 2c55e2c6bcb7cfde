#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Quantised weights as ggml's block structures state them, decoded by plain loops that share no code with
/// the product. Source: ggml-common.h, and dequantize_row_* of ggml-quants.c.
namespace tessera::testing {

/// "Q8_0", "Q4_0", ..
const std::vector<std::string>& quantised_types();
int64_t block_elements(const std::string& type);
size_t block_bytes(const std::string& type);

/// The values of a row of blocks, each rounded to F32 once.
std::vector<float> dequantised(const std::string& type, const std::string& blocks);

/// The numbers that the F16 fields of random blocks hold.
enum class Halves : uint8_t {
    kAny,     ///< any pattern of bits
    kWeights  ///< such that the values of a block are about -0.1 to 0.1, as in a trained model
};
/// Blocks of random bits.
std::string random_blocks(const std::string& type, int64_t elements, Halves halves, std::mt19937_64& random);

/// IEEE 754 binary16.
double half_value(uint16_t pattern);
/// The nearest one of a finite number, ties to even.
uint16_t half_pattern(double value);

}  // namespace tessera::testing
