#include "support/hash.h"

#include <cstdint>
#include <new>

#include <fmt/core.h>
#include <xxhash.h>

namespace tessera {

void Hasher::Free::operator()(XXH3_state_s* state) const {
    XXH3_freeState(state);
}

Hasher::Hasher() : state_(XXH3_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
}

Hasher& Hasher::bytes(std::span<const std::byte> part) {
    if (!part.empty()) XXH3_128bits_update(state_.get(), part.data(), part.size());
    return *this;
}

Hasher& Hasher::bytes(std::string_view part) {
    return bytes(std::as_bytes(std::span(part)));
}

Hasher& Hasher::field(std::string_view value) {
    const uint64_t length = value.size();
    return bytes(std::as_bytes(std::span(&length, 1))).bytes(value);
}

std::string Hasher::hex() const {
    const XXH128_hash_t digest = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

std::string hash_hex(std::string_view content) {
    return Hasher().bytes(content).hex();
}

}  // namespace tessera
