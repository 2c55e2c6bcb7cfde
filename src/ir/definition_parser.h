#pragma once

#include <string>

#include "ir/definition.h"

namespace tessera {

/// As the public ones (definition.h); a broken rule is reported with its line where one is known.
void verify_at(const Definition& definition, const std::string& where, const DefinitionLines& lines);
void verify_test_at(const DefinitionFile& file, const std::string& where);

/// "file.op:3", or "file.op" for line 0.
std::string place(const std::string& source, int line);
/// The line at this position, or 0.
int line_at(const std::vector<int>& lines, size_t position);

}  // namespace tessera
