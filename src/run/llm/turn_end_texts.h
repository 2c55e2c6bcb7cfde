#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tessera::llm {

/// True if added tokens with this text end a text or a turn in every model that has them: Llama 2 to 4, Qwen
/// 1 to 3, SmolLM, Gemma, Phi-3 and 4, Mistral, OLMo, OpenChat, Command, DeepSeek, Granite, EXAONE, Falcon,
/// Yi. A model may end in several ways, but GGUF has one key for each kind of end, and tunes often name only
/// the end of a text.
constexpr bool ends_a_turn(std::string_view text) {
    constexpr std::array<std::string_view, 16> kTexts = {"</s>",
                                                         "<|endoftext|>",
                                                         "<|end_of_text|>",
                                                         "<|eot_id|>",
                                                         "<|eom_id|>",
                                                         "<|eot|>",
                                                         "<|im_end|>",
                                                         "<|end|>",
                                                         "<end_of_turn>",
                                                         "<|end_of_turn|>",
                                                         "<|END_OF_TURN_TOKEN|>",
                                                         "<|endofturn|>",
                                                         "[|endofturn|]",
                                                         "<turn|>",
                                                         "<EOT>",
                                                         "<\uff5cend\u2581of\u2581sentence\uff5c>"};
    return std::find(kTexts.begin(), kTexts.end(), text) != kTexts.end();
}

}  // namespace tessera::llm
