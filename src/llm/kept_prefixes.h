#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <utility>
#include <vector>

#include "llm/session.h"
#include "tessera/token_id.h"

namespace tessera::llm {

/// Sequences of a session whose texts have ended, and which stay open so that a prompt that begins alike need
/// not compute its beginning again. They give way as soon as a running text needs the sequence or the pages.
/// A kept sequence serves one prompt at a time: prompts that run together do not share pages.
class KeptPrefixes {
public:
    explicit KeptPrefixes(Session& session) : session_(session) {}
    ~KeptPrefixes();
    KeptPrefixes(const KeptPrefixes&) = delete;
    KeptPrefixes& operator=(const KeptPrefixes&) = delete;

    /// Keeps an open sequence. `ids`: the tokens that it holds, at least one.
    void keep(SequenceId sequence, std::vector<TokenId> ids);
    /// The kept sequence that begins most like the prompt, cut to what both have in common, which is less
    /// than the prompt; it is kept no longer. Its index is -1 if none has a page in common with the prompt.
    SequenceId take(std::span<const TokenId> prompt);
    /// Closes the sequence that was used least recently. @pre size() > 0
    void drop_oldest();

    int64_t size() const { return static_cast<int64_t>(kept_.size()); }
    int64_t pages() const;

private:
    struct Kept {
        SequenceId sequence;
        std::vector<TokenId> ids;
    };

    Session& session_;
    std::list<Kept> kept_;  ///< the oldest first
};

}  // namespace tessera::llm
