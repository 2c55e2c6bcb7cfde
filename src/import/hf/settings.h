#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "import/findings.h"

namespace tessera {

struct IntegerBounds {
    int64_t low;
    int64_t high;
};
struct RealBounds {
    double low;
    double high;
};

/// Reads settings of one object of config.json, each with its type and range; `null` is as good as absent.
/// Every reader throws Error naming file, field, found and expected. Remembers what was asked for.
class HfSettings {
public:
    /// `prefix` stands before field names in messages ("rope_scaling."). The object and findings must live
    /// longer.
    HfSettings(const nlohmann::json& object, std::string path, Findings& findings, std::string prefix = {});

    bool has(const std::string& field);
    int64_t integer(const std::string& field, IntegerBounds bounds,
                    std::optional<int64_t> absent = std::nullopt);
    double real(const std::string& field, RealBounds bounds, std::optional<double> absent = std::nullopt);
    bool boolean(const std::string& field, bool absent);
    std::optional<std::string> text(const std::string& field);
    std::vector<std::string> texts(const std::string& field);
    /// One integer or a list of them; none if absent.
    std::vector<int64_t> integers(const std::string& field, IntegerBounds bounds);
    /// The settings of an object; empty if absent.
    std::optional<HfSettings> object(const std::string& field);

    /// Adds "`field` = value: what" to the unsupported things.
    void refuse(const std::string& field, const std::string& what);
    /// As above if the field is there with a value other than null, false, 0 and an empty list.
    void refuse_unless_neutral(const std::string& field, const std::string& what);
    /// As above if the field is there with a value other than null and this number.
    void refuse_unless_number(const std::string& field, double neutral, const std::string& what);

    /// Fields that nobody has asked for, in the order of names.
    std::vector<std::string> unread() const;
    const std::string& path() const { return path_; }

private:
    const nlohmann::json* find(const std::string& field);
    [[noreturn]] void fail(const std::string& field, const nlohmann::json* found,
                           const std::string& expected) const;

    const nlohmann::json& object_;
    std::string path_;
    Findings& findings_;
    std::string prefix_;
    std::set<std::string> read_;
};

}  // namespace tessera
