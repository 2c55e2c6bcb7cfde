#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace tessera {

/// XXH3 with 128 bits: fast, stable across platforms and versions of xxHash since 0.8, and wide enough that
/// equal digests mean equal content. Not a defence against someone who wants a collision.
class Hasher {
public:
    Hasher();

    /// Appends the bytes to the hashed stream; where calls split it does not matter.
    Hasher& bytes(std::span<const std::byte> part);
    Hasher& bytes(std::string_view part);

    /// Appends the length and then the bytes, so that the fields "ab", "c" differ from "a", "bc".
    Hasher& field(std::string_view value);

    /// 32 lower-case hexadecimal digits of everything appended so far.
    std::string hex() const;

private:
    struct Free {
        void operator()(XXH3_state_s* state) const;
    };
    std::unique_ptr<XXH3_state_s, Free> state_;
};

/// Hasher().bytes(content).hex()
std::string hash_hex(std::string_view content);

}  // namespace tessera
