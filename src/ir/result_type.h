#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/definition.h"
#include "ir/tensor_type.h"

namespace tessera {

/// The type of a tensor of a definition with its dims left symbolic: row-major, each extent a constant or a
/// multiple of one symbol. Without `of`, an axis whose component is one iterator has that iterator's extent,
/// and one that reads only iterators of constant extent has 1 + its largest coordinate.
/// @throws Error if an extent has another form, such as T + 1; `where` names the operator's source.
TensorType type_of(const Definition& definition, int tensor, const std::string& where);

/// Its shape; empty where an extent has such a form.
std::optional<std::vector<Dim>> shape_of(const Definition& definition, int tensor);

}  // namespace tessera
