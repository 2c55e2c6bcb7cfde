#include "ir/fixtures.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/error.h"
#include "support/shared_data.h"

namespace tessera {

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    TESSERA_CHECK(in.good(), "{} cannot be read", file.string());
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::string& extension) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

std::filesystem::path definitions_folder() {
    return std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/ir/definitions";
}

std::filesystem::path zoo_folder() {
    return test::shared_data("zoo");
}

InterpretedFile interpret_text(const std::string& text, const std::string& where) {
    DefinitionFile file = parse_definition_file(text, where);
    BoundExtents extents = bound_extents(file, where);
    check_bound(file, extents, where);
    std::vector<TensorData> results =
        interpret(file.definition, extents, test_contents(file, extents, where), where);
    return {std::move(file), std::move(extents), std::move(results)};
}

std::string error_of(const std::string& text) {
    try {
        const DefinitionFile file = parse_definition_file(text, "case.op");
        check_bound(file, bound_extents(file, "case.op"), "case.op");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace tessera
