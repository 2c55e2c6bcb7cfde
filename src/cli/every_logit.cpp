#include "cli/every_logit.h"

#include "support/progress.h"

namespace tessera::cli {

void every_logit(Model& model, std::span<const TokenId> tokens, const Environment& environment,
                 const std::function<void(std::span<const float>)>& on_row) {
    Progress progress(environment.terminal, "computing logits", static_cast<int64_t>(tokens.size()));
    int64_t rows = 0;
    model.logits(tokens, [&](std::span<const float> logits) {
        on_row(logits);
        progress.update(++rows);
    });
}

}  // namespace tessera::cli
