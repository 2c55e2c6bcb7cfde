#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ir/definition.h"
#include "ir/interpreter.h"

namespace tessera {

std::string text_of(const std::filesystem::path& file);
/// The files of a folder with this extension (".op"), sorted.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::string& extension);

/// tests/ir/definitions
std::filesystem::path definitions_folder();
/// The operator zoo beside the checkout; it need not be there.
std::filesystem::path zoo_folder();

/// Parsed, bound, checked and run on its test contents.
struct InterpretedFile {
    DefinitionFile file;
    BoundExtents extents;
    std::vector<TensorData> results;
};
InterpretedFile interpret_text(const std::string& text, const std::string& where = "test.op");

/// The message of the Error that parsing, binding or checking gives, "" if there is none.
std::string error_of(const std::string& text);

}  // namespace tessera
