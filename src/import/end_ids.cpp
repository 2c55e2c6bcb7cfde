#include "import/end_ids.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::import {
namespace {

bool is_token(int64_t id, const ModelConfig& config) {
    return id >= 0 && id < config.vocabulary;
}

std::string no_token(int64_t id, const std::string& setting, const ModelConfig& config) {
    return fmt::format("{} = {}: is none of the {} tokens, and taken for none", setting, id,
                       config.vocabulary);
}

}  // namespace

void add_end_ids(std::span<const int64_t> ids, const std::string& setting, ModelConfig& config,
                 Findings& findings) {
    for (const int64_t id : ids) {
        if (!is_token(id, config))
            findings.warnings.push_back(no_token(id, setting, config));
        else if (std::find(config.end_ids.begin(), config.end_ids.end(), id) == config.end_ids.end())
            config.end_ids.push_back(id);
    }
}

void check_token_id(int64_t id, const std::string& setting, const ModelConfig& config, Findings& findings) {
    if (!is_token(id, config)) findings.warnings.push_back(no_token(id, setting, config));
}

}  // namespace tessera::import
