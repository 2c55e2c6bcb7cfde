#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "support/json_bounds.h"

/// The one way in which JSON files are read: bounded before anything is built, with no key twice in an
/// object, and through a cursor whose errors name file, place and what was expected.
namespace tessera {

/// A value of a JSON document together with its place, for reading files that may be wrong: every access
/// checks the type and throws Error that names the file, the place ("model.vocab") and what was found. Null
/// and absent are the same. Copies are cheap and keep the document.
class JsonCursor {
public:
    JsonCursor at(std::string_view key) const;                   ///< required
    std::optional<JsonCursor> find(std::string_view key) const;  ///< optional
    std::optional<JsonCursor> peek(std::string_view key) const;  ///< optional, and does not count as read
    std::vector<JsonCursor> items() const;                       ///< of an array
    std::vector<std::string> keys() const;                       ///< of an object, in the order of names

    std::string string() const;
    bool boolean() const;
    /// Inclusive bounds. `expected` says what it is; without it errors name the bounds.
    int64_t integer(int64_t low = INT64_MIN, int64_t high = INT64_MAX, std::string_view expected = {}) const;
    double real(double low, double high) const;

    bool is_string() const;
    bool is_array() const;
    bool is_object() const;
    bool is_number() const;
    bool is_integer() const;
    /// Null, or an empty text, array or object.
    bool is_empty() const;
    /// False or 0.
    bool is_off() const { return is_equal(0) || is_false(); }
    bool is_equal(double number) const;

    std::string string_or(std::string_view key, std::string_view otherwise) const;
    bool boolean_or(std::string_view key, bool otherwise) const;

    /// Members that `find` and `at` were not asked for, null ones too, and those of objects within that were
    /// asked for some of theirs.
    std::vector<JsonCursor> unread() const;

    const std::string& place() const { return place_; }
    std::string place_of(std::string_view key) const;  ///< of a member
    const std::string& file() const;
    std::string shown() const;  ///< the value as in the file, on one short line
    [[noreturn]] void fail(std::string problem, std::string advice = {}) const;
    /// "is [], expected an object"
    [[noreturn]] void fail_expected(std::string_view expected) const;

private:
    friend class JsonBuilder;
    struct Document;
    JsonCursor(std::shared_ptr<Document> document, const nlohmann::json& value, std::string place);
    bool is_false() const;
    void add_unread(std::vector<JsonCursor>& unread) const;

    std::shared_ptr<Document> document_;
    const nlohmann::json* value_;
    std::string place_;
};

/// Takes the values of a JSON text as they pass by. Strings may be moved from.
class JsonEvents {
public:
    virtual ~JsonEvents() = default;
    virtual void null() = 0;
    virtual void boolean(bool value) = 0;
    virtual void negative(int64_t value) = 0;  ///< an integer below 0
    virtual void natural(uint64_t value) = 0;  ///< another integer
    virtual void real(double value) = 0;
    virtual void text(std::string& value) = 0;
    virtual void begin_object() = 0;
    virtual void key(std::string& name) = 0;  ///< before the value of a member
    virtual void end_object() = 0;
    virtual void begin_array() = 0;
    virtual void end_array() = 0;
};

/// Makes a document of the values that it is given; a reader of a long file passes on the values that it does
/// not keep itself. @throws Error naming `where` for a key that is twice in an object, and for more than
/// `most_values`.
class JsonBuilder final : public JsonEvents {
public:
    explicit JsonBuilder(std::string where, size_t most_values = JsonBounds{}.values);
    ~JsonBuilder() override;

    void null() override;
    void boolean(bool value) override;
    void negative(int64_t value) override;
    void natural(uint64_t value) override;
    void real(double value) override;
    void text(std::string& value) override;
    void begin_object() override;
    void key(std::string& name) override;
    void end_object() override;
    void begin_array() override;
    void end_array() override;

    JsonCursor take();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Parses a whole text without building anything. @throws Error naming `where`, with the position, for text
/// beyond the bounds or that is no JSON, and whatever the events throw.
void parse_json_events(std::string_view text, const std::string& where, const JsonBounds& bounds,
                       JsonEvents& events);

/// Parses a whole text. @throws as above, and as JsonBuilder.
JsonCursor parse_json(std::string_view text, const std::string& where, const JsonBounds& bounds = {});

/// Parses a file whose top is an object. @throws Error, also if it is no JSON file (support/stand_in.h).
JsonCursor read_json_object(const std::string& path, const JsonBounds& bounds = {});

}  // namespace tessera
