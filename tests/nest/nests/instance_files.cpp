#include "nest/nests/instance_files.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "nest/nests/level_search.h"
#include "nest/nests/nest_facts.h"
#include "nest/nests/space_search.h"

namespace tessera::nests {
namespace {

using nlohmann::json;

bool is_free(const std::string& key) {
    return key == "reason" || key.ends_with("_nest") || key == "nest";
}

void compare(const json& got, const json& want, const std::string& place, std::vector<std::string>& found) {
    if (want.is_object() && got.is_object()) {
        for (const auto& [key, value] : want.items())
            if (!is_free(key))
                compare(got.contains(key) ? got[key] : json(), value, place + "." + key, found);
        return;
    }
    if (want.is_array() && got.is_array()) {
        json a = got;
        json b = want;
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        if (a != b) found.push_back(place);
        return;
    }
    const bool is_near =
        want.is_number_float() && got.is_number() &&
        std::abs(got.get<double>() - want.get<double>()) <= 1e-9 * std::abs(want.get<double>());
    if (!is_near && got != want) found.push_back(place + ": got " + got.dump() + ", expected " + want.dump());
}

}  // namespace

std::filesystem::path own_instances() {
    return std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/nest/nests/instances";
}

std::vector<std::filesystem::path> instances_in(const std::filesystem::path& folder,
                                                const std::string& extension) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == extension) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

json read_json(const std::filesystem::path& file) {
    return json::parse(read_text(file));
}

json facts_of(const std::filesystem::path& file) {
    const KernelFile read = read_kernel_file(read_text(file), file.filename().string());
    const std::string extension = file.extension().string();
    nlohmann::ordered_json facts;
    if (extension == ".space")
        facts = to_json(search(make_space(read)));
    else if (extension == ".tiers")
        facts = to_json(search(make_problem(read)));
    else if (extension == ".tier")
        facts = to_json(derive_level_facts(read), read.levels.value_or(LevelMachine{}));
    else
        facts = to_json(derive_facts(read));
    return json::parse(facts.dump());
}

std::vector<std::string> differences(const json& got, const json& want) {
    std::vector<std::string> found;
    compare(got, want, "", found);
    return found;
}

}  // namespace tessera::nests
