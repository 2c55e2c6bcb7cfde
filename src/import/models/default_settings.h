#pragma once

#include <string_view>

namespace tessera::import {

/// The defaults of a model's settings: for each format an object of settings, as JSON, by their own names. A
/// setting that is stated as null has no default.
struct DefaultSettings {
    std::string_view architecture;
    std::string_view folder;  ///< of config.json: those of the class of HuggingFace transformers
    std::string_view gguf;    ///< behind "ARCH.": those of llama.cpp's loader
};

/// The defaults of the architecture of this name, or none at all.
const DefaultSettings& default_settings(std::string_view architecture);

}  // namespace tessera::import
