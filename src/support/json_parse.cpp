#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/json.h"
#include "support/json_document.h"
#include "support/mapped_file.h"
#include "support/shown.h"
#include "support/stand_in.h"

namespace tessera {
namespace {

using nlohmann::json;

/// The events of the library, in our words.
class Forwarding final : public nlohmann::json_sax<json> {
public:
    Forwarding(const std::string& where, JsonEvents& events) : where_(where), events_(events) {}

    bool null() override { return events_.null(), true; }
    bool boolean(bool value) override { return events_.boolean(value), true; }
    bool number_integer(number_integer_t value) override { return events_.negative(value), true; }
    bool number_unsigned(number_unsigned_t value) override { return events_.natural(value), true; }
    bool number_float(number_float_t value, const string_t&) override { return events_.real(value), true; }
    bool string(string_t& value) override { return events_.text(value), true; }
    bool binary(binary_t&) override { return false; }  // JSON has none
    bool start_object(std::size_t) override { return events_.begin_object(), true; }
    bool key(string_t& name) override { return events_.key(name), true; }
    bool end_object() override { return events_.end_object(), true; }
    bool start_array(std::size_t) override { return events_.begin_array(), true; }
    bool end_array() override { return events_.end_array(), true; }
    bool parse_error(std::size_t position, const std::string&, const json::exception& error) override {
        throw Error(fmt::format("{}@{}", where_, position), "",
                    fmt::format("is not valid JSON: {}", described(error.what())));
    }

private:
    /// The library quotes what it has read of a word, which may be long; what it says of it is whole.
    static std::string described(std::string_view what) {
        constexpr std::string_view kQuote = "; last read: ";
        const size_t quote = what.find(kQuote);
        if (quote == std::string_view::npos) return std::string(what);
        return std::string(what.substr(0, quote)) + std::string(kQuote) +
               shown(what.substr(quote + kQuote.size()));
    }

    const std::string& where_;
    JsonEvents& events_;
};

}  // namespace

/// The parser of the library itself would keep the last of two equal keys. (Its callbacks see keys too, but
/// go through all members of an object whenever one of them ends.)
struct JsonBuilder::State {
    State(std::string where, size_t most_values_)
        : document(std::make_shared<JsonCursor::Document>()), most_values(most_values_) {
        document->file = std::move(where);
    }

    json& place(json added) {
        if (++values > most_values)
            throw Error(document->file, "",
                        fmt::format("holds more than the {} values that are read", most_values));
        if (open.empty()) return document->root = std::move(added);
        json& container = *open.back();
        if (container.is_object()) return container[name] = std::move(added);
        container.push_back(std::move(added));
        return container.back();
    }
    // Elements of an array move when it grows, but only the last one is ever open.
    void begin(json container) { open.push_back(&place(std::move(container))); }

    std::shared_ptr<JsonCursor::Document> document;
    size_t most_values;
    size_t values = 0;
    std::vector<json*> open;  // the containers that are being read, outermost first
    std::string name;         // of the next member
};

JsonBuilder::JsonBuilder(std::string where, size_t most_values)
    : state_(std::make_unique<State>(std::move(where), most_values)) {}
JsonBuilder::~JsonBuilder() = default;

void JsonBuilder::null() {
    state_->place(nullptr);
}
void JsonBuilder::boolean(bool value) {
    state_->place(value);
}
void JsonBuilder::negative(int64_t value) {
    state_->place(value);
}
void JsonBuilder::natural(uint64_t value) {
    state_->place(value);
}
void JsonBuilder::real(double value) {
    state_->place(value);
}
void JsonBuilder::text(std::string& value) {
    state_->place(std::move(value));
}
void JsonBuilder::begin_object() {
    state_->begin(json::object());
}
void JsonBuilder::key(std::string& name) {
    if (state_->open.back()->contains(name))
        throw Error(state_->document->file, shown(name), "is there twice in one object");
    state_->name = std::move(name);
}
void JsonBuilder::end_object() {
    state_->open.pop_back();
}
void JsonBuilder::begin_array() {
    state_->begin(json::array());
}
void JsonBuilder::end_array() {
    state_->open.pop_back();
}

JsonCursor JsonBuilder::take() {
    const nlohmann::json& root = state_->document->root;
    return {std::move(state_->document), root, ""};
}

void parse_json_events(std::string_view text, const std::string& where, const JsonBounds& bounds,
                       JsonEvents& events) {
    check_json_bounds(text, bounds, where);
    Forwarding forwarding(where, events);
    json::sax_parse(text.data(), text.data() + text.size(), &forwarding);
}

JsonCursor parse_json(std::string_view text, const std::string& where, const JsonBounds& bounds) {
    JsonBuilder builder(where, bounds.values);
    parse_json_events(text, where, bounds, builder);
    return builder.take();
}

JsonCursor read_json_object(const std::string& path, const JsonBounds& bounds) {
    const MappedFile file = MappedFile::open(path);
    refuse_stand_in(file.text(), path);
    JsonCursor document = parse_json(file.text(), path, bounds);
    if (!document.is_object()) document.fail_expected("an object");
    return document;
}

}  // namespace tessera
