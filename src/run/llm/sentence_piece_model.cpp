#include "run/llm/sentence_piece_model.h"

#include <cmath>

#include "support/error.h"
#include "support/protobuf_reader.h"

namespace tessera::llm {
namespace {

using Type = SentencePieceModel::Type;

void read_piece(ProtobufReader piece, const ProtobufReader& parent, SentencePieceModel& model) {
    std::string_view text;
    float score = 0;
    int32_t type = static_cast<int32_t>(Type::kNormal);
    while (piece.next()) {
        if (piece.field() == 1) text = piece.bytes("piece");
        if (piece.field() == 2) score = piece.float32("score");
        if (piece.field() == 3) type = piece.int32("type");
    }
    const auto id = static_cast<TokenId>(model.vocabulary.size());
    const auto fail = [&](std::string problem) {
        parent.fail(fmt::format("pieces[{}]", id), std::move(problem));
    };
    if (id == Vocabulary::kLargestId) fail("is one piece more than are possible");
    if (text.empty()) fail("is empty");
    if (!std::isfinite(score)) fail(fmt::format("has the score {}", score));
    if (type < static_cast<int32_t>(Type::kNormal) || type > static_cast<int32_t>(Type::kByte))
        fail(fmt::format("has the type {}, which is not known", type));
    if (const auto other = model.vocabulary.find(text))
        fail(fmt::format("is \"{}\", as pieces[{}] is", text, *other));
    model.vocabulary.add(id, text);
    model.scores.push_back(score);
    model.types.push_back(static_cast<Type>(type));
}

void read_trainer(ProtobufReader trainer, SentencePieceModel& model) {
    while (trainer.next()) {
        switch (trainer.field()) {
            case 3: {
                const int32_t algorithm = trainer.int32("trainer_spec.model_type");
                if (algorithm < 1 || algorithm > 4)
                    trainer.fail("trainer_spec.model_type", fmt::format("is {}, expected 1 to 4", algorithm));
                model.algorithm = static_cast<SentencePieceModel::Algorithm>(algorithm);
                break;
            }
            case 24:
                model.treat_whitespace_as_suffix = trainer.boolean("trainer_spec.treat_whitespace_as_suffix");
                break;
            case 35:
                model.byte_fallback = trainer.boolean("trainer_spec.byte_fallback");
                break;
            case 46:
                model.bos_piece = trainer.bytes("trainer_spec.bos_piece");
                break;
            case 47:
                model.eos_piece = trainer.bytes("trainer_spec.eos_piece");
                break;
            default:
                break;
        }
    }
}

void read_normalizer(ProtobufReader normalizer, SentencePieceModel& model) {
    while (normalizer.next()) {
        switch (normalizer.field()) {
            case 2:
                model.character_map = normalizer.bytes("normalizer_spec.precompiled_charsmap");
                break;
            case 3:
                model.add_dummy_prefix = normalizer.boolean("normalizer_spec.add_dummy_prefix");
                break;
            case 4:
                model.remove_extra_whitespaces =
                    normalizer.boolean("normalizer_spec.remove_extra_whitespaces");
                break;
            case 5:
                model.escape_whitespaces = normalizer.boolean("normalizer_spec.escape_whitespaces");
                break;
            default:
                break;
        }
    }
}

/// A denormalizer is used for its map of characters only.
bool has_character_map(ProtobufReader denormalizer) {
    bool found = false;
    while (denormalizer.next())
        if (denormalizer.field() == 2)
            found = !denormalizer.bytes("denormalizer_spec.precompiled_charsmap").empty();
    return found;
}

}  // namespace

SentencePieceModel read_sentence_piece_model(std::string_view bytes, const std::string& where) {
    SentencePieceModel model;
    for (ProtobufReader file(bytes, where); file.next();) {
        switch (file.field()) {
            case 1:
                read_piece(file.message("pieces"), file, model);
                break;
            case 2:
                read_trainer(file.message("trainer_spec"), model);
                break;
            case 3:
                read_normalizer(file.message("normalizer_spec"), model);
                break;
            case 5:
                model.denormalizes = has_character_map(file.message("denormalizer_spec"));
                break;
            default:
                break;
        }
    }
    if (model.vocabulary.size() == 0)
        throw Error(where, "pieces", "are missing: this is no SentencePiece model");
    return model;
}

}  // namespace tessera::llm
