#include "import/hf/json_file.h"

#include <set>
#include <vector>

#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera {
namespace {

using nlohmann::json;

/// Sees the keys while the document is parsed: the parser itself would keep the last of two.
class Watch {
public:
    explicit Watch(const std::string& where) : where_(where) {}

    bool operator()(int, json::parse_event_t event, json& parsed) {
        using Event = json::parse_event_t;
        if (event == Event::object_start) keys_.emplace_back();
        if (event == Event::object_end) keys_.pop_back();
        if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second)
            throw Error(where_, parsed.get<std::string>(), "is there twice in one object");
        return true;
    }

private:
    const std::string& where_;
    std::vector<std::set<std::string>> keys_;
};

}  // namespace

json parse_json(std::string_view text, const std::string& where, const JsonBounds& bounds) {
    check_json_bounds(text, bounds, where);
    Watch watch(where);
    try {
        return json::parse(text.begin(), text.end(), std::ref(watch));
    } catch (const json::exception& error) {
        throw Error(where, "", fmt::format("is not valid JSON: {}", error.what()));
    }
}

json read_json_object(const std::string& path, const JsonBounds& bounds) {
    const MappedFile file = MappedFile::open(path);
    json document = parse_json(file.text(), path, bounds);
    if (!document.is_object())
        throw Error(path, "", fmt::format("holds {}, expected an object", document.type_name()));
    return document;
}

}  // namespace tessera
