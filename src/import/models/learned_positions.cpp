#include "import/models/learned_positions.h"

namespace tessera::import {

void set_learned_positions(DecoderConfig& config, int64_t first) {
    using enum LayerTensor;
    config.form.norm = NormForm::kLayer;
    config.form.first_position = first;
    for (LayerKind& layer : config.form.layers) layer.rope = LayerRope::kNone;
    config.size.positions = config.max_positions + first;
    config.set(Presence::kAlways, {kAttentionNormBias, kFeedForwardNormBias, kQueryBias, kKeyBias, kValueBias,
                                   kOutputBias, kUpBias, kDownBias});
    config.set(Presence::kNever, {kGate});
}

}  // namespace tessera::import
