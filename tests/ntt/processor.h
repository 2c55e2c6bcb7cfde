#pragma once

#if defined(TESSERA_NTT_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/// True if this processor has the instructions of the form of NTT that is tested.
inline bool processor_has_them() {
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#if defined(TESSERA_NTT_AMX)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kTilesBf16AndInt8 = 1u << 24 | 1u << 22 | 1u << 25;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTilesBf16AndInt8) != kTilesBf16AndInt8)
        return false;
    constexpr int kRequestPermission = 0x1023, kTileData = 18;  // src/machine/tile_permission.cpp
    if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) return false;
#endif
#if defined(TESSERA_NTT_AVX512_DOT) || defined(TESSERA_NTT_AMX)
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("fma");
#elif defined(TESSERA_NTT_AVX512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("fma");
#elif defined(TESSERA_NTT_AVX2)
    // Clang 14 does not know "f16c"; each processor with AVX2 has it.
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}
