#include "import/expected_checkpoint.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "import/gguf_builder.h"
#include "import/random_checkpoint.h"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// `values` of make.py.
std::vector<float> values_of(const std::string& name, const std::vector<int64_t>& shape, float center) {
    uint64_t seed = 0xCBF29CE484222325;
    for (const char byte : name) seed = (seed ^ static_cast<uint8_t>(byte)) * 0x100000001B3;
    const bool is_scale = shape.size() == 1 && (name.ends_with("weight") || name.ends_with("layer_scalar"));
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::vector<float> values;
    for (int64_t i = 1; i <= count; ++i) {
        uint64_t x = seed + 0x9E3779B97F4A7C15 * static_cast<uint64_t>(i);
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
        x = (x ^ x >> 27) * 0x94D049BB133111EB;
        x ^= x >> 31;
        const float y = static_cast<float>(x >> 40) / float{1 << 24} - 0.5F;
        values.push_back(is_scale ? center + 0.5F * y : y);
    }
    return values;
}

NamedTensor random_tensor(const json& variant, const std::string& name) {
    const auto shape = variant.at("tensors").at(name).get<std::vector<int64_t>>();
    return {.shape = shape, .values = values_of(name, shape, variant.at("center"))};
}

/// Rows [first, last) of each head, as a matrix of its own: "rows 4 to 9 of 6"; "turned rows ..": transposed.
NamedTensor rows_of_heads(const NamedTensor& tensor, const std::string& how) {
    int64_t first = 0, last = 0, heads = 0;
    const bool is_turned = how.starts_with("turned ");
    std::istringstream words(how.substr(how.find("rows ") + 5));
    std::string word;
    words >> first >> word >> last >> word >> heads;
    const int64_t columns = tensor.shape.back(), all = tensor.shape.front() / heads, rows = last - first;
    NamedTensor made{.shape = {heads, is_turned ? columns : rows, is_turned ? rows : columns}, .values = {}};
    for (int64_t head = 0; head < heads; ++head)
        for (int64_t n = 0; n < made.shape[1]; ++n)
            for (int64_t k = 0; k < made.shape[2]; ++k) {
                const int64_t row = head * all + first + (is_turned ? k : n), column = is_turned ? n : k;
                made.values.push_back(tensor.values[static_cast<size_t>(row * columns + column)]);
            }
    return made;
}

/// The tensor as the converter to GGUF changes it.
NamedTensor converted(NamedTensor tensor, const std::string& how) {
    if (how.find("rows ") != std::string::npos) return rows_of_heads(tensor, how);
    if (how == "plus one")
        for (float& value : tensor.values) value += 1;
    const int64_t rows = tensor.shape.front(), columns = tensor.shape.back();
    const std::vector<float> old = tensor.values;
    if (how == "transposed") {
        for (int64_t n = 0; n < columns; ++n)
            for (int64_t k = 0; k < rows; ++k)
                tensor.values[static_cast<size_t>(n * rows + k)] = old[static_cast<size_t>(k * columns + n)];
        tensor.shape = {columns, rows};
    }
    // Halves (d, d + width / 2) of each head become pairs (2 i, 2 i + 1).
    if (how.starts_with("pairs of ")) {
        const int64_t width = rows / std::stoll(how.substr(9));
        for (int64_t row = 0; row < rows; ++row) {
            const int64_t d = row % width, from = row - d + d % 2 * (width / 2) + d / 2;
            std::copy_n(old.begin() + from * columns, columns, tensor.values.begin() + row * columns);
        }
    }
    return tensor;
}

/// The matrices of all experts, or streams, whose first one is named.
NamedTensor stacked(const json& variant, std::string name, int64_t experts) {
    const size_t number = name.rfind(".0.") + 1;
    NamedTensor all;
    for (int64_t i = 0; i < experts; ++i) {
        const NamedTensor one =
            random_tensor(variant, name.replace(number, name.find('.', number) - number, std::to_string(i)));
        all.shape = {experts, one.shape[0], one.shape[1]};
        all.values.insert(all.values.end(), one.values.begin(), one.values.end());
    }
    return all;
}

std::string bytes_of_values(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace

json expected_variant(const fs::path& source, const std::string& name) {
    return json::parse(std::ifstream(source / "tests/import/expected" / (name + ".json")));
}

void write_variant_gguf(const json& variant, const fs::path& file,
                        const std::function<void(GgufForm&)>& change) {
    const json& form = variant.at("gguf");
    GgufForm made{.metadata = form.at("metadata"), .tensors = {}};
    for (const auto& [name, source] : form.at("tensors").items()) {
        const std::string how = source.at(1);
        made.tensors[name] = how.starts_with("stack of ")
                                 ? stacked(variant, source.at(0), std::stoll(how.substr(9)))
                                 : converted(random_tensor(variant, source.at(0)), how);
    }
    for (const auto& [name, values] : form.at("values").items())
        made.tensors[name] = {.shape = {std::ssize(values)}, .values = values};
    if (change) change(made);

    const std::string architecture = form.at("architecture");
    test::GgufBuilder builder;
    builder.string("general.architecture", architecture);
    for (const auto& [suffix, value] : made.metadata.items()) {
        const std::string key = architecture + "." + suffix;
        if (value.is_string()) builder.string(key, value.get<std::string>());
        if (value.is_boolean()) builder.boolean(key, value);
        if (value.is_number_integer()) builder.u32(key, value);
        if (value.is_number_float()) builder.f32(key, value);
        if (!value.is_array() || value.empty()) continue;
        if (value.front().is_boolean()) builder.numbers<uint8_t>(key, 7, value);
        if (value.front().is_number_integer()) builder.numbers<int32_t>(key, 5, value);
        if (value.front().is_number_float()) builder.numbers<float>(key, 6, value);
    }
    std::string data;
    for (const auto& [name, tensor] : made.tensors) {
        data.resize((data.size() + 31) / 32 * 32, '\0');
        builder.tensor(name, {tensor.shape.rbegin(), tensor.shape.rend()}, 0, data.size());
        data += bytes_of_values(tensor.values);
    }
    write_file(file, builder.data(data).build());
}

std::map<std::string, NamedTensor> variant_tensors(const json& variant) {
    std::map<std::string, NamedTensor> tensors;
    for (const auto& [name, shape] : variant.at("tensors").items())
        tensors[name] = random_tensor(variant, name);
    return tensors;
}

void write_variant_folder(const json& variant, const fs::path& folder) {
    write_file(folder / "config.json", variant.at("config").dump(2));
    write_file(folder / "model.safetensors", safetensors_of(variant_tensors(variant)));
}

}  // namespace tessera::testing
