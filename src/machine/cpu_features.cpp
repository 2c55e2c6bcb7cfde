#include "machine/cpu_features.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace tessera::machine {
namespace {

struct Feature {
    std::string_view linux_name;  ///< in /proc/cpuinfo
    std::string_view flag;        ///< of GCC (12 or newer) and Clang
};

// Features from which transformers gain: wide vectors, fused multiply-add, conversions and dot products of
// small types, and the bit tricks of quantised weights. A feature of a later compiler than GCC 12 must not be
// here.
constexpr std::array kX86Features = {
    Feature{"pni", "-msse3"},
    Feature{"ssse3", "-mssse3"},
    Feature{"sse4_1", "-msse4.1"},
    Feature{"sse4_2", "-msse4.2"},
    Feature{"popcnt", "-mpopcnt"},
    Feature{"avx", "-mavx"},
    Feature{"f16c", "-mf16c"},
    Feature{"fma", "-mfma"},
    Feature{"avx2", "-mavx2"},
    Feature{"bmi1", "-mbmi"},
    Feature{"bmi2", "-mbmi2"},
    Feature{"avx_vnni", "-mavxvnni"},
    Feature{"avx512f", "-mavx512f"},
    Feature{"avx512cd", "-mavx512cd"},
    Feature{"avx512bw", "-mavx512bw"},
    Feature{"avx512dq", "-mavx512dq"},
    Feature{"avx512vl", "-mavx512vl"},
    Feature{"avx512vbmi", "-mavx512vbmi"},
    Feature{"avx512_vnni", "-mavx512vnni"},
    Feature{"avx512_bf16", "-mavx512bf16"},
    Feature{"avx512_fp16", "-mavx512fp16"},
    Feature{"amx_tile", "-mamx-tile"},
    Feature{"amx_bf16", "-mamx-bf16"},
    Feature{"amx_int8", "-mamx-int8"},
};

// AArch64 has one flag for all: an architecture with extensions. Advanced SIMD is in every one of them.
constexpr std::string_view kArmBaseline = "-march=armv8-a";

std::vector<OperandLanes> uniform_operands(std::string_view type, const std::vector<LaneAxis>& lanes) {
    std::vector<OperandLanes> operands;
    for (const char* name : {"A", "B", "C"}) operands.push_back({name, std::string(type), lanes});
    return operands;
}

ComputeUnit scalar_unit(int64_t registers) {
    return {.name = "scalar",
            .kind = UnitKind::kScalar,
            .operands = uniform_operands("f32", {}),
            .registers = registers,
            .strided_rows = true};
}

ComputeUnit vector_unit(std::string_view name, int64_t lanes, int64_t registers) {
    return {.name = std::string(name),
            .kind = UnitKind::kVector,
            .operands = uniform_operands("f32", {{'i', lanes}}),
            .registers = registers};
}

// Intel, Instruction Set Extensions: VDPBF16PS adds the products of `neighbours` = 2 neighbours to each of
// its lanes, VPDPBUSD those of 4.
ComputeUnit dot_product_unit(std::string_view name, std::array<const char*, 3> types, int64_t lanes,
                             int64_t neighbours, int64_t registers) {
    const std::vector<LaneAxis> factor = {{'i', lanes}, {'k', neighbours}};
    return {.name = std::string(name),
            .kind = UnitKind::kVector,
            .operands = {{"A", types[0], factor}, {"B", types[1], factor}, {"C", types[2], {{'i', lanes}}}},
            .registers = registers};
}

// Intel, Instruction Set Extensions, chapter 3: TDPBF16PS and TDPBSSD of full tiles, 16 rows of 64 bytes. B
// holds `neighbours` rows interleaved; rows are 64 bytes at any stride.
ComputeUnit amx_unit(std::string_view name, const char* factors, const char* sums, int64_t neighbours) {
    return {.name = std::string(name),
            .kind = UnitKind::kMatrix,
            .operands = {{"A", factors, {{'m', 16}, {'k', 16 * neighbours}}},
                         {"B", factors, {{'k', 16}, {'n', 16}, {'k', neighbours}}},
                         {"C", sums, {{'m', 16}, {'n', 16}}}},
            .registers = 8,
            .strided_rows = true};
}

bool has_all(const std::set<std::string>& features, std::initializer_list<const char*> wanted) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const char* name) { return features.contains(name); });
}

}  // namespace

std::set<std::string> parse_cpuinfo(std::string_view cpuinfo) {
    std::istringstream lines{std::string(cpuinfo)};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
        const size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        std::istringstream words(line.substr(colon + 1));
        std::set<std::string> features;
        for (std::string word; words >> word;) features.insert(word);
        return features;
    }
    return {};
}

std::vector<std::string> feature_flags(Isa isa, const std::set<std::string>& features) {
    if (isa == Isa::kAArch64) return {std::string(kArmBaseline)};
    std::vector<std::string> flags;
    for (const Feature& feature : kX86Features)
        if (features.contains(std::string(feature.linux_name))) flags.emplace_back(feature.flag);
    return flags;
}

std::vector<std::string> missing_features(Isa isa, const std::vector<std::string>& flags,
                                          const std::set<std::string>& features) {
    std::vector<std::string> missing;
    for (const std::string& flag : flags) {
        if (isa == Isa::kAArch64 && flag == kArmBaseline) continue;
        if (flag.starts_with("-mtune=")) continue;  // chooses among instructions that are there anyway
        const auto known = std::find_if(kX86Features.begin(), kX86Features.end(),
                                        [&](const Feature& feature) { return feature.flag == flag; });
        const bool is_there = isa == Isa::kX86_64 && known != kX86Features.end() &&
                              features.contains(std::string(known->linux_name));
        if (!is_there) missing.push_back(flag);
    }
    return missing;
}

std::vector<ComputeUnit> feature_units(Isa isa, const std::set<std::string>& features) {
    if (isa == Isa::kAArch64) return {scalar_unit(32), vector_unit("neon", 4, 32)};
    // The condition of include/tessera/ntt/register.h, so that plan and code agree on the width.
    if (has_all(features, {"avx512f", "avx512vl", "avx512dq", "avx512bw", "fma"})) {
        std::vector<ComputeUnit> units = {scalar_unit(32), vector_unit("avx512", 16, 32)};
        if (features.contains("avx512_bf16"))
            units.push_back(dot_product_unit("avx512-bf16", {"bf16", "bf16", "f32"}, 16, 2, 32));
        if (features.contains("avx512_vnni"))
            units.push_back(dot_product_unit("avx512-vnni", {"u8", "i8", "i32"}, 16, 4, 32));
        if (has_all(features, {"amx_tile", "amx_bf16"}))
            units.push_back(amx_unit("amx-bf16", "bf16", "f32", 2));
        if (has_all(features, {"amx_tile", "amx_int8"}))
            units.push_back(amx_unit("amx-int8", "i8", "i32", 4));
        return units;
    }
    if (has_all(features, {"avx2", "fma"})) {
        std::vector<ComputeUnit> units = {scalar_unit(16), vector_unit("avx2", 8, 16)};
        if (features.contains("avx_vnni"))
            units.push_back(dot_product_unit("avx-vnni", {"u8", "i8", "i32"}, 8, 4, 16));
        return units;
    }
    return {scalar_unit(16), vector_unit("sse2", 4, 16)};
}

}  // namespace tessera::machine
