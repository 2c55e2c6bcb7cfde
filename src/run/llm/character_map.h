#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// Replacements of short texts, mostly single characters, in the compiled form in which SentencePiece stores
/// the rules of its normalisation ("nmt_nfkc"): `precompiled_charsmap` in both file formats. Immutable;
/// copies share the table.
class CharacterMap {
public:
    /// `where` and `entity` name the place in errors. @throws Error if it is damaged, or has a replacement
    /// that is longer than any of the published maps
    static CharacterMap parse(std::string_view bytes, const std::string& where, const std::string& entity);

    struct Match {
        size_t size;  ///< in bytes of the text
        std::string_view replacement;
    };
    // The rule that `text` begins with, of which there may be several.
    std::optional<Match> shortest(std::string_view text) const;
    std::optional<Match> longest(std::string_view text) const;

private:
    template <typename Visit>
    void for_each_prefix(std::string_view text, Visit visit) const;

    struct Table {
        std::vector<uint32_t> units;  ///< a trie as a double array
        std::string replacements;     ///< each ends with a zero byte; the last one, too
    };
    std::shared_ptr<const Table> table_;
};

}  // namespace tessera::llm
