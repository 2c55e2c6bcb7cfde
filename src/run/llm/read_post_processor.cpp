#include <utility>

#include "run/llm/component_chain.h"
#include "run/llm/tokenizer_components.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

/// The ids that a token of the template stands for.
std::vector<TokenId> template_ids(const JsonCursor& component, const std::string& name) {
    std::vector<TokenId> ids;
    for (const JsonCursor& id : component.at("special_tokens").at(name).at("ids").items())
        ids.push_back(static_cast<TokenId>(id.integer(0, Vocabulary::kLargestId)));
    return ids;
}

void read_template(const JsonCursor& component, Affixes& affixes) {
    std::vector<TokenId> before;
    std::vector<TokenId> after;
    bool passed_text = false;
    for (const JsonCursor& piece : component.at("single").items()) {
        if (piece.find("Sequence")) {
            if (passed_text) piece.fail("repeats the text, which is not supported");
            passed_text = true;
            continue;
        }
        const std::vector<TokenId> ids = template_ids(component, piece.at("SpecialToken").at("id").string());
        auto& side = passed_text ? after : before;
        side.insert(side.end(), ids.begin(), ids.end());
    }
    if (!passed_text) component.fail("has no place for the text in its `single` template");
    // A later processor wraps what the earlier ones made.
    affixes.prefix.insert(affixes.prefix.begin(), before.begin(), before.end());
    affixes.suffix.insert(affixes.suffix.end(), after.begin(), after.end());
}

/// BERT and RoBERTa: `cls`, the text, `sep`.
void read_classifying(const JsonCursor& component, Affixes& affixes) {
    const auto id_of = [&](std::string_view name) {
        const std::vector<JsonCursor> pair = component.at(name).items();
        if (pair.size() != 2) component.at(name).fail_expected("a text and an id");
        return static_cast<TokenId>(pair[1].integer(0, Vocabulary::kLargestId));
    };
    affixes.prefix.insert(affixes.prefix.begin(), id_of("cls"));
    affixes.suffix.push_back(id_of("sep"));
}

}  // namespace

Affixes read_post_processor(const std::optional<JsonCursor>& section, Unsupported& unsupported) {
    Affixes affixes;
    if (section)
        for_each_component(*section, "processors", [&](const JsonCursor& component, const std::string& type) {
            if (type == "TemplateProcessing")
                read_template(component, affixes);
            else if (type == "BertProcessing" || type == "RobertaProcessing")
                read_classifying(component, affixes);
            else if (type != "ByteLevel")  // moves offsets only
                unsupported.push_back("post-processor " + type);
        });
    return affixes;
}

}  // namespace tessera::llm
