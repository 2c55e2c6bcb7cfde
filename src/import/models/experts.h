#pragma once

#include "import/decoder_config.h"

namespace tessera::import {

/// The layers have experts instead of a feed-forward of their own. The sizes must be read.
/// @throws Error naming `where` and `field` unless 1 <= chosen <= experts
void set_experts(DecoderConfig& config, int64_t experts, int64_t chosen, int64_t width,
                 const std::string& where, const std::string& field);

/// Experts of a folder that are stored one by one: "BEFORE N.GATE.weight".
void stack_experts(DecoderConfig& config, const std::string& before, const std::string& gate,
                   const std::string& up, const std::string& down);

}  // namespace tessera::import
