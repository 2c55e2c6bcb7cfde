#pragma once

#include <string>
#include <vector>

#include "import/model_config.h"

namespace tessera::import {

/// The numbers of a setting that is a list: truths where it is a pattern.
std::vector<Scalar> list_of(const Setting& setting, const std::vector<int64_t>& numbers);

/// The settings of one file, in either format, by the names that they have there.
class SettingsFile {
public:
    virtual ~SettingsFile() = default;
    virtual const FormatNames& names_of(const Setting& setting) const = 0;
    /// True if it is there, even as null.
    virtual bool is_stated(const std::string& field) = 0;
    virtual bool is_null(const std::string& field) = 0;
    virtual bool is_list(const std::string& field) = 0;
    /// The value, of the setting's type and within the bounds, or a list of such. @throws Error naming file,
    /// field, found and expected
    virtual Scalar read(const std::string& field, const Setting& setting, int64_t low, int64_t high) = 0;
    virtual Scalar read(const std::string& field, const Setting& setting, double low, double high) = 0;
    virtual Scalar read(const std::string& field, const Setting& setting) = 0;  ///< a truth value or a text
    virtual std::string shown(const std::string& field) = 0;
    virtual void refuse(const std::string& field, const std::string& what) = 0;
    virtual void warn(const std::string& field, const std::string& what) = 0;
    virtual void ignore(const std::string& field) = 0;
    virtual const std::string& path() const = 0;
    /// The whole name of a field, for errors.
    virtual std::string place_of(const std::string& field) const = 0;
    virtual bool is_gguf() const = 0;
    /// Rows of the embedding in a GGUF file; 0 in a folder, which states the vocabulary.
    virtual int64_t embedding_rows() const = 0;
    /// False if the file does not say what is stored.
    virtual bool has_tensor(const std::string& name) const = 0;
};

/// Reads all settings that a text names, and says its verdicts about them: `architecture` of the
/// configuration must be set. A missing setting takes its default. Rotary tables are not read here.
void read_settings(SettingsFile& file, ModelConfig& config);

/// The text with values in the places of their names: {NAME}.
std::string filled(const std::string& text, const Scope& scope);

/// Says the verdicts of the text.
void judge_settings(SettingsFile& file, const ModelConfig& config);

}  // namespace tessera::import
