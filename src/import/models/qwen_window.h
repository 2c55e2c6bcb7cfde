#pragma once

#include "import/hf/settings.h"

namespace tessera::import {

/// Refuses the sliding window of Qwen2 and Qwen3 if it may act.
void refuse_qwen_window(HfSettings& settings);

}  // namespace tessera::import
