#pragma once

#include "import/architecture/architecture.h"
#include "ir/lexer.h"

/// The parts of a text behind their first words. All throw Error for anything else, with the line.
namespace tessera::import {

/// An item of `set`: what is said changes `older`; a new setting says its type.
Setting parse_setting(TokenStream& tokens, Setting older, bool is_new);
/// `refuse NAME when CONDITION "why"`, and `warn` and `expect`.
Verdict parse_verdict(TokenStream& tokens);
/// `features width W taps N every S from F count M`.
FeaturesText parse_features(TokenStream& tokens);
RopeText parse_rope(TokenStream& tokens);
void parse_layer_names(TokenStream& tokens, Architecture& architecture);
/// An item of `weight` or `tensor`.
TensorText parse_tensor(TokenStream& tokens, bool is_bare);
FusedText parse_fused(TokenStream& tokens);
Assignment parse_assignment(TokenStream& tokens);

}  // namespace tessera::import
