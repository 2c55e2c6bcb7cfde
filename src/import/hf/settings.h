#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/findings.h"
#include "import/settings_account.h"
#include "support/json.h"

namespace tessera::import {

struct IntegerBounds {
    int64_t low;
    int64_t high;
};
struct RealBounds {
    double low;
    double high;
};

/// Reads settings of one object of config.json, each with its type and range. A field that is missing or null
/// has no value. Every reader throws Error naming file, field, found and expected. The cursor remembers the
/// fields that were asked for.
class HfSettings {
public:
    /// The findings must live longer.
    HfSettings(JsonCursor object, Findings& findings) : object_(std::move(object)), findings_(findings) {}

    /// True if the field is a number or a list.
    bool has_integers(const std::string& field) const;
    /// True if it has a value.
    bool has(const std::string& field) const { return find(field).has_value(); }
    int64_t integer(const std::string& field, IntegerBounds bounds,
                    std::optional<int64_t> absent = std::nullopt);
    double real(const std::string& field, RealBounds bounds, std::optional<double> absent = std::nullopt);
    bool boolean(const std::string& field, bool absent);
    std::optional<std::string> text(const std::string& field);
    /// A list, or a text whose words are between strokes; none if absent.
    std::vector<std::string> texts(const std::string& field);
    /// One integer or a list of them; none if absent.
    std::vector<int64_t> integers(const std::string& field, IntegerBounds bounds);
    /// A list of numbers; none if absent.
    std::vector<double> reals(const std::string& field, RealBounds bounds);
    /// True if the field exists, even as null.
    bool is_stated(const std::string& field) const;
    /// The settings of an object; empty if absent.
    std::optional<HfSettings> object(const std::string& field);

    bool is_list(const std::string& field) const;
    bool is_boolean(const std::string& field) const;
    bool is_text(const std::string& field) const;
    /// The value as the file has it, on one short line.
    std::string shown(const std::string& field) const;

    /// Accounts for the field: its value changes nothing.
    void ignore(const std::string& field) { (void)object_.find(field); }
    /// Accounts for all fields of this object, which has itself been refused.
    void ignore_all();
    /// The fields that hold objects.
    std::vector<std::string> objects() const;
    /// Adds "field = value: what" to the unsupported settings.
    void refuse(const std::string& field, const std::string& what);
    /// Adds it to the warnings.
    void warn(const std::string& field, const std::string& what);
    /// Refuses the field if its value is other than null, false, 0 and an empty list.
    void refuse_unless_neutral(const std::string& field, const std::string& what);
    /// Refuses the field if its value is other than null and this number.
    void refuse_unless_number(const std::string& field, double neutral, const std::string& what);

    /// Fields that were never asked for, also of the objects that were read, in the order of names.
    std::vector<UnreadSetting> unread() const;
    const std::string& path() const { return object_.file(); }

private:
    std::string described(const std::string& field) const;
    std::optional<JsonCursor> find(const std::string& field) const { return object_.find(field); }
    /// @throws Error "is missing" if there is no such field.
    JsonCursor required(const std::string& field, const std::string& expected) const;

    JsonCursor object_;
    Findings& findings_;
};

}  // namespace tessera::import
