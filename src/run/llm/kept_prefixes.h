#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <utility>
#include <vector>

#include "run/llm/session.h"
#include "tessera/token_id.h"

namespace tessera::llm {

/// Sequences of a session whose texts have ended, and which stay open so that a prompt that begins alike need
/// not compute its beginning again. They give way as soon as a running text needs the sequence or the pages.
/// A prompt that goes on where a kept text ends takes it over; one that leaves it earlier shares its full
/// pages, and the kept text stays what it was. (Without a sequence for that it is cut, and taken over.)
///
///     kept     system, talk A      prompt   system, talk B      computes: talk B
///     kept     system, talk A      prompt   system, talk A, a question      computes: the question
///              system, talk B
class KeptPrefixes {
public:
    explicit KeptPrefixes(Session& session) : session_(session) {}
    ~KeptPrefixes();
    KeptPrefixes(const KeptPrefixes&) = delete;
    KeptPrefixes& operator=(const KeptPrefixes&) = delete;

    /// Keeps an open sequence. `ids`: the tokens that it holds, at least one.
    void keep(SequenceId sequence, std::vector<TokenId> ids);
    /// A sequence that holds the beginning of the prompt that it has in common with the kept sequence most
    /// like it, less than all of the prompt. Its index is -1 if none has a page in common with the prompt.
    SequenceId take(std::span<const TokenId> prompt);
    /// Closes the sequence that was used least recently. @pre size() > 0
    void drop_oldest();

    int64_t size() const { return static_cast<int64_t>(kept_.size()); }

private:
    struct Kept {
        SequenceId sequence;
        std::vector<TokenId> ids;
    };

    Session& session_;
    std::list<Kept> kept_;  ///< the one that was used least recently first
};

}  // namespace tessera::llm
