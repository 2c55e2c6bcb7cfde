#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>
#if defined(TESSERA_NTT_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#endif

// The same tests are built once for each instruction set. This file is built for the plain machine: it runs
// before anything else does and leaves with CTest's "skipped" where the processor lacks the instructions of
// the others.

namespace {

constexpr int kSkipped = 77;

bool processor_has_them() {
#if defined(TESSERA_NTT_AMX)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kTilesAndBf16 = 1u << 24 | 1u << 22;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTilesAndBf16) != kTilesAndBf16) return false;
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

// Before the static objects of the other files, whose construction may use the instructions in question.
[[gnu::constructor(101)]] void leave_unless_supported() {
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    if (processor_has_them()) return;
    const char* text = "skipped: this processor lacks the instruction set\n";
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(1);
    _exit(kSkipped);
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
