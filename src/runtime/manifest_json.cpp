#include <limits>

#include <nlohmann/json.hpp>

#include "runtime/manifest.h"
#include "support/error.h"
#include "support/json_bounds.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

/// The layout of the JSON; it changes with every change that an older run time would misread.
constexpr int64_t kManifestVersion = 1;

/// A value of the JSON with its path, so that every complaint names the field.
class Field {
public:
    Field(const Json& value, std::string path, const std::string& where)
        : value_(value), path_(std::move(path)), where_(where) {}

    Field at(const std::string& key) const {
        if (!value_.is_object()) fail("an object");
        const auto found = value_.find(key);
        const std::string path = path_.empty() ? key : path_ + "." + key;
        if (found == value_.end()) throw Error(where_, path, "is missing");
        return {*found, path, where_};
    }
    bool has(const std::string& key) const { return value_.is_object() && value_.contains(key); }
    bool is_integer() const { return value_.is_number_integer(); }
    std::vector<Field> items() const {
        if (!value_.is_array()) fail("a list");
        std::vector<Field> result;
        for (size_t i = 0; i < value_.size(); ++i)
            result.emplace_back(value_[i], fmt::format("{}[{}]", path_, i), where_);
        return result;
    }
    std::vector<std::string> keys() const {
        if (!value_.is_object()) fail("an object");
        std::vector<std::string> result;
        for (const auto& item : value_.items()) result.push_back(item.key());
        return result;
    }
    std::string text() const {
        if (!value_.is_string()) fail("a text");
        return value_.get<std::string>();
    }
    int64_t integer() const {
        const bool fits = value_.is_number_unsigned()
                              ? value_.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()}
                              : value_.is_number_integer();
        if (!fits) fail("an integer of 64 bits");
        return value_.get<int64_t>();
    }
    int32_t id() const {
        const int64_t value = integer();
        if (value < 0 || value > std::numeric_limits<int32_t>::max()) fail("a token id");
        return static_cast<int32_t>(value);
    }
    ElementType element() const {
        const std::string name = text();
        const std::optional<ElementType> type = element_type_of(name);
        if (!type) throw Error(where_, path_, fmt::format("is `{}`, which is no element type", name));
        return *type;
    }
    Dim dim() const {
        if (is_integer()) return integer();
        return {at("symbol").text(), at("factor").integer()};
    }
    std::vector<Dim> shape() const {
        std::vector<Dim> dims;
        for (const Field& item : items()) dims.push_back(item.dim());
        return dims;
    }

private:
    [[noreturn]] void fail(std::string_view expected) const {
        throw Error(where_, path_.empty() ? "manifest" : path_,
                    fmt::format("is {}, expected {}", value_.type_name(), expected));
    }

    const Json& value_;
    std::string path_;
    const std::string& where_;
};

Json json_of(const std::vector<Dim>& shape) {
    Json list = Json::array();
    for (const Dim& dim : shape) {
        if (dim.symbol)
            list.push_back({{"symbol", *dim.symbol}, {"factor", dim.factor}});
        else
            list.push_back(dim.factor);
    }
    return list;
}

Json json_of(const Manifest::Tensor& tensor) {
    return {{"name", tensor.name}, {"element", name(tensor.element)}, {"shape", json_of(tensor.shape)}};
}

Json json_of(const Manifest::State& state) {
    return {{"name", state.name},
            {"element", name(state.element)},
            {"shape", json_of(state.shape)},
            {"stored", json_of(state.stored)},
            {"repeat", state.repeat}};
}

Json json_of(const Manifest::Constant& constant) {
    return {{"name", constant.name},     {"element", name(constant.element)}, {"shape", constant.shape},
            {"layout", constant.layout}, {"offset", constant.offset},         {"bytes", constant.bytes},
            {"stride", constant.stride}, {"repeat", constant.repeat}};
}

Json json_of(const DimSymbol& symbol) {
    return {{"name", symbol.name},
            {"low", symbol.low},
            {"high", symbol.high},
            {"multiple_of", symbol.multiple_of}};
}

Json json_of(const Manifest::Specialisation& specialisation) {
    Json bounds = Json::object();
    for (const auto& [symbol, range] : specialisation.bounds) bounds[symbol] = {range.low, range.high};
    return {{"name", specialisation.name},
            {"entry", specialisation.entry},
            {"bounds", bounds},
            {"arena_bytes", specialisation.arena_bytes}};
}

Json json_of(const Manifest::Text& text) {
    Json json = {{"vocabulary", text.vocabulary}, {"context", text.context}, {"page_size", text.page_size}};
    if (text.bos) json["bos"] = *text.bos;
    json["eos"] = text.eos;
    json["policy"] = text.policy;
    return json;
}

template <class Item>
Json json_list(const std::vector<Item>& items) {
    Json list = Json::array();
    for (const Item& item : items) list.push_back(json_of(item));
    return list;
}

Manifest::Tensor tensor_of(const Field& field) {
    return {field.at("name").text(), field.at("element").element(), field.at("shape").shape()};
}

Manifest::State state_of(const Field& field) {
    return {field.at("name").text(), field.at("element").element(), field.at("shape").shape(),
            field.at("stored").shape(), field.at("repeat").integer()};
}

Manifest::Constant constant_of(const Field& field) {
    std::vector<int64_t> shape;
    for (const Field& extent : field.at("shape").items()) shape.push_back(extent.integer());
    return {field.at("name").text(),      field.at("element").element(), std::move(shape),
            field.at("layout").text(),    field.at("offset").integer(),  field.at("bytes").integer(),
            field.at("stride").integer(), field.at("repeat").integer()};
}

DimSymbol symbol_of(const Field& field) {
    return {field.at("name").text(), field.at("low").integer(), field.at("high").integer(),
            field.at("multiple_of").integer()};
}

Manifest::Specialisation specialisation_of(const Field& field, const std::string& where) {
    Manifest::Specialisation result{
        field.at("name").text(), field.at("entry").text(), {}, field.at("arena_bytes").integer()};
    const Field bounds = field.at("bounds");
    for (const std::string& symbol : bounds.keys()) {
        const std::vector<Field> range = bounds.at(symbol).items();
        if (range.size() != 2)
            throw Error(where, "specialisations." + result.name + ".bounds." + symbol,
                        fmt::format("has {} numbers, expected low and high", range.size()));
        result.bounds[symbol] = {range[0].integer(), range[1].integer()};
    }
    return result;
}

Manifest::Text text_of(const Field& field) {
    Manifest::Text text{field.at("vocabulary").integer(),
                        field.at("context").integer(),
                        field.at("page_size").integer(),
                        {},
                        {}};
    if (field.has("bos")) text.bos = field.at("bos").id();
    for (const Field& id : field.at("eos").items()) text.eos.push_back(id.id());
    text.policy = field.at("policy").text();
    return text;
}

Manifest manifest_of(const Field& root, const std::string& where) {
    const int64_t version = root.at("manifest_version").integer();
    if (version != kManifestVersion)
        throw Error(where, "manifest_version", fmt::format("is {}, expected {}", version, kManifestVersion),
                    "compile the model again with this version of Tessera");
    Manifest result;
    result.model = root.at("model").text();
    result.tessera_version = root.at("tessera_version").text();
    result.machine = root.at("machine").text();
    result.machine_hash = root.at("machine_hash").text();
    result.architecture = root.at("architecture").text();
    for (const Field& set : root.at("instruction_sets").items())
        result.instruction_sets.push_back(set.text());
    result.workers = root.at("workers").integer();
    for (const Field& symbol : root.at("symbols").items()) result.symbols.push_back(symbol_of(symbol));
    for (const Field& input : root.at("inputs").items()) result.inputs.push_back(tensor_of(input));
    for (const Field& output : root.at("outputs").items()) result.outputs.push_back(tensor_of(output));
    for (const Field& state : root.at("states").items()) result.states.push_back(state_of(state));
    result.constants_bytes = root.at("constants_bytes").integer();
    for (const Field& constant : root.at("constants").items())
        result.constants.push_back(constant_of(constant));
    for (const Field& item : root.at("specialisations").items())
        result.specialisations.push_back(specialisation_of(item, where));
    if (root.has("text")) result.text = text_of(root.at("text"));
    if (root.has("warnings"))
        for (const Field& warning : root.at("warnings").items()) result.warnings.push_back(warning.text());
    return result;
}

}  // namespace

std::string print(const Manifest& manifest) {
    Json json = {{"manifest_version", kManifestVersion},
                 {"model", manifest.model},
                 {"tessera_version", manifest.tessera_version},
                 {"machine", manifest.machine},
                 {"machine_hash", manifest.machine_hash},
                 {"architecture", manifest.architecture},
                 {"instruction_sets", manifest.instruction_sets},
                 {"workers", manifest.workers},
                 {"symbols", json_list(manifest.symbols)},
                 {"inputs", json_list(manifest.inputs)},
                 {"outputs", json_list(manifest.outputs)},
                 {"states", json_list(manifest.states)},
                 {"constants_bytes", manifest.constants_bytes},
                 {"constants", json_list(manifest.constants)},
                 {"specialisations", json_list(manifest.specialisations)}};
    if (manifest.text) json["text"] = json_of(*manifest.text);
    if (!manifest.warnings.empty()) json["warnings"] = manifest.warnings;
    // Names come from checkpoints: what is not UTF-8 in them is replaced, never an exception.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest parse_manifest(std::string_view json, const std::string& where) {
    check_json_bounds(json, {.bytes = size_t{64} << 20}, where);
    Json root;
    try {
        root = Json::parse(json);
    } catch (const Json::exception& error) {
        throw Error(where, "manifest", fmt::format("is not JSON: {}", error.what()));
    }
    Manifest manifest = manifest_of(Field(root, "", where), where);
    verify(manifest, where);
    return manifest;
}

}  // namespace tessera
