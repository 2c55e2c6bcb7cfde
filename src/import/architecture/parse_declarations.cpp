#include "import/architecture/parse_declarations.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "import/architecture/term_parser.h"
#include "support/error.h"

namespace tessera::import {
namespace {

constexpr SettingType kTypes[] = {SettingType::kInteger, SettingType::kReal,       SettingType::kBool,
                                  SettingType::kText,    SettingType::kActivation, SettingType::kPattern};

/// `"a" or "b"`, or nothing.
std::vector<std::string> alternatives(TokenStream& tokens) {
    std::vector<std::string> names;
    if (tokens.peek().kind != Token::Kind::kText) return names;
    do names.push_back(expect_text(tokens, "a name"));
    while (tokens.accept("or"));
    return names;
}

std::vector<std::string> names_behind(TokenStream& tokens, const char* what) {
    std::vector<std::string> names = alternatives(tokens);
    if (names.empty()) tokens.fail_expecting(what);
    return names;
}

/// Behind `hf` or `gguf`: names, `= DEFAULT`, `null VALUE`. What is not said stays.
void parse_format(TokenStream& tokens, FormatNames& format) {
    if (tokens.peek().kind == Token::Kind::kText) format.names = alternatives(tokens);
    if (tokens.accept("=")) format.absent = parse_term(tokens);
    if (tokens.accept("null")) format.null = parse_term(tokens);
}

std::vector<TermPtr> shape_of(TokenStream& tokens) {
    tokens.expect("[", "before the extents");
    std::vector<TermPtr> shape;
    if (tokens.accept("]")) return shape;
    do shape.push_back(parse_term(tokens));
    while (tokens.accept(","));
    tokens.expect("]", "behind the extents");
    constexpr size_t kMostAxes = 3;
    if (shape.size() > kMostAxes)
        tokens.fail("", fmt::format("a tensor has {} axes, expected at most {}", shape.size(), kMostAxes));
    return shape;
}

void parse_type(TokenStream& tokens, Setting& setting, bool is_new) {
    const auto* const type =
        std::ranges::find_if(kTypes, [&](SettingType each) { return tokens.at(name(each)); });
    if (type == std::end(kTypes)) {
        if (is_new)
            tokens.fail_expecting("a type (int, real, bool, text, activation or pattern) of the new setting");
        return;
    }
    tokens.next();
    setting = {.name = setting.name, .type = *type, .where = setting.where};
    setting.is_list = tokens.accept("list");
    setting.is_alike = tokens.accept("alike");
    setting.is_per_layer = tokens.accept("per");
    if (setting.is_per_layer) tokens.expect("layer", "behind `per`");
    if (setting.type == SettingType::kPattern) setting.is_per_layer = true;
}

/// Takes one of the words that say by which names and how a tensor, or several together, are stored.
template <class Stored>
bool accept_place(TokenStream& tokens, Stored& stored) {
    if (tokens.accept("hf"))
        stored.hf = names_behind(tokens, "a name in folders");
    else if (tokens.accept("gguf"))
        stored.gguf = names_behind(tokens, "a name in GGUF files");
    else if (tokens.accept("transposed"))
        stored.is_transposed = true;
    else
        return false;
    return true;
}

}  // namespace

Setting parse_setting(TokenStream& tokens, Setting older, bool is_new) {
    Setting setting = std::move(older);
    setting.name = tokens.expect_new_name("the name of a setting");
    setting.where = tokens.where();
    parse_type(tokens, setting, is_new);
    while (true) {
        if (tokens.accept("from")) {
            setting.low = parse_term(tokens);
            tokens.expect("to", "behind the lower bound");
            setting.high = parse_term(tokens);
        } else if (tokens.accept("of")) {
            tokens.expect("(", "before the choices");
            setting.choices.clear();
            do setting.choices.push_back(expect_text(tokens, "a choice"));
            while (tokens.accept(","));
            tokens.expect(")", "behind the choices");
        } else if (tokens.accept("hf")) {
            parse_format(tokens, setting.hf);
        } else if (tokens.accept("gguf")) {
            parse_format(tokens, setting.gguf);
        } else if (tokens.accept("=")) {
            setting.hf.absent = setting.gguf.absent = parse_term(tokens);
        } else if (tokens.accept("null")) {
            setting.hf.null = setting.gguf.null = parse_term(tokens);
        } else {
            return setting;
        }
    }
}

Verdict parse_verdict(TokenStream& tokens) {
    const std::string word(tokens.next().text);
    Verdict verdict{.kind = word == "refuse" ? Verdict::Kind::kRefuse
                            : word == "warn" ? Verdict::Kind::kWarn
                                             : Verdict::Kind::kExpect};
    verdict.where = tokens.where();
    verdict.setting = tokens.expect_name("the name of a setting");
    tokens.expect("when", "behind the setting");
    verdict.condition = parse_term(tokens);
    verdict.text = expect_text(tokens, "the reason as a text");
    return verdict;
}

FeaturesText parse_features(TokenStream& tokens) {
    tokens.next();
    FeaturesText features;
    features.where = tokens.where();
    const auto read = [&](const char* word, const char* what) {
        tokens.expect(word, what);
        return parse_term(tokens);
    };
    features.width = read("width", "behind `features`: the width of a row");
    features.taps = read("taps", "behind the width: the rows of a token");
    features.every = read("every", "behind the taps: the rows from a token to the next one");
    features.first = read("from", "behind them: the first row of the first token");
    features.count = read("count", "behind the first row: the tokens of a source");
    return features;
}

RopeText parse_rope(TokenStream& tokens) {
    tokens.next();
    RopeText rope;
    rope.where = tokens.where();
    rope.name = tokens.expect_new_name("the name of rotary tables");
    tokens.expect("width", "behind the name: the width of the heads");
    rope.width = parse_term(tokens);
    while (!tokens.at_end()) {
        if (tokens.accept("hf"))
            parse_format(tokens, rope.hf);
        else if (tokens.accept("gguf"))
            parse_format(tokens, rope.gguf);
        else if (tokens.accept("kind"))
            rope.kind = expect_text(tokens, "a kind of layers");
        else if (tokens.accept("longrope"))
            rope.has_longrope = true;
        else if (tokens.accept("proportional"))
            rope.has_proportional = true;
        else if (tokens.accept("alpha"))
            rope.has_alpha = true;
        else if (tokens.accept("fixed"))
            rope.is_fixed = true;
        else if (tokens.accept("base"))
            rope.base = parse_term(tokens);
        else if (tokens.accept("first"))
            rope.first = parse_term(tokens);
        else if (tokens.accept("level"))
            rope.gguf_level = parse_term(tokens);
        else if (tokens.accept("rotated"))
            rope.rotated = parse_term(tokens);
        else if (tokens.accept("original"))
            rope.original_context = parse_term(tokens);
        else if (tokens.accept("dimension_count"))
            rope.has_gguf_part = true;
        else if (tokens.accept("partial"))
            rope.part_names = alternatives(tokens), rope.part = parse_term(tokens);
        else
            tokens.fail_expecting(
                "hf, gguf, kind, longrope, proportional, alpha, base, fixed, first, original, partial, "
                "rotated, level or dimension_count");
    }
    return rope;
}

void parse_layer_names(TokenStream& tokens, Architecture& architecture) {
    tokens.next();
    const auto name = [&] {
        std::string text = expect_text(tokens, "the beginning of the names in a layer");
        if (text.find("{}") == std::string::npos)
            tokens.fail(text, "has no place for the number of the layer, expected {}");
        return text;
    };
    tokens.expect("hf", "behind `layers`");
    const auto all_names = [&] {
        std::vector<std::string> all = {name()};
        while (tokens.accept("or")) all.push_back(name());
        return all;
    };
    architecture.hf_layers = all_names();
    architecture.gguf_layers = tokens.accept("gguf") ? all_names() : std::vector<std::string>();
    architecture.layer_place = tokens.accept("at") ? parse_term(tokens) : nullptr;
    tokens.expect("count", "behind the names");
    architecture.layer_count = parse_term(tokens);
    architecture.layer_number = tokens.accept("number") ? parse_term(tokens) : nullptr;
}

TensorText parse_tensor(TokenStream& tokens, bool is_bare) {
    TensorText tensor;
    tensor.is_bare = is_bare;
    tensor.where = tokens.where();
    tensor.name = tokens.expect_new_name("the name of a tensor");
    tensor.shape = shape_of(tokens);
    while (true) {
        if (accept_place(tokens, tensor)) continue;
        if (tokens.accept("bias"))
            tensor.bias = parse_term(tokens);
        else if (tokens.accept("tied"))
            tensor.tied = tokens.expect_name("the tensor that stands in for it");
        else if (tokens.accept("when"))
            tensor.when = parse_term(tokens);
        else
            return tensor;
    }
}

FusedText parse_fused(TokenStream& tokens) {
    tokens.next();
    FusedText fused;
    fused.where = tokens.where();
    fused.is_bare = tokens.accept("tensor");
    while (accept_place(tokens, fused)) {
    }
    tokens.expect("of", "before the tensors that are stored together");
    if (tokens.accept("each")) {
        fused.repeat = parse_term(tokens);
        tokens.expect(":", "behind the number of repetitions");
        tokens.expect("(", "before the tensors of each repetition");
    }
    do {
        FusedText::Part part{.tensor = tokens.expect_name("the name of a tensor"), .rows = nullptr};
        part.is_turned = tokens.accept("transposed");
        const bool has_rows = !tokens.at_end() && !tokens.at(",") && !tokens.at(")") && !tokens.at("when");
        if (has_rows) part.rows = parse_term(tokens);
        fused.parts.push_back(std::move(part));
    } while (tokens.accept(","));
    if (fused.repeat) tokens.expect(")", "behind the tensors of each repetition");
    if (tokens.accept("when")) fused.when = parse_term(tokens);
    return fused;
}

Assignment parse_assignment(TokenStream& tokens) {
    Assignment own;
    own.where = tokens.where();
    own.is_carried = tokens.accept("carry");
    own.names.push_back(tokens.expect_new_name("a value"));
    if (own.is_carried && !tokens.at("[")) tokens.fail_expecting("[, and the indices of what is carried");
    if (tokens.accept("[")) {
        own.has_indices = true;
        while (!tokens.accept("]")) {
            own.indices.push_back(tokens.expect_new_name("an index"));
            own.extents.push_back(tokens.accept(":") ? parse_term(tokens) : nullptr);
            if (!tokens.at("]")) tokens.expect(",", "between the indices");
        }
    }
    while (!own.has_indices && tokens.accept(",")) own.names.push_back(tokens.expect_new_name("a value"));
    tokens.expect("=", "behind the value's name");
    own.value = parse_term(tokens);
    if (tokens.accept("when")) own.when = parse_term(tokens);
    return own;
}

}  // namespace tessera::import
