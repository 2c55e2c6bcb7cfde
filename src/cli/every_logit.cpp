#include "cli/every_logit.h"

#include "support/progress.h"

namespace tessera::cli {

void every_logit(Session& session, std::span<const TokenId> tokens, const Environment& environment,
                 const std::function<void(std::span<const float>)>& on_row) {
    Progress progress(environment.terminal, "computing logits", static_cast<int64_t>(tokens.size()));
    const SequenceId sequence = session.open();
    const Addition addition{sequence, tokens, every_row(tokens)};
    session.add({&addition, 1}, [&](size_t, int32_t row, std::span<const float> logits) {
        on_row(logits);
        progress.update(row + 1);
    });
    session.close(sequence);
}

}  // namespace tessera::cli
