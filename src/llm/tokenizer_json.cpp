#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "llm/read_added_token.h"
#include "llm/tokenizer_components.h"
#include "llm/tokenizer_config.h"
#include "llm/tokenizer_document.h"
#include "llm/tokenizer_sources.h"
#include "support/error.h"
#include "support/json.h"

namespace tessera::llm {
namespace {

Bpe read_model(const JsonCursor& model, std::span<const MergeText> merges, const Vocabulary& vocabulary,
               Unsupported& unsupported) {
    BpeOptions options;
    if (const auto dropout = model.find("dropout"); dropout && !dropout->is_equal(0))
        unsupported.push_back("model option dropout");
    if (const auto unknown = model.find("unk_token")) {
        options.unknown = vocabulary.find(unknown->string());
        if (!options.unknown)
            unknown->fail(fmt::format("is \"{}\", which the vocabulary does not have", unknown->string()));
    }
    options.fuse_unknown = model.boolean_or("fuse_unk", false);
    options.ignore_merges = model.boolean_or("ignore_merges", false);
    options.continuing_prefix = model.string_or("continuing_subword_prefix", "");
    options.end_suffix = model.string_or("end_of_word_suffix", "");
    if (model.boolean_or("byte_fallback", false)) options.byte_tokens = find_byte_tokens(vocabulary);
    MergeTable table =
        make_merges(merges, vocabulary, options.continuing_prefix, UnknownMerge::kRefuse, model.file());
    return Bpe(std::move(table), std::move(options));
}

/// A post-processor may name ids that nothing has.
void check_ids(const std::vector<TokenId>& ids, const TokenizerParts& parts, const std::string& file) {
    for (const TokenId id : ids)
        if (!parts.vocabulary.contains(id) && std::none_of(parts.added.begin(), parts.added.end(),
                                                           [&](const auto& added) { return added.id == id; }))
            throw Error(file, "post_processor",
                        fmt::format("adds the token {}, which the vocabulary does not have", id));
}

}  // namespace

TokenizerParts read_tokenizer_json(FileSource& files, const std::string& name) {
    const std::string where = files.where(name);
    TokenizerDocument document = read_tokenizer_document(files.read(name), where);
    const JsonCursor& file = document.rest;
    const JsonCursor model = file.at("model");
    // Files of the first versions do not name the type of the model, but only BPE has merges.
    const std::string type = model.string_or("type", document.merges.empty() ? "of no type" : "BPE");
    if (type != "BPE")
        throw Error(where, "model", fmt::format("is {}, which is not supported", type),
                    "supported is BPE, byte-level or with byte fallback");
    if (document.vocabulary.size() == 0) model.fail("has no vocabulary");

    Unsupported unsupported;
    TokenizerParts parts;
    parts.normalizer = read_normalizer(file.find("normalizer"), unsupported);
    parts.pre_tokenizer = read_pre_tokenizer(file.find("pre_tokenizer"), unsupported);
    parts.decoder = read_decoder(file.find("decoder"), unsupported);
    Affixes affixes = read_post_processor(file.find("post_processor"), unsupported);
    parts.bpe = read_model(model, document.merges, document.vocabulary, unsupported);
    if (!unsupported.empty())
        throw Error(where, "", fmt::format("uses what is not supported: {}", fmt::join(unsupported, ", ")));

    parts.vocabulary = std::move(document.vocabulary);
    if (const auto added = file.find("added_tokens"))
        for (const JsonCursor& token : added->items()) {
            const int64_t id = token.at("id").integer(0, Vocabulary::kLargestId);
            parts.added.push_back(read_added_token(token, static_cast<TokenId>(id)));
        }
    check_ids(affixes.prefix, parts, where);
    check_ids(affixes.suffix, parts, where);
    parts.prefix = std::move(affixes.prefix);
    parts.suffix = std::move(affixes.suffix);
    set_special_ids(read_tokenizer_config(files), parts);
    return parts;
}

}  // namespace tessera::llm
