#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera::ntt {

/// Numbers in [-1, 1), the same on every machine.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
    float next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<float>(static_cast<int32_t>(state_ >> 40) - (1 << 23)) * 0x1p-23f;
    }
    std::vector<float> numbers(int64_t n) {
        std::vector<float> v(static_cast<size_t>(n));
        for (float& x : v) x = next();
        return v;
    }

private:
    uint64_t state_;
};

/// `n` elements between two guard zones that must stay as they are. Inputs are plain vectors of the exact
/// size instead: AddressSanitizer sees reads beyond them.
template <class T = float>
class Guarded {
public:
    explicit Guarded(int64_t n, T value = T{}) : n_(n), all_(static_cast<size_t>(n + 2 * kGuard), kPattern) {
        for (int64_t i = 0; i < n; ++i) data()[i] = value;
    }
    explicit Guarded(const std::vector<T>& values) : Guarded(static_cast<int64_t>(values.size())) {
        for (int64_t i = 0; i < n_; ++i) data()[i] = values[static_cast<size_t>(i)];
    }
    T* data() { return all_.data() + kGuard; }
    T operator[](int64_t i) const { return all_[static_cast<size_t>(i + kGuard)]; }
    bool guards_are_intact() const {
        for (int64_t i = 0; i < kGuard; ++i) {
            if (all_[static_cast<size_t>(i)] != kPattern || (*this)[n_ + i] != kPattern) return false;
        }
        return true;
    }

    static constexpr T kPattern = T(-77777);

private:
    static constexpr int64_t kGuard = 128;
    int64_t n_;
    std::vector<T> all_;
};

/// Numbers that end where a page without access begins: a read beyond them ends the program.
template <class T>
class AtPageEnd {
public:
    explicit AtPageEnd(const std::vector<T>& values) {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        const size_t bytes = values.size() * sizeof(T), pages = (bytes + page - 1) / page;
        size_ = (pages + 1) * page;
        begin_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (begin_ == MAP_FAILED) throw std::bad_alloc();
        char* end = static_cast<char*>(begin_) + pages * page;
        if (mprotect(end, page, PROT_NONE) != 0) throw std::bad_alloc();
        data_ = reinterpret_cast<T*>(end - bytes);
        if (bytes > 0) std::memcpy(data_, values.data(), bytes);
    }
    ~AtPageEnd() { munmap(begin_, size_); }
    AtPageEnd(const AtPageEnd&) = delete;
    AtPageEnd& operator=(const AtPageEnd&) = delete;

    const T* data() const { return data_; }

private:
    void* begin_;
    size_t size_;
    T* data_;
};

inline uint32_t bits_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float float_of(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

/// Equal to the last bit; one NaN is as good as another.
inline bool same(float a, float b) {
    return bits_of(a) == bits_of(b) || (a != a && b != b);
}

}  // namespace tessera::ntt
