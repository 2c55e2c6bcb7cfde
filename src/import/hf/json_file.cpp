#include "import/hf/json_file.h"

#include <utility>
#include <vector>

#include "support/error.h"
#include "support/mapped_file.h"
#include "support/stand_in.h"

namespace tessera {
namespace {

using nlohmann::json;

/// Builds the document from the events of the parser, which itself would keep the last of two equal keys.
/// (Its callbacks see keys too, but go through all members of an object whenever one of them ends.)
class Builder final : public nlohmann::json_sax<json> {
public:
    explicit Builder(const std::string& where) : where_(where) {}

    json take() { return std::move(root_); }

    bool null() override { return value(nullptr); }
    bool boolean(bool flag) override { return value(flag); }
    bool number_integer(number_integer_t number) override { return value(number); }
    bool number_unsigned(number_unsigned_t number) override { return value(number); }
    bool number_float(number_float_t number, const string_t&) override { return value(number); }
    bool string(string_t& text) override { return value(std::move(text)); }
    bool binary(binary_t&) override { return false; }  // JSON has none
    bool start_object(std::size_t) override { return open(json::object()); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& text) override {
        if (open_.back()->contains(text)) throw Error(where_, text, "is there twice in one object");
        key_ = std::move(text);
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
        throw Error(where_, "", fmt::format("is not valid JSON: {}", error.what()));
    }

private:
    json& place(json added) {
        if (open_.empty()) return root_ = std::move(added);
        json& container = *open_.back();
        if (container.is_object()) return container[key_] = std::move(added);
        container.push_back(std::move(added));
        return container.back();
    }
    bool value(json added) {
        place(std::move(added));
        return true;
    }
    bool open(json container) {
        // Elements of an array move when it grows, but only the last one is ever open.
        open_.push_back(&place(std::move(container)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    const std::string& where_;
    json root_;
    std::vector<json*> open_;  // the containers that are being read, outermost first
    std::string key_;
};

}  // namespace

json parse_json(std::string_view text, const std::string& where, const JsonBounds& bounds) {
    check_json_bounds(text, bounds, where);
    Builder builder(where);
    json::sax_parse(text.data(), text.data() + text.size(), &builder);
    return builder.take();
}

json read_json_object(const std::string& path, const JsonBounds& bounds) {
    const MappedFile file = MappedFile::open(path);
    refuse_stand_in(file.text(), path);
    json document = parse_json(file.text(), path, bounds);
    if (!document.is_object())
        throw Error(path, "", fmt::format("holds {}, expected an object", document.type_name()));
    return document;
}

}  // namespace tessera
