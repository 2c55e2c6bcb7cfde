#pragma once

#include <cstdlib>
#include <memory>
#include <type_traits>

#include "tessera/ntt/ntt.h"

struct FreePages {
    void operator()(void* p) const { std::free(p); }
};

/// n small numbers of T, whole ones of integers. Aligned to pages, so that runs differ in nothing but the
/// kernel.
template <class T>
std::unique_ptr<T[], FreePages> page_buffer(int64_t n) {
    namespace ntt = tessera::ntt;
    constexpr float kScale = std::is_integral_v<T> ? 8.0f : 0.25f;
    const auto bytes = static_cast<size_t>(ntt::ceil_div(n * static_cast<int64_t>(sizeof(T)), 4096) * 4096);
    std::unique_ptr<T[], FreePages> p(static_cast<T*>(std::aligned_alloc(4096, bytes)));
    for (int64_t i = 0; i < n; ++i) ntt::set_element(p.get(), i, static_cast<float>(i * 7 % 11 - 5) * kScale);
    return p;
}
