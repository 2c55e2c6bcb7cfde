#include "import/architecture/parse_architecture.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "import/architecture/parse_declarations.h"
#include "import/architecture/statements.h"
#include "import/architecture/term_parser.h"
#include "support/error.h"

namespace tessera::import {
namespace {

constexpr int kLongestLine = 8;  ///< of texts that begin with one another

template <typename T, typename Same>
void replace(std::vector<T>& all, T own, Same is_same) {
    const auto found = std::ranges::find_if(all, is_same);
    if (found == all.end())
        all.push_back(std::move(own));
    else
        *found = std::move(own);
}

class Parser {
public:
    Parser(const std::string& file, const TextsByName& others, int depth)
        : file_(file), others_(others), depth_(depth) {}

    Architecture run(std::string_view text) {
        for (const StatementText& statement : statements_of(text, file_)) {
            where_ = fmt::format("{}:{}", file_, statement.line);
            TokenStream tokens = tokens_of(statement.text, where_);
            parse(tokens);
        }
        if (!has_begun_) throw Error(file_, "", "says nothing, expected `arch NAME` first");
        return std::move(result_);
    }

private:
    void parse(TokenStream& tokens) {
        if (!has_begun_) return begin(tokens);
        // A name that a value of the model may have: `layer = ..` is none of the words below.
        const std::string_view next = tokens.peek(1).text;
        const bool is_assignment = next == "=" || next == "[" || next == ",";
        const std::string word = is_assignment ? "" : std::string(tokens.peek().text);
        if (word == "class")
            names_after_word(tokens, result_.classes, true);
        else if (word == "gguf")
            tokens.next(),
                result_.gguf_name = expect_text(tokens, "the name of the architecture in GGUF files");
        else if (word == "set")
            settings(tokens);
        else if (word == "let")
            let(tokens);
        else if (word == "refuse" || word == "warn" || word == "expect")
            result_.verdicts.push_back(parse_verdict(tokens));
        else if (word == "accept")
            accept(tokens);
        else if (word == "ignore")
            ignored(tokens);
        else if (word == "rope")
            rope(tokens);
        else if (word == "features")
            result_.features = parse_features(tokens);
        else if (word == "layers")
            parse_layer_names(tokens, result_);
        else if (word == "model" || word == "layer")
            section(tokens);
        else if (word == "weight" || word == "tensor")
            weights(tokens);
        else if (word == "fused")
            fused(tokens);
        else if (word == "unused")
            names_after_word(tokens, own_section(tokens).unused, false);
        else
            assignment(tokens);
        tokens.expect_end("the statement");
    }

    void begin(TokenStream& tokens) {
        tokens.expect("arch", "as the first word of an architecture");
        // Some names have characters that those of settings do not: "openai-gpt".
        const auto name_of = [&](const char* what) {
            return tokens.peek().kind == Token::Kind::kText ? expect_text(tokens, what)
                                                            : tokens.expect_name(what);
        };
        const std::string name = name_of("the name of the architecture");
        if (tokens.accept("like")) {
            const std::string other = name_of("the name of another architecture");
            if (depth_ == kLongestLine)
                tokens.fail(other,
                            fmt::format("is the {}th text that begins with another", kLongestLine + 1));
            const std::string_view text = others_(other);
            if (text.empty())
                tokens.fail(other, "is no architecture", "`tessera architecture list` names them");
            result_ = Parser(other + ".arch", others_, depth_ + 1).run(text);
            result_.classes.clear();
            result_.gguf_name.clear();
        }
        tokens.expect_end("the statement");
        result_.name = name;
        has_begun_ = true;
    }

    /// Forgets the verdicts of older texts about a setting.
    void accept(TokenStream& tokens) {
        tokens.next();
        const std::string name = tokens.expect_name("the name of a setting");
        if (std::erase_if(result_.verdicts, [&](const Verdict& each) { return each.setting == name; }) == 0)
            tokens.fail(name, "has no verdict that could be taken back");
    }

    void names_after_word(TokenStream& tokens, std::vector<std::string>& names, bool is_anew) {
        tokens.next();
        if (is_anew) names.clear();
        do {
            const std::string name = expect_text(tokens, "a text");
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        } while (tokens.accept(","));
    }

    void ignored(TokenStream& tokens) {
        const bool is_gguf = tokens.peek(1).text == "gguf";
        if (is_gguf) tokens.next();
        auto& all = is_gguf ? result_.ignored_gguf : result_.ignored_hf;
        tokens.next();
        do {
            IgnoredSetting own{expect_text(tokens, "a text"), nullptr, where_};
            if (tokens.accept("=")) own.value = parse_term(tokens);
            const std::string name = own.name;
            replace(all, std::move(own), [&](const IgnoredSetting& each) { return each.name == name; });
        } while (tokens.accept(","));
    }

    void once(std::set<std::string>& seen, const TokenStream& tokens, const std::string& name) {
        if (!seen.insert(name).second) tokens.fail(name, "is declared twice in this text");
    }

    void settings(TokenStream& tokens) {
        tokens.next();
        do {
            const std::string name(tokens.peek().text);
            once(settings_, tokens, name);
            const auto older = std::ranges::find(result_.settings, name, &Setting::name);
            const bool is_new = older == result_.settings.end();
            Setting own = parse_setting(tokens, is_new ? Setting{} : *older, is_new);
            replace(result_.settings, std::move(own), [&](const Setting& each) { return each.name == name; });
            std::erase_if(result_.lets, [&](const Let& each) { return each.name == name; });
        } while (tokens.accept(","));
    }

    void let(TokenStream& tokens) {
        tokens.next();
        const std::string name = tokens.expect_new_name("the name of a value");
        once(settings_, tokens, name);
        tokens.expect("=", "behind the name");
        const Let own{name, parse_term(tokens), where_};
        std::erase_if(result_.settings, [&](const Setting& each) { return each.name == name; });
        replace(result_.lets, own, [&](const Let& each) { return each.name == name; });
    }

    void rope(TokenStream& tokens) {
        RopeText own = parse_rope(tokens);
        once(ropes_, tokens, own.name);
        const std::string name = own.name;
        replace(result_.ropes, std::move(own), [&](const RopeText& each) { return each.name == name; });
    }

    void section(TokenStream& tokens) {
        const bool is_layer = tokens.next().text == "layer";
        section_ = is_layer ? &result_.layer : &result_.model;
        auto& has = is_layer ? has_layer_ : has_model_;
        if (has) tokens.fail(is_layer ? "layer" : "model", "begins twice in this text");
        has = true;
        if (!tokens.accept("changed")) *section_ = {};
        tensors_.clear();
        values_.clear();
    }

    Section& own_section(const TokenStream& tokens) {
        if (!section_)
            tokens.fail(std::string(tokens.peek().text),
                        "is no statement that may stand before `model` and `layer`");
        return *section_;
    }

    /// A text that says something of a tensor says all of it.
    void forget_older(std::set<std::string>& own, const std::string& name) {
        if (!own.insert(name).second) return;
        std::erase_if(section_->tensors, [&](const TensorText& each) { return each.name == name; });
    }

    void weights(TokenStream& tokens) {
        Section& section = own_section(tokens);
        const bool is_bare = tokens.next().text == "tensor";
        do {
            TensorText own = parse_tensor(tokens, is_bare);
            forget_older(tensors_, own.name);
            section.tensors.push_back(std::move(own));
        } while (tokens.accept(","));
    }

    void fused(TokenStream& tokens) {
        Section& section = own_section(tokens);
        FusedText own = parse_fused(tokens);
        std::erase_if(section.fused, [&](const FusedText& each) {
            return !each.where.starts_with(file_ + ":") &&
                   std::ranges::any_of(own.parts, [&](const auto& part) {
                       return std::ranges::find(each.parts, part.tensor, &FusedText::Part::tensor) !=
                              each.parts.end();
                   });
        });
        section.fused.push_back(std::move(own));
    }

    void assignment(TokenStream& tokens) {
        Section& section = own_section(tokens);
        Assignment own = parse_assignment(tokens);
        // In the place of the older ones, whose readers stand behind it.
        auto at = section.assignments.end();
        for (const std::string& name : own.names) {
            const bool is_first = values_.insert(name).second;
            const auto has_name = [&](const Assignment& each) {
                return std::ranges::find(each.names, name) != each.names.end();
            };
            const auto older = std::ranges::find_if(section.assignments, has_name);
            if (older == section.assignments.end()) continue;
            if (is_first) {
                const auto place = older - section.assignments.begin();
                std::erase_if(section.assignments, has_name);
                at = section.assignments.begin() + place;
            } else {
                at = std::find_if(section.assignments.rbegin(), section.assignments.rend(), has_name).base();
            }
        }
        section.assignments.insert(at, std::move(own));
    }

    const std::string file_;
    const TextsByName& others_;
    const int depth_;
    Architecture result_;
    bool has_begun_ = false, has_model_ = false, has_layer_ = false;
    Section* section_ = nullptr;
    std::string where_;
    /// The names that this text itself has, not those that it begins with.
    std::set<std::string> settings_, ropes_, tensors_, values_;
};

}  // namespace

std::string_view name(SettingType type) {
    constexpr std::string_view kNames[] = {"int", "real", "bool", "text", "activation", "pattern"};
    return kNames[static_cast<size_t>(type)];
}

const Setting* Architecture::setting(std::string_view setting_name) const {
    const auto found = std::ranges::find(settings, setting_name, &Setting::name);
    return found == settings.end() ? nullptr : &*found;
}

Architecture parse_architecture(std::string_view text, const std::string& where, const TextsByName& others) {
    Architecture architecture = Parser(where, others, 0).run(text);
    check(architecture);
    return architecture;
}

}  // namespace tessera::import
