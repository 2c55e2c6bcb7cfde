#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::arrays {

bool is_npz(std::span<const std::byte> file);
/// The NumPy file of an archive, as `numpy.savez` or `savez_compressed` writes it, that has the array `name`;
/// where it has but one array, that. The file may be hostile.
/// @param most_bytes of the member, unpacked @throws Error naming `where`, and the arrays that there are
std::vector<std::byte> npz_member(std::span<const std::byte> file, const std::string& name,
                                  uint64_t most_bytes, const std::string& where);

}  // namespace tessera::arrays
