#include "fuzz/allocation.h"

#include <cstdint>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace tessera::fuzz {
namespace {

// One thread: parsers start none.
size_t live = 0;
size_t base = 0;
size_t most = 0;
size_t limit = SIZE_MAX;
void (*on_exceeded)(size_t) = nullptr;

void count(size_t bytes) {
    live += bytes;
    if (live > most) most = live;
}

void* allocate(size_t bytes, size_t alignment) {
    if (limit != SIZE_MAX && (bytes > limit || live - base > limit - bytes)) {
        limit = SIZE_MAX;
        on_exceeded(live - base + bytes);
    }
    void* block = alignment <= alignof(std::max_align_t)
                      ? std::malloc(bytes == 0 ? 1 : bytes)
                      : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (block == nullptr) throw std::bad_alloc();
    count(malloc_usable_size(block));
    return block;
}

void* allocate_or_null(size_t bytes) noexcept {
    try {
        return allocate(bytes, 1);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void release(void* block) {
    if (block == nullptr) return;
    live -= malloc_usable_size(block);
    std::free(block);
}

}  // namespace

void AllocationLimit::set(size_t bytes, void (*exceeded)(size_t)) {
    base = most = live;
    limit = bytes;
    on_exceeded = exceeded;
}

void AllocationLimit::clear() {
    limit = SIZE_MAX;
}

size_t AllocationLimit::peak() {
    return most - base;
}

}  // namespace tessera::fuzz

// All forms: the sanitizers have those that are left out, which do not go together with these.
void* operator new(size_t bytes) {
    return tessera::fuzz::allocate(bytes, 1);
}
void* operator new[](size_t bytes) {
    return tessera::fuzz::allocate(bytes, 1);
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    return tessera::fuzz::allocate_or_null(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
    return tessera::fuzz::allocate_or_null(bytes);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
    return tessera::fuzz::allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
    return tessera::fuzz::allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* block) noexcept {
    tessera::fuzz::release(block);
}
void operator delete[](void* block) noexcept {
    tessera::fuzz::release(block);
}
void operator delete(void* block, size_t) noexcept {
    tessera::fuzz::release(block);
}
void operator delete[](void* block, size_t) noexcept {
    tessera::fuzz::release(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
    tessera::fuzz::release(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
    tessera::fuzz::release(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
    tessera::fuzz::release(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
    tessera::fuzz::release(block);
}
void operator delete(void* block, size_t, std::align_val_t) noexcept {
    tessera::fuzz::release(block);
}
void operator delete[](void* block, size_t, std::align_val_t) noexcept {
    tessera::fuzz::release(block);
}
