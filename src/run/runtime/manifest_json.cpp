#include <limits>

#include <nlohmann/json.hpp>

#include "run/runtime/manifest.h"
#include "support/error.h"
#include "support/json.h"
#include "tessera/step.h"

namespace tessera::runtime {
namespace {

using Json = nlohmann::ordered_json;

/// The layout of the JSON, and of what generated code is called with (tessera/step.h). It changes with every
/// change that another run time would misread. 1: steps had no `rank`.
constexpr int64_t kManifestVersion = 2;
static_assert(sizeof(TesseraMarkedStep) == 128, "generated code reads it: this is another version");

ElementType element_of(const JsonCursor& value) {
    const std::string name = value.string();
    const std::optional<ElementType> type = element_type_of(name);
    if (!type) value.fail(fmt::format("is `{}`, which is no element type", name));
    return *type;
}

std::vector<Dim> shape_of(const JsonCursor& list) {
    std::vector<Dim> dims;
    for (const JsonCursor& item : list.items()) {
        if (item.is_integer())
            dims.emplace_back(item.integer());
        else
            dims.emplace_back(item.at("symbol").string(), item.at("factor").integer());
    }
    return dims;
}

int32_t id_of(const JsonCursor& value) {
    return static_cast<int32_t>(value.integer(0, std::numeric_limits<int32_t>::max(), "a token id"));
}

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
    Json json = {{"name", tensor.name}, {"element", name(tensor.element)}, {"shape", json_of(tensor.shape)}};
    if (!tensor.array.empty()) json["array"] = tensor.array;
    if (tensor.is_scalar) json["is_scalar"] = true;
    return json;
}

Json json_of(const Manifest::State& state) {
    Json json = {{"name", state.name},
                 {"element", name(state.element)},
                 {"shape", json_of(state.shape)},
                 {"stored", json_of(state.stored)},
                 {"repeat", state.repeat}};
    if (!state.array.empty()) json["array"] = state.array;
    return json;
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
    if (!text.pooling.empty()) json["pooling"] = text.pooling;
    if (!text.normalises) json["normalises"] = text.normalises;
    if (text.has_source) json["has_source"] = text.has_source;
    if (text.features)
        json["features"] = {{"width", text.features->width},
                            {"taps", text.features->taps},
                            {"every", text.features->every},
                            {"first", text.features->first},
                            {"count", text.features->count}};
    if (text.is_encoder) json["is_encoder"] = text.is_encoder;
    return json;
}

template <class Item>
Json json_list(const std::vector<Item>& items) {
    Json list = Json::array();
    for (const Item& item : items) list.push_back(json_of(item));
    return list;
}

Manifest::Tensor tensor_of(const JsonCursor& field) {
    Manifest::Tensor tensor{field.at("name").string(), element_of(field.at("element")),
                            shape_of(field.at("shape"))};
    if (field.find("array")) tensor.array = field.at("array").string();
    if (field.find("is_scalar")) tensor.is_scalar = field.at("is_scalar").boolean();
    return tensor;
}

Manifest::State state_of(const JsonCursor& field) {
    Manifest::State state{field.at("name").string(), element_of(field.at("element")),
                          shape_of(field.at("shape")), shape_of(field.at("stored")),
                          field.at("repeat").integer()};
    if (field.find("array")) state.array = field.at("array").string();
    return state;
}

Manifest::Constant constant_of(const JsonCursor& field) {
    std::vector<int64_t> shape;
    for (const JsonCursor& extent : field.at("shape").items()) shape.push_back(extent.integer());
    return {field.at("name").string(),    element_of(field.at("element")), std::move(shape),
            field.at("layout").string(),  field.at("offset").integer(),    field.at("bytes").integer(),
            field.at("stride").integer(), field.at("repeat").integer()};
}

DimSymbol symbol_of(const JsonCursor& field) {
    return {field.at("name").string(), field.at("low").integer(), field.at("high").integer(),
            field.at("multiple_of").integer()};
}

Manifest::Specialisation specialisation_of(const JsonCursor& field, const std::string& where) {
    Manifest::Specialisation result{
        field.at("name").string(), field.at("entry").string(), {}, field.at("arena_bytes").integer()};
    const JsonCursor bounds = field.at("bounds");
    for (const std::string& symbol : bounds.keys()) {
        const std::vector<JsonCursor> range = bounds.at(symbol).items();
        if (range.size() != 2)
            throw Error(where, "specialisations." + result.name + ".bounds." + symbol,
                        fmt::format("has {} numbers, expected low and high", range.size()));
        result.bounds[symbol] = {range[0].integer(), range[1].integer()};
    }
    return result;
}

Manifest::Features features_of(const JsonCursor& field) {
    constexpr int64_t kMost = 1 << 16;
    return {.width = field.at("width").integer(1, kMost),
            .taps = field.at("taps").integer(1, kMost),
            .every = field.at("every").integer(1, kMost),
            .first = field.at("first").integer(-kMost, kMost),
            .count = field.at("count").integer(1, int64_t{1} << 24)};
}

Manifest::Text text_of(const JsonCursor& field) {
    Manifest::Text text{field.at("vocabulary").integer(),
                        field.at("context").integer(),
                        field.at("page_size").integer(),
                        {},
                        {}};
    if (field.find("bos")) text.bos = id_of(field.at("bos"));
    for (const JsonCursor& id : field.at("eos").items()) text.eos.push_back(id_of(id));
    text.policy = field.at("policy").string();
    text.pooling = field.string_or("pooling", "");
    text.normalises = field.boolean_or("normalises", true);
    text.has_source = field.boolean_or("has_source", false);
    if (field.find("features")) text.features = features_of(field.at("features"));
    text.is_encoder = field.boolean_or("is_encoder", false);
    return text;
}

Manifest manifest_of(const JsonCursor& root, const std::string& where) {
    const int64_t version = root.at("manifest_version").integer();
    if (version != kManifestVersion)
        throw Error(where, "manifest_version", fmt::format("is {}, expected {}", version, kManifestVersion),
                    "compile the model again with this version of Tessera");
    Manifest result;
    result.model = root.at("model").string();
    result.tessera_version = root.at("tessera_version").string();
    result.machine = root.at("machine").string();
    result.machine_hash = root.at("machine_hash").string();
    result.architecture = root.at("architecture").string();
    for (const JsonCursor& set : root.at("instruction_sets").items())
        result.instruction_sets.push_back(set.string());
    result.workers = root.at("workers").integer();
    for (const JsonCursor& symbol : root.at("symbols").items()) result.symbols.push_back(symbol_of(symbol));
    for (const JsonCursor& input : root.at("inputs").items()) result.inputs.push_back(tensor_of(input));
    for (const JsonCursor& output : root.at("outputs").items()) result.outputs.push_back(tensor_of(output));
    for (const JsonCursor& state : root.at("states").items()) result.states.push_back(state_of(state));
    result.constants_bytes = root.at("constants_bytes").integer();
    for (const JsonCursor& constant : root.at("constants").items())
        result.constants.push_back(constant_of(constant));
    for (const JsonCursor& item : root.at("specialisations").items())
        result.specialisations.push_back(specialisation_of(item, where));
    if (root.find("placed_outputs"))
        for (const JsonCursor& output : root.at("placed_outputs").items())
            result.placed_outputs.push_back(output.string());
    if (root.find("empty_inputs"))
        for (const JsonCursor& input : root.at("empty_inputs").items())
            result.empty_inputs.push_back(tensor_of(input));
    if (root.find("empty_outputs"))
        for (const JsonCursor& output : root.at("empty_outputs").items())
            result.empty_outputs.push_back(tensor_of(output));
    if (root.find("hidden_outputs"))
        for (const JsonCursor& output : root.at("hidden_outputs").items())
            result.hidden_outputs.push_back(output.string());
    if (root.find("text")) result.text = text_of(root.at("text"));
    if (root.find("warnings"))
        for (const JsonCursor& warning : root.at("warnings").items())
            result.warnings.push_back(warning.string());
    if (root.find("cut_short"))
        for (const JsonCursor& search : root.at("cut_short").items())
            result.cut_short.push_back(search.string());
    if (root.find("without"))
        for (const JsonCursor& part : root.at("without").items()) result.without.push_back(part.string());
    if (root.find("regions")) result.regions = root.at("regions").integer();
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
    if (!manifest.placed_outputs.empty()) json["placed_outputs"] = manifest.placed_outputs;
    if (!manifest.empty_inputs.empty()) json["empty_inputs"] = json_list(manifest.empty_inputs);
    if (!manifest.empty_outputs.empty()) json["empty_outputs"] = json_list(manifest.empty_outputs);
    if (!manifest.hidden_outputs.empty()) json["hidden_outputs"] = manifest.hidden_outputs;
    if (manifest.text) json["text"] = json_of(*manifest.text);
    if (!manifest.warnings.empty()) json["warnings"] = manifest.warnings;
    if (!manifest.cut_short.empty()) json["cut_short"] = manifest.cut_short;
    if (!manifest.without.empty()) json["without"] = manifest.without;
    if (manifest.regions) json["regions"] = *manifest.regions;
    // Names come from checkpoints: bytes that are not UTF-8 are replaced, and never cause an exception.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest parse_manifest(std::string_view json, const std::string& where) {
    Manifest manifest = manifest_of(parse_json(json, where, {.bytes = size_t{64} << 20}), where);
    verify(manifest, where);
    return manifest;
}

}  // namespace tessera::runtime
