#include "run/llm/normalize_pieces.h"

#include "run/llm/utf8.h"

// One walk takes at every place the longest user-defined piece, else the longest rule of the map, else one
// character. The order of the steps decides where replacements and pieces keep their blanks:
//
//     text                "  a    b "      "    " is a piece
//     in front            "  " goes        blanks, one by one: a piece of several is none
//     walk                a, "    ", b     behind a blank the leading blanks of what follows go
//     written             _a____b_         with a blank in front, all as U+2581
//     at the end          _a____b          marks go, those of the text, too
//
// Source: normalizer.cc of the library, version 0.2.3. With `legacy` false: LlamaTokenizer of
// `transformers` 4.57.

namespace tessera::llm {
namespace {

constexpr std::string_view kMark = "\u2581";

/// The replacement of the beginning of a text, and the number of bytes that it replaces.
CharacterMap::Match mapped_prefix(const NormalizeSentencePiece& step, std::string_view text) {
    if (const auto kept = step.kept.longest_prefix(text)) return {kept->size, text.substr(0, kept->size)};
    const Utf8Step first = first_character(text);
    if (first.valid && step.map)
        if (const auto match = step.map->longest(text)) return *match;
    return {first.length, text.substr(0, first.length)};
}

/// @param has_begun true if something other than spaces precedes the text
std::string write_pieces(const NormalizeSentencePiece& step, std::string_view text, bool has_begun,
                         bool adds_space) {
    const std::string_view space = step.marks_spaces ? kMark : " ";
    if (step.removes_spaces && !has_begun) {
        while (!text.empty()) {
            const CharacterMap::Match next = mapped_prefix(step, text);
            if (next.replacement != " ") break;
            text.remove_prefix(next.size);
        }
        if (text.empty()) return {};
    }
    std::string out(adds_space ? space : "");
    bool follows_space = step.removes_spaces && !has_begun;
    while (!text.empty()) {
        const CharacterMap::Match next = mapped_prefix(step, text);
        text.remove_prefix(next.size);
        std::string_view piece = next.replacement;
        while (follows_space && piece.starts_with(' ')) piece.remove_prefix(1);
        if (piece.empty()) continue;
        out += step.marks_spaces ? replace_all(piece, " ", kMark) : std::string(piece);
        follows_space = step.removes_spaces && piece.ends_with(' ');
    }
    return out;
}

}  // namespace

std::string normalize_pieces(const NormalizeSentencePiece& step, std::string_view text, bool at_start) {
    std::string out;
    if (text.empty()) return out;
    if (step.only_start) {
        // Marks of the text are spaces, and the space in front is a mark, which a map may make a space again.
        std::string spaced = replace_all(text, kMark, " ");
        if (at_start && step.adds_space) spaced.insert(0, kMark);
        out = write_pieces(step, spaced, spaced.starts_with(' ') || spaced.starts_with(kMark), false);
    } else {
        out = write_pieces(step, text, false, step.adds_space);
    }
    // Marks that the text itself has are removed, too.
    const std::string_view space = step.marks_spaces ? kMark : " ";
    while (step.removes_spaces && out.ends_with(space)) out.resize(out.size() - space.size());
    return out;
}

}  // namespace tessera::llm
