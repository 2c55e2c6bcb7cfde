#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tessera/engine.h"

namespace tessera::serve {

/// The model that is served, as Ollama describes models.
struct OllamaModel {
    std::string name;         ///< without a tag
    std::string description;  ///< ModelFile::describe
    std::string
        digest;  ///< 32 hexadecimal digits of the artefact's head, which has checksums of all its parts
    std::chrono::system_clock::time_point modified = {};
    int64_t bytes = 0;
    int64_t context = 0;
    int64_t embedding_width = 0;  ///< 0: it gives none
    bool thinks = false;          ///< before it answers, if asked to
    bool calls = false;           ///< functions
};

OllamaModel ollama_model(const Engine& engine, bool thinks, bool calls);
/// True if a request means this model: by its name, or with the tag `latest`.
bool is_named(const OllamaModel& model, std::string_view name);

/// The bodies of /api/tags, /api/ps, /api/show and /api/version. The version is that of Ollama's API.
std::string print_tags(const OllamaModel& model);
std::string print_running(const OllamaModel& model);
std::string print_show(const OllamaModel& model);
std::string print_version();

/// "2026-01-31T23:59:59.012345678Z": RFC 3339, as Ollama writes it.
std::string ollama_time(std::chrono::system_clock::time_point time);

}  // namespace tessera::serve
