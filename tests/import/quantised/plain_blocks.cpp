#include "import/quantised/plain_blocks.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

namespace tessera::testing {
namespace {

struct Q8Block {
    uint16_t d;
    int8_t qs[32];
};
struct Q4Block {
    uint16_t d;
    uint8_t qs[16];
};
struct Q4MinBlock {
    uint16_t d, m;
    uint8_t qs[16];
};
struct Q5Block {
    uint16_t d;
    uint8_t qh[4], qs[16];
};
struct Q5MinBlock {
    uint16_t d, m;
    uint8_t qh[4], qs[16];
};
struct Fp4Block {
    uint8_t e, qs[16];
};
struct Q2SuperBlock {
    uint8_t scales[16], qs[64];
    uint16_t d, dmin;
};
struct Q3SuperBlock {
    uint8_t hmask[32], qs[64], scales[12];
    uint16_t d;
};
struct Q4SuperBlock {
    uint16_t d, dmin;
    uint8_t scales[12], qs[128];
};
struct Q5SuperBlock {
    uint16_t d, dmin;
    uint8_t scales[12], qh[32], qs[128];
};
struct Q6SuperBlock {
    uint8_t ql[128], qh[64];
    int8_t scales[16];
    uint16_t d;
};

/// The largest |q s| of a block, by which random scales are divided.
struct Type {
    int64_t elements;
    size_t bytes;
    std::vector<size_t> halves;  ///< offsets of the F16 fields
    std::vector<double> largest;
    std::function<void(const char*, std::vector<float>&)> decode;
};

template <typename Block>
Block load(const char* bytes) {
    Block block;
    std::memcpy(&block, bytes, sizeof(block));
    return block;
}

int nibble(const uint8_t* qs, int i) {
    return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4;
}

int fifth_bit(const uint8_t* qh, int i) {
    uint32_t bits = 0;
    std::memcpy(&bits, qh, sizeof(bits));
    return static_cast<int>(bits >> i & 1) << 4;
}

/// get_scale_min_k4.
std::pair<int, int> scale_and_minimum(int j, const uint8_t* q) {
    if (j < 4) return {q[j] & 63, q[j + 4] & 63};
    return {(q[j + 4] & 15) | (q[j - 4] >> 6) << 4, q[j + 4] >> 4 | (q[j] >> 6) << 4};
}

void add(std::vector<float>& to, double value) {
    to.push_back(static_cast<float>(value));
}

/// Calls `each` with all elements of a super-block in order: group of 32, position in it, byte of qs, upper
/// half.
void for_super_block(const std::function<void(int, int, int, bool)>& each) {
    for (int chunk = 0; chunk < 4; ++chunk)
        for (const bool upper : {false, true})
            for (int l = 0; l < 32; ++l) each(2 * chunk + (upper ? 1 : 0), l, 32 * chunk + l, upper);
}

/// dequantize_row_q2_K.
void decode_q2_k(const char* bytes, std::vector<float>& to) {
    const auto b = load<Q2SuperBlock>(bytes);
    int is = 0;
    for (const uint8_t* q : {b.qs, b.qs + 32})
        for (int shift = 0; shift < 8; shift += 2)
            for (int half = 0; half < 2; ++half) {
                const uint8_t sc = b.scales[is++];
                for (int l = 16 * half; l < 16 * half + 16; ++l)
                    add(to,
                        half_value(b.d) * (sc & 15) * (q[l] >> shift & 3) - half_value(b.dmin) * (sc >> 4));
            }
}

/// dequantize_row_q3_K, with its masks on words of four scales.
void decode_q3_k(const char* bytes, std::vector<float>& to) {
    const auto b = load<Q3SuperBlock>(bytes);
    uint32_t aux[4];
    std::memcpy(aux, b.scales, 12);
    const uint32_t tmp = aux[2], kmask1 = 0x03030303, kmask2 = 0x0f0f0f0f;
    aux[2] = (aux[0] >> 4 & kmask2) | (tmp >> 4 & kmask1) << 4;
    aux[3] = (aux[1] >> 4 & kmask2) | (tmp >> 6 & kmask1) << 4;
    aux[0] = (aux[0] & kmask2) | (tmp & kmask1) << 4;
    aux[1] = (aux[1] & kmask2) | (tmp >> 2 & kmask1) << 4;
    int8_t scales[16];
    std::memcpy(scales, aux, 16);
    int is = 0;
    uint8_t m = 1;
    for (const uint8_t* q : {b.qs, b.qs + 32})
        for (int shift = 0; shift < 8; shift += 2, m = static_cast<uint8_t>(m << 1))
            for (int half = 0; half < 2; ++half) {
                const double dl = half_value(b.d) * (scales[is++] - 32);
                for (int l = 16 * half; l < 16 * half + 16; ++l)
                    add(to, dl * ((q[l] >> shift & 3) - ((b.hmask[l] & m) != 0 ? 0 : 4)));
            }
}

void decode_q4_k(const char* bytes, std::vector<float>& to) {
    const auto b = load<Q4SuperBlock>(bytes);
    for_super_block([&](int group, int, int byte, bool upper) {
        const auto [s, m] = scale_and_minimum(group, b.scales);
        const int q = upper ? b.qs[byte] >> 4 : b.qs[byte] & 15;
        add(to, half_value(b.d) * s * q - half_value(b.dmin) * m);
    });
}

void decode_q5_k(const char* bytes, std::vector<float>& to) {
    const auto b = load<Q5SuperBlock>(bytes);
    for_super_block([&](int group, int l, int byte, bool upper) {
        const auto [s, m] = scale_and_minimum(group, b.scales);
        const int q = (upper ? b.qs[byte] >> 4 : b.qs[byte] & 15) + ((b.qh[l] & 1 << group) != 0 ? 16 : 0);
        add(to, half_value(b.d) * s * q - half_value(b.dmin) * m);
    });
}

void decode_q6_k(const char* bytes, std::vector<float>& to) {
    const auto b = load<Q6SuperBlock>(bytes);
    for (int n = 0; n < 2; ++n) {
        const uint8_t* ql = b.ql + 64 * n;
        const uint8_t* qh = b.qh + 32 * n;
        const int8_t* sc = b.scales + 8 * n;
        std::vector<float> out(128);
        for (int l = 0; l < 32; ++l) {
            const int q[4] = {
                ((ql[l] & 15) | (qh[l] & 3) << 4) - 32, ((ql[l + 32] & 15) | (qh[l] >> 2 & 3) << 4) - 32,
                (ql[l] >> 4 | (qh[l] >> 4 & 3) << 4) - 32, (ql[l + 32] >> 4 | (qh[l] >> 6 & 3) << 4) - 32};
            for (int j = 0; j < 4; ++j)
                out[static_cast<size_t>(32 * j + l)] =
                    static_cast<float>(half_value(b.d) * sc[l / 16 + 2 * j] * q[j]);
        }
        to.insert(to.end(), out.begin(), out.end());
    }
}

const std::map<std::string, Type>& types() {
    static const std::map<std::string, Type> all = {
        {"Q8_0",
         {32,
          sizeof(Q8Block),
          {0},
          {128},
          [](const char* bytes, std::vector<float>& to) {
              const auto b = load<Q8Block>(bytes);
              for (const int8_t q : b.qs) add(to, q * half_value(b.d));
          }}},
        {"Q4_0",
         {32,
          sizeof(Q4Block),
          {0},
          {8},
          [](const char* bytes, std::vector<float>& to) {
              const auto b = load<Q4Block>(bytes);
              for (int i = 0; i < 32; ++i) add(to, (nibble(b.qs, i) - 8) * half_value(b.d));
          }}},
        {"Q4_1",
         {32,
          sizeof(Q4MinBlock),
          {0, 2},
          {15, 1},
          [](const char* bytes, std::vector<float>& to) {
              const auto b = load<Q4MinBlock>(bytes);
              for (int i = 0; i < 32; ++i) add(to, nibble(b.qs, i) * half_value(b.d) + half_value(b.m));
          }}},
        {"Q5_0",
         {32,
          sizeof(Q5Block),
          {0},
          {16},
          [](const char* bytes, std::vector<float>& to) {
              const auto b = load<Q5Block>(bytes);
              for (int i = 0; i < 32; ++i)
                  add(to, ((nibble(b.qs, i) | fifth_bit(b.qh, i)) - 16) * half_value(b.d));
          }}},
        {"Q5_1",
         {32,
          sizeof(Q5MinBlock),
          {0, 2},
          {31, 1},
          [](const char* bytes, std::vector<float>& to) {
              const auto b = load<Q5MinBlock>(bytes);
              for (int i = 0; i < 32; ++i)
                  add(to, (nibble(b.qs, i) | fifth_bit(b.qh, i)) * half_value(b.d) + half_value(b.m));
          }}},
        {"IQ4_NL",
         {32,
          sizeof(Q4Block),
          {0},
          {127},
          [](const char* bytes, std::vector<float>& to) {
              constexpr int kValues[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                         1,    13,   25,  38,  53,  69,  89,  113};
              const auto b = load<Q4Block>(bytes);
              for (int i = 0; i < 32; ++i) add(to, kValues[nibble(b.qs, i)] * half_value(b.d));
          }}},
        {"MXFP4",
         {32,
          sizeof(Fp4Block),
          {},
          {},
          [](const char* bytes, std::vector<float>& to) {
              constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
              const auto b = load<Fp4Block>(bytes);
              for (int i = 0; i < 32; ++i) {
                  const int q = nibble(b.qs, i);
                  add(to, std::ldexp((q < 8 ? 1 : -1) * kValues[q & 7], b.e - 127));
              }
          }}},
        {"Q2_K", {256, sizeof(Q2SuperBlock), {80, 82}, {3 * 15, 15}, decode_q2_k}},
        {"Q3_K", {256, sizeof(Q3SuperBlock), {108}, {4 * 32}, decode_q3_k}},
        {"Q4_K", {256, sizeof(Q4SuperBlock), {0, 2}, {15 * 63, 63}, decode_q4_k}},
        {"Q5_K", {256, sizeof(Q5SuperBlock), {0, 2}, {31 * 63, 63}, decode_q5_k}},
        {"Q6_K", {256, sizeof(Q6SuperBlock), {208}, {32 * 128}, decode_q6_k}},
    };
    return all;
}

}  // namespace

const std::vector<std::string>& quantised_types() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> found;
        for (const auto& [name, type] : types()) found.push_back(name);
        return found;
    }();
    return names;
}

int64_t block_elements(const std::string& type) {
    return types().at(type).elements;
}

size_t block_bytes(const std::string& type) {
    return types().at(type).bytes;
}

std::vector<float> dequantised(const std::string& type, const std::string& blocks) {
    const Type& facts = types().at(type);
    std::vector<float> values;
    for (size_t at = 0; at < blocks.size(); at += facts.bytes) facts.decode(blocks.data() + at, values);
    return values;
}

std::string random_blocks(const std::string& type, int64_t elements, Halves halves, std::mt19937_64& random) {
    const Type& facts = types().at(type);
    std::string bytes(static_cast<size_t>(elements / facts.elements) * facts.bytes, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (halves == Halves::kAny) return bytes;
    if (type == "MXFP4")
        for (size_t block = 0; block < bytes.size(); block += facts.bytes)
            bytes[block] = static_cast<char>(121 + random() % 3);
    for (size_t block = 0; block < bytes.size(); block += facts.bytes)
        for (size_t i = 0; i < facts.halves.size(); ++i) {
            const double unit = static_cast<double>(random() >> 40) / (1 << 24) - 0.5;
            const uint16_t pattern = half_pattern(0.2 * unit / facts.largest[i]);
            std::memcpy(bytes.data() + block + facts.halves[i], &pattern, sizeof(pattern));
        }
    return bytes;
}

double half_value(uint16_t pattern) {
    const int exponent = pattern >> 10 & 31, fraction = pattern & 1023;
    const double sign = pattern >> 15 != 0 ? -1 : 1;
    if (exponent == 31)
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

uint16_t half_pattern(double value) {
    const double magnitude = std::fabs(value);
    const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
    // The fraction may round up to 2048: the carry goes into the exponent, as it should.
    const auto fraction = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    const uint32_t bits =
        fraction < 1024 ? fraction : (static_cast<uint32_t>(exponent + 15) << 10) + fraction - 1024;
    return static_cast<uint16_t>(bits | (std::signbit(value) ? 0x8000U : 0U));
}

}  // namespace tessera::testing
