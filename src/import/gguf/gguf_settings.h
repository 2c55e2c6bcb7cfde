#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/findings.h"
#include "import/gguf/gguf_file.h"
#include "import/settings_account.h"

namespace tessera::import {

/// Reads the metadata of a GGUF file that concern the model, each with its type and range. Every reader
/// throws Error naming file, key, found and expected. Remembers the keys that were asked for.
class GgufSettings {
public:
    /// The file and findings must live longer.
    GgufSettings(const GgufFile& file, Findings& findings) : file_(file), findings_(findings) {}

    /// `key` below is the whole key.
    bool has(const std::string& key) { return find(key) != nullptr; }
    int64_t integer(const std::string& key, int64_t low, int64_t high,
                    std::optional<int64_t> absent = std::nullopt);
    double real(const std::string& key, double low, double high, std::optional<double> absent = std::nullopt);
    bool boolean(const std::string& key, bool absent);
    std::optional<std::string> text(const std::string& key);
    /// One integer or a list of them, or of truth values; none if absent.
    std::vector<int64_t> integers(const std::string& key);
    /// A list of numbers of 32 bits; none if absent or of another kind.
    std::vector<double> reals(const std::string& key);
    bool is_list(const std::string& key);
    /// The value, on one short line.
    std::string shown(const std::string& key);

    /// Adds "key = value: what" to the unsupported things.
    void refuse(const std::string& key, const std::string& what);
    /// Adds it to the warnings.
    void warn(const std::string& key, const std::string& what);
    /// Refuses it if the key is there with a value other than 0 and false.
    void refuse_unless_zero(const std::string& key, const std::string& what);

    bool was_read(const std::string& key) const { return read_.contains(key); }
    /// Keys that were never asked for, in the order of the file.
    std::vector<UnreadSetting> unread() const;
    const std::string& path() const { return file_.path(); }

private:
    const GgufValue* find(const std::string& key);
    std::string described(const std::string& key);
    [[noreturn]] void fail(const std::string& key, const std::string& found,
                           const std::string& expected) const;

    const GgufFile& file_;
    Findings& findings_;
    std::set<std::string, std::less<>> read_;
};

/// The settings of a file together with the name of its architecture, which stands before most keys.
struct GgufReader {
    GgufSettings& settings;
    std::string architecture;

    /// The whole key: "ARCH.SUFFIX", or what stands behind the stroke of "/KEY".
    std::string key(std::string_view suffix) const;
    /// As those of the settings, for "ARCH.SUFFIX".
    int64_t integer(std::string_view suffix, int64_t low, int64_t high,
                    std::optional<int64_t> absent = std::nullopt);
    double real(std::string_view suffix, double low, double high,
                std::optional<double> absent = std::nullopt);
    bool has(std::string_view suffix) { return settings.has(key(suffix)); }
    /// The key is accounted for: whatever it says changes nothing.
    void ignore(std::string_view suffix) { (void)has(suffix); }
};

}  // namespace tessera::import
