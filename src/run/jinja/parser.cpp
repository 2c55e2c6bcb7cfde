#include "run/jinja/parser.h"

#include <algorithm>
#include <array>
#include <set>

#include "run/jinja/expression_parser.h"
#include "run/jinja/lexer.h"

namespace tessera::jinja {
namespace {

/// The limit of nested blocks.
constexpr int kMostBlocks = 64;

constexpr std::string_view kKnown =
    "for, if, set, macro, call, filter, with, generation, raw, break and continue";

class Parser {
public:
    Parser(std::vector<Token> tokens, const std::string& where)
        : tokens_(std::move(tokens), where), expressions_(tokens_) {}

    Body run() {
        Body body = statements({});
        if (tokens_.peek().kind != TokenKind::kEnd) tokens_.fail_expected("the end of the template");
        expressions_.refuse_unknown();
        return body;
    }

private:
    using Words = std::vector<std::string_view>;

    /// Parses up to a block whose first word is one of `ends`; takes its `{%` but not the word.
    Body statements(const Words& ends) {
        Body body;
        while (true) {
            const Token& token = tokens_.peek();
            switch (token.kind) {
                case TokenKind::kEnd:
                    if (!ends.empty()) tokens_.fail_expected(fmt::format("{{% {} %}}", ends.back()));
                    return body;
                case TokenKind::kData:
                    body.push_back({token.position, Data{tokens_.take().text}});
                    break;
                case TokenKind::kVariableBegin: {
                    const Position position = tokens_.take().position;
                    body.push_back({position, Output{expressions_.tuple()}});
                    tokens_.expect(TokenKind::kVariableEnd, "}}");
                    break;
                }
                default:
                    tokens_.expect(TokenKind::kBlockBegin, "a tag");
                    if (std::any_of(ends.begin(), ends.end(),
                                    [&](std::string_view word) { return tokens_.at_name(word); }))
                        return body;
                    body.push_back(block());
            }
        }
    }

    void end_block() { tokens_.expect(TokenKind::kBlockEnd, "%}"); }

    /// The body of a block with an end of its own.
    Body body_until(std::string_view end) {
        end_block();
        Body body = statements({end});
        tokens_.expect_name(end);
        return body;
    }

    /// The same for text that is captured: `break` does not leave it.
    Body captured_until(std::string_view end) {
        const int loops = std::exchange(loops_, 0);
        Body body = body_until(end);
        loops_ = loops;
        return body;
    }

    Statement block() {
        const Token& token = tokens_.peek();
        const Position position = token.position;
        const std::string word = tokens_.expect_any_name("the name of a statement");
        if (++depth_ > kMostBlocks) tokens_.fail(position, "blocks are too deep inside each other");
        Statement statement{position, Break{}};
        if (word == "if") {
            statement.node = if_block();
        } else if (word == "for") {
            statement.node = for_block();
        } else if (word == "set") {
            statement = set_block(position);
        } else if (word == "macro") {
            statement.node = macro_block();
        } else if (word == "call") {
            statement.node = call_block();
        } else if (word == "filter") {
            FilterBlock block{filters(), {}};
            block.body = captured_until("endfilter");
            statement.node = std::move(block);
        } else if (word == "with") {
            statement.node = with_block();
        } else if (word == "generation") {
            statement.node = Generation{captured_until("endgeneration")};
        } else if (word == "break" || word == "continue") {
            if (loops_ == 0) tokens_.fail(position, fmt::format("`{}` is outside of a loop", word));
            if (word == "continue") statement.node = Continue{};
        } else {
            tokens_.fail(position, fmt::format("there is no statement `{}`", word),
                         fmt::format("chat templates have {}", kKnown));
        }
        end_block();
        --depth_;
        return statement;
    }

    If if_block() {
        If result;
        const size_t known = expressions_.unknown();
        while (true) {
            ExpressionPtr condition = expressions_.tuple(false);
            end_block();
            Body body = statements({"elif", "else", "endif"});
            result.branches.emplace_back(std::move(condition), std::move(body));
            if (tokens_.skip_name("elif")) continue;
            if (tokens_.skip_name("else")) {
                end_block();
                result.otherwise = statements({"endif"});
            }
            tokens_.expect_name("endif");
            expressions_.allow_unknown(known);
            return result;
        }
    }

    For for_block() {
        For result{expressions_.target(true), nullptr, nullptr, {}, {}};
        refuse_name(result.target, "loop");
        refuse_attribute(result.target);
        tokens_.expect_name("in");
        result.items = expressions_.tuple(false);
        if (tokens_.skip_name("if")) result.filter = expressions_.expression();
        if (tokens_.at_name("recursive"))
            tokens_.fail(tokens_.peek().position, "recursive loops are not supported",
                         "a macro can call itself");
        end_block();
        ++loops_;
        result.body = statements({"else", "endfor"});
        --loops_;
        if (tokens_.skip_name("else")) {
            end_block();
            result.otherwise = statements({"endfor"});
        }
        tokens_.expect_name("endfor");
        return result;
    }

    Statement set_block(Position position) {
        Target target = expressions_.target(true);
        if (tokens_.skip_operator("=")) return {position, Set{std::move(target), expressions_.tuple()}};
        if (!target.parts.empty()) tokens_.fail_expected("\"=\"");
        SetBlock block{std::move(target), {}, {}};
        if (tokens_.skip_operator("|")) block.filters = filters();
        block.body = captured_until("endset");
        return {position, std::move(block)};
    }

    /// Filters without an input: "upper | trim".
    std::vector<FilterCall> filters() {
        std::vector<FilterCall> calls;
        do calls.push_back(expressions_.filter());
        while (tokens_.skip_operator("|"));
        return calls;
    }

    Signature signature() {
        Signature result;
        tokens_.expect_operator("(");
        while (!tokens_.at_operator(")")) {
            const Position position = tokens_.peek().position;
            Target target = expressions_.target(false);
            refuse_attribute(target);
            if (std::find(result.parameters.begin(), result.parameters.end(), target.name) !=
                result.parameters.end())
                tokens_.fail(position, fmt::format("the parameter `{}` occurs twice", target.name));
            result.parameters.push_back(std::move(target.name));
            if (tokens_.skip_operator("="))
                result.defaults.push_back(expressions_.expression());
            else if (!result.defaults.empty())
                tokens_.fail(position, "a parameter without a default follows one with a default");
            if (!tokens_.skip_operator(",")) break;
        }
        tokens_.expect_operator(")");
        return result;
    }

    /// The body of a macro, with the special variables that it reads. `break` does not leave it.
    Body macro_body(Signature& of, std::string_view end) {
        const std::set<std::string> outside = expressions_.take_names();
        Body body = captured_until(end);
        const std::set<std::string> inside = expressions_.take_names();
        const auto reads = [&](const char* name) {
            return inside.contains(name) &&
                   std::find(of.parameters.begin(), of.parameters.end(), name) == of.parameters.end();
        };
        of.uses_varargs = reads("varargs");
        of.uses_kwargs = reads("kwargs");
        of.uses_caller = inside.contains("caller");
        expressions_.add_names(outside);
        expressions_.add_names(inside);
        return body;
    }

    Macro macro_block() {
        Macro macro;
        const Position position = tokens_.peek().position;
        const Target name = expressions_.target(false);
        if (!name.attribute.empty()) tokens_.fail(position, "a macro is named by one word");
        macro.name = name.name;
        macro.signature = signature();
        macro.body = macro_body(macro.signature, "endmacro");
        return macro;
    }

    CallBlock call_block() {
        CallBlock block;
        if (tokens_.at_operator("(")) block.signature = signature();
        const Position position = tokens_.peek().position;
        block.call = expressions_.expression();
        if (!std::holds_alternative<Call>(block.call->node))
            tokens_.fail(position, "a call block needs the call of a macro");
        block.body = macro_body(block.signature, "endcall");
        return block;
    }

    With with_block() {
        With with;
        while (tokens_.peek().kind != TokenKind::kBlockEnd) {
            if (!with.values.empty()) tokens_.expect_operator(",");
            Target target = expressions_.target(false);
            refuse_attribute(target);
            tokens_.expect_operator("=");
            with.values.emplace_back(std::move(target), expressions_.expression());
        }
        with.body = body_until("endwith");
        return with;
    }

    void refuse_name(const Target& target, std::string_view name) const {
        if (target.name == name)
            tokens_.fail(target.position, fmt::format("`{}` cannot be assigned to in a loop", name));
        for (const Target& part : target.parts) refuse_name(part, name);
    }
    void refuse_attribute(const Target& target) const {
        if (!target.attribute.empty()) tokens_.fail(target.position, "a name without attributes is expected");
        for (const Target& part : target.parts) refuse_attribute(part);
    }

    TokenStream tokens_;
    ExpressionParser expressions_;
    int depth_ = 0;
    int loops_ = 0;
};

/// Joins adjacent texts of expressions to one.
std::string literal_text(const std::vector<Token>& tokens) {
    std::string text;
    TokenKind before = TokenKind::kEnd;
    for (const Token& token : tokens) {
        const bool is_text = token.kind == TokenKind::kString;
        if (is_text || token.kind == TokenKind::kData) {
            if (!text.empty() && !(is_text && before == TokenKind::kString)) text += '\0';
            text += token.text;
        }
        before = token.kind;
    }
    return text;
}

}  // namespace

ParsedTemplate parse(std::string_view source, const std::string& where) {
    std::vector<Token> tokens = lex(source, where);
    std::string literals = literal_text(tokens);
    return {Parser(std::move(tokens), where).run(), std::move(literals)};
}

}  // namespace tessera::jinja
