#include "import/architecture/term_parser.h"

#include <algorithm>
#include <array>

#include "support/error.h"

namespace tessera::import {
namespace {

constexpr int kDeepestTerm = 60;
/// Operators are read from the left, which nests them in no other way than brackets do.
constexpr int kMostParts = 400;

constexpr std::array<std::string_view, 7> kComparisons = {"<", "<=", ">", ">=", "==", "!=", "in"};
constexpr std::array<std::string_view, 4> kTermOperators = {"*", "/", "div", "mod"};
/// Words of the operators' notation that are functions here, too.
constexpr std::array<std::string_view, 14> kWordsOfFunctions = {"bf16", "abs",     "max",    "min",   "round",
                                                                "exp",  "log",     "sqrt",   "rsqrt", "tanh",
                                                                "erf",  "sigmoid", "select", "sum"};

template <size_t N>
bool is_one_of(const TokenStream& tokens, const std::array<std::string_view, N>& words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return tokens.at(word); });
}

class TermParser {
public:
    explicit TermParser(TokenStream& tokens) : tokens_(tokens) {}

    TermPtr any() {
        if (++depth_ > kDeepestTerm)
            tokens_.fail("", fmt::format("the expression is nested more than {} levels deep", kDeepestTerm));
        TermPtr left = conjunction();
        while (tokens_.accept("or")) left = call_term("or", {left, conjunction()});
        --depth_;
        return left;
    }

private:
    TermPtr conjunction() {
        TermPtr left = negation();
        while (tokens_.accept("and")) left = call_term("and", {left, negation()});
        return left;
    }

    TermPtr negation() {
        int times = 0;
        for (; tokens_.accept("not"); ++times)
            if (times == kDeepestTerm) tokens_.fail("not", "stands too often");
        TermPtr term = comparison();
        for (; times > 0; --times) term = call_term("not", {term});
        return term;
    }

    TermPtr comparison() {
        TermPtr left = sum();
        if (!is_one_of(tokens_, kComparisons)) return left;
        const std::string function(tokens_.next().text);
        TermPtr right = sum();
        if (is_one_of(tokens_, kComparisons))
            tokens_.fail(std::string(tokens_.peek().text),
                         "stands behind a comparison, and comparisons do not chain",
                         "join two of them by `and`");
        return call_term(function, {left, right});
    }

    TermPtr sum() {
        TermPtr left = product();
        while (tokens_.at("+") || tokens_.at("-")) {
            const std::string function(tokens_.next().text);
            left = call_term(function, {left, product()});
        }
        return left;
    }

    TermPtr product() {
        TermPtr left = sign();
        while (is_one_of(tokens_, kTermOperators)) {
            const std::string function(tokens_.next().text);
            left = call_term(function, {left, sign()});
        }
        return left;
    }

    TermPtr sign() {
        int times = 0;
        for (; tokens_.accept("-"); ++times)
            if (times == kDeepestTerm) tokens_.fail("-", "stands too often");
        TermPtr term = primary();
        for (; times > 0; --times) term = call_term("negate", {term});
        return term;
    }

    TermPtr primary() {
        if (++parts_ > kMostParts)
            tokens_.fail("", fmt::format("the expression has more than {} parts", kMostParts));
        const Token& token = tokens_.peek();
        switch (token.kind) {
            case Token::Kind::kInteger:
                return number_term(static_cast<double>(tokens_.next().integer), true);
            case Token::Kind::kReal:
                return number_term(tokens_.next().real, false);
            case Token::Kind::kText:
                return text_term(expect_text(tokens_, "a text"));
            case Token::Kind::kName:
                return named();
            case Token::Kind::kSymbol:
            case Token::Kind::kEnd:
                break;
        }
        if (!tokens_.accept("(")) tokens_.fail_expecting("an expression");
        return in_brackets();
    }

    /// A term, or a list: `(1, 2)`, `(1,)`, `()`.
    TermPtr in_brackets() {
        if (tokens_.accept(")")) return list_term({});
        std::vector<TermPtr> elements = {any()};
        bool is_list = false;
        while (tokens_.accept(",")) {
            is_list = true;
            if (tokens_.at(")")) break;
            elements.push_back(any());
        }
        tokens_.expect(")", "at the end of the parenthesis");
        return is_list ? list_term(std::move(elements)) : elements.front();
    }

    TermPtr named() {
        const std::string word(tokens_.peek().text);
        const bool is_function = std::ranges::find(kWordsOfFunctions, word) != kWordsOfFunctions.end();
        if (is_reserved(word) && word != "inf" && !(is_function && tokens_.peek(1).text == "("))
            tokens_.fail_expecting("an expression");
        tokens_.next();
        if (tokens_.accept("(")) return call(word);
        if (!tokens_.accept("[")) return name_term(word);
        std::vector<TermPtr> indices;
        do indices.push_back(any());
        while (tokens_.accept(","));
        tokens_.expect("]", "behind the indices");
        return element_term(word, std::move(indices));
    }

    TermPtr call(const std::string& function) {
        std::vector<TermPtr> arguments;
        std::vector<std::pair<std::string, TermPtr>> options;
        if (tokens_.accept(")")) return call_term(function, {});
        do {
            const bool is_option = tokens_.peek().kind == Token::Kind::kName && tokens_.peek(1).text == ":";
            if (is_option) {
                const std::string name(tokens_.next().text);
                tokens_.next();
                for (const auto& [other, value] : options)
                    if (other == name) tokens_.fail(name, "is given twice");
                options.emplace_back(name, any());
            } else if (!options.empty()) {
                tokens_.fail_expecting("an option, NAME: VALUE, behind the first one");
            } else {
                arguments.push_back(any());
            }
        } while (tokens_.accept(","));
        tokens_.expect(")", fmt::format("behind the arguments of {}", function));
        return call_term(function, std::move(arguments), std::move(options));
    }

    TokenStream& tokens_;
    int depth_ = 0, parts_ = 0;
};

}  // namespace

TokenStream tokens_of(std::string_view statement, const std::string& where) {
    std::vector<Token> all;
    const auto add = [&](std::string_view part) {
        std::vector<Token> tokens = tokenize(part, where);
        all.insert(all.end(), tokens.begin(), tokens.end() - 1);
    };
    while (!statement.empty()) {
        const size_t quote = statement.find('"');
        add(statement.substr(0, quote));
        if (quote == std::string_view::npos) break;
        const size_t end = statement.find('"', quote + 1);
        TESSERA_CHECK(end != std::string_view::npos, "{}", statement);
        all.push_back({.kind = Token::Kind::kText, .text = statement.substr(quote, end + 1 - quote)});
        statement.remove_prefix(end + 1);
    }
    all.push_back(Token{});
    return {std::move(all), where};
}

std::string expect_text(TokenStream& tokens, std::string_view what) {
    if (tokens.peek().kind != Token::Kind::kText) tokens.fail_expecting(what);
    const std::string_view quoted = tokens.next().text;
    return std::string(quoted.substr(1, quoted.size() - 2));
}

TermPtr parse_term(TokenStream& tokens) {
    return TermParser(tokens).any();
}

}  // namespace tessera::import
