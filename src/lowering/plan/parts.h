#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::plan {

/// The key in `tensors` for the parts of a value: the part that each worker has folded, where a reduction is
/// divided between them. In F32, a copy for each worker.
std::string parts_of(std::string_view value);
/// The value whose parts the key stands for; nothing for a key of another kind.
std::optional<std::string> whole_of(std::string_view key);

}  // namespace tessera::plan
