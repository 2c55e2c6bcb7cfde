#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/vocabulary.h"

namespace tessera::llm {

/// The contents of a `tokenizer.model`: a ModelProto of the SentencePiece library. Source:
/// sentencepiece_model.proto of that library, with its defaults; the numbers of the enums are its own.
struct SentencePieceModel {
    enum class Algorithm : int32_t { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
    enum class Type : uint8_t {
        kNormal = 1,
        kUnknown = 2,
        kControl = 3,
        kUserDefined = 4,
        kUnused = 5,
        kByte = 6
    };

    Vocabulary vocabulary;      ///< every piece is there once
    std::vector<float> scores;  ///< by id; all are finite
    std::vector<Type> types;    ///< by id

    Algorithm algorithm = Algorithm::kUnigram;
    bool treat_whitespace_as_suffix = false;
    bool byte_fallback = false;
    std::string bos_piece = "<s>";
    std::string eos_piece = "</s>";

    std::string character_map = {};  ///< of the normalizer, compiled (character_map.h); empty: none
    bool denormalizes = false;       ///< a map of characters is for the way back from tokens
    bool add_dummy_prefix = true;    ///< a space in front of a text
    bool remove_extra_whitespaces = true;
    bool escape_whitespaces = true;  ///< spaces become U+2581
};

/// `where` names the file in errors.
/// @throws Error if it is damaged, or has pieces that are empty, repeated, without score or of unknown type
SentencePieceModel read_sentence_piece_model(std::string_view bytes, const std::string& where);

}  // namespace tessera::llm
