#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/definition.h"

namespace tessera {

/// Where the parts of a definition were read; 0 where no text was.
struct DefinitionLines {
    int op = 0;
    std::vector<int> dims;     ///< as Definition::dims
    std::vector<int> tensors;  ///< as Definition::tensors
    int body = 0;
    int where = 0;
    std::map<std::string, int> fills;
    std::map<std::string, int> tiles;
    int lanes = 0;
    int unit = 0;
};

/// As the public ones (definition.h); a broken rule is reported with its line.
void verify_at(const Definition& definition, const std::string& where, const DefinitionLines& lines);
void verify_test_at(const DefinitionFile& file, const std::string& where, const DefinitionLines& lines);

}  // namespace tessera
