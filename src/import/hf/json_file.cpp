#include "import/hf/json_file.h"

#include <set>
#include <vector>

#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera {
namespace {

using nlohmann::json;

/// Sees the document while it is parsed, before memory has been spent on it.
class Watch {
public:
    Watch(const std::string& where, int depth_limit) : where_(where), depth_limit_(depth_limit) {}

    bool operator()(int depth, json::parse_event_t event, json& parsed) {
        using Event = json::parse_event_t;
        if (depth > depth_limit_)
            throw Error(where_, "", fmt::format("is nested more than {} levels deep", depth_limit_));
        if (event == Event::object_start) keys_.emplace_back();
        if (event == Event::object_end) keys_.pop_back();
        if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second)
            throw Error(where_, parsed.get<std::string>(), "is there twice in one object");
        return true;
    }

private:
    const std::string& where_;
    int depth_limit_;
    std::vector<std::set<std::string>> keys_;
};

}  // namespace

json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
    if (text.size() > limits.bytes)
        throw Error(
            where, "",
            fmt::format("is {} bytes long, more than the {} that are read", text.size(), limits.bytes));
    Watch watch(where, limits.depth);
    try {
        return json::parse(text.begin(), text.end(), std::ref(watch));
    } catch (const json::exception& error) {
        throw Error(where, "", fmt::format("is not valid JSON: {}", error.what()));
    }
}

json read_json_object(const std::string& path, const JsonLimits& limits) {
    const MappedFile file = MappedFile::open(path);
    json document = parse_json(file.text(), path, limits);
    if (!document.is_object())
        throw Error(path, "", fmt::format("holds {}, expected an object", document.type_name()));
    return document;
}

}  // namespace tessera
