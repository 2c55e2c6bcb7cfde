#include "ir/definition_parser.h"

#include <algorithm>
#include <array>

#include "ir/expr_parser.h"
#include "ir/lexer.h"
#include "ir/test_setup_parser.h"
#include "support/error.h"

namespace tessera {
namespace {

// Limits far beyond any operator: they keep hostile text from costing time or stack.
constexpr size_t kLargestText = size_t{1} << 20;  // bytes
constexpr size_t kLongestLine = 4096;             // tokens
constexpr size_t kMostIterators = 64;
constexpr size_t kMostNames = 256;  // dims, and tensors

struct Keyword {
    std::string_view word;
    int rank;  ///< lines stand in this order
    bool may_repeat;
};
constexpr int kResultRank = 4;
constexpr int kTestRank = 8;
constexpr std::array<Keyword, 17> kKeywords = {{{"op", 0, false},
                                                {"dim", 1, true},
                                                {"index", 2, true},
                                                {"in", 3, true},
                                                {"out", kResultRank, false},
                                                {"update", kResultRank, false},
                                                {"carry", kResultRank, true},
                                                {"where", 5, false},
                                                {"acc", 6, false},
                                                {"weights", 7, false},
                                                {"regrouped", 7, false},
                                                {"test", kTestRank, false},
                                                {"bind", 9, true},
                                                {"fill", 10, true},
                                                {"tile", 11, true},
                                                {"lanes", 12, false},
                                                {"unit", 13, false}}};

struct KeywordLine {
    int number;
    const Keyword* keyword;
    TokenStream tokens;  ///< behind the keyword
};

class Parser {
public:
    Parser(std::string_view text, const std::string& source) : source_(source) { split(text); }

    DefinitionFile run(bool with_test) {
        check_order();
        // Extents use dims, which are declared below them.
        for (KeywordLine& line : lines_) {
            if (line.keyword->word == "dim") parse_dims(line);
        }
        for (KeywordLine& line : lines_) {
            if (!with_test && line.keyword->rank >= kTestRank) {
                line.tokens.fail(std::string(line.keyword->word),
                                 "is not expected here: this definition has no test part");
            }
            if (line.keyword->word != "dim") parse_line(line);
        }
        if (definition().results().empty()) {
            throw Error(place(source_, lines_.back().number), "", "the definition ends without a result",
                        "add `out` or `update`");
        }
        verify_at(file_.definition, source_, file_.lines);
        if (with_test) verify_test_at(file_, source_);
        return std::move(file_);
    }

private:
    Definition& definition() { return file_.definition; }

    void split(std::string_view text) {
        if (text.size() > kLargestText) {
            throw Error(source_, "",
                        fmt::format("has {} bytes, expected at most {}", text.size(), kLargestText));
        }
        for (int number = 1; !text.empty(); ++number) {
            const size_t end = text.find('\n');
            std::string_view line = text.substr(0, end);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            if (line.ends_with('\r')) line.remove_suffix(1);
            std::vector<Token> tokens = tokenize(line, place(source_, number));
            if (tokens.size() > kLongestLine) {
                throw Error(place(source_, number), "",
                            fmt::format("the line has more than {} words", kLongestLine));
            }
            if (tokens.size() > 1) lines_.push_back(with_keyword(number, std::move(tokens)));
        }
    }

    KeywordLine with_keyword(int number, std::vector<Token> tokens) const {
        const Token first = tokens.front();
        const auto* keyword = std::ranges::find(kKeywords, first.text, &Keyword::word);
        TokenStream stream(std::move(tokens), place(source_, number));
        if (keyword == kKeywords.end()) {
            stream.fail_expecting(
                "one of op, dim, index, in, out, update, carry, where, acc, weights, regrouped, test, bind, "
                "fill, tile, lanes, unit");
        }
        stream.next();
        return KeywordLine{number, keyword, std::move(stream)};
    }

    void check_order() const {
        const KeywordLine* last = nullptr;
        // Each line of a recurrence makes a result.
        const bool is_recurrence = std::ranges::any_of(
            lines_, [](const KeywordLine& line) { return line.keyword->word == "carry"; });
        for (const KeywordLine& line : lines_) {
            const bool may_repeat =
                line.keyword->may_repeat || (is_recurrence && line.keyword->rank == kResultRank);
            const std::string word(line.keyword->word);
            if (!last && line.keyword->rank != 0)
                line.tokens.fail(word, "stands before the line `op NAME(...)`");
            if (last && line.keyword->rank < last->keyword->rank) {
                line.tokens.fail(word, fmt::format("cannot follow `{}`", last->keyword->word),
                                 "the order is op, dim, index, in, out, update or carry, where, acc, weights "
                                 "or regrouped, "
                                 "test, bind, fill, tile, lanes, unit");
            }
            if (last && line.keyword->rank == last->keyword->rank && !may_repeat) {
                line.tokens.fail(word, fmt::format("follows `{}` in line {}, expected one such line",
                                                   last->keyword->word, last->number));
            }
            if (line.keyword->rank > kTestRank && last->keyword->rank < kTestRank)
                line.tokens.fail(word, "stands before the line `test`");
            last = &line;
        }
        if (!last)
            throw Error(source_, "", "is empty, expected a definition that starts with `op NAME(...)`");
    }

    void parse_line(KeywordLine& line) {
        const std::string_view word = line.keyword->word;
        TokenStream& tokens = line.tokens;
        if (word == "op") return parse_op(line);
        if (word == "index") return parse_operands(line, Role::kIndex);
        if (word == "in") return parse_operands(line, Role::kIn);
        if (word == "out" || word == "update")
            return parse_results(line, word == "out" ? Role::kOut : Role::kUpdate);
        if (word == "carry") return parse_carry(line);
        if (word == "where") return parse_where(line);
        if (word == "acc") {
            definition().accumulator = accumulator_type(line);
            return;
        }
        if (word == "weights") {
            definition().weights = parse_f32_or(ElementType::kBF16, line, "the type of the weights");
            return;
        }
        if (word == "regrouped") {
            definition().may_regroup = true;
            return tokens.expect_end("`regrouped`");
        }
        if (word == "test") return tokens.expect_end("`test`");
        parse_test_line(word, tokens, line.number, file_);
    }

    std::string new_name(TokenStream& tokens, std::string_view what) {
        std::string fresh = tokens.expect_new_name(what);
        const Definition& d = definition();
        if (d.iterator(fresh) >= 0 || d.dim(fresh) >= 0 || d.tensor(fresh) >= 0 ||
            (fresh == d.name && !d.name.empty())) {
            tokens.fail(fresh, "is declared twice; names are unique in a definition");
        }
        return fresh;
    }

    void parse_op(KeywordLine& line) {
        TokenStream& tokens = line.tokens;
        definition().name = new_name(tokens, "the name of an operator");
        file_.lines.op = line.number;
        tokens.expect("(", "after the name of the operator");
        do {
            Iterator iterator;
            iterator.name = new_name(tokens, "the name of an iterator");
            iterator.is_ordered = tokens.accept(">");
            iterator.is_reduction = tokens.accept("*") || iterator.is_ordered;
            tokens.expect(":", "and the extent of the iterator");
            iterator.extent = ExprParser(tokens, definition(), ExprContext::kExtent).parse();
            definition().iterators.push_back(std::move(iterator));
            if (definition().iterators.size() > kMostIterators) {
                tokens.fail("", fmt::format("the operator has more than {} iterators", kMostIterators));
            }
        } while (tokens.accept(","));
        tokens.expect(")", "after the iterators");
        tokens.expect_end("the iterators");
    }

    void parse_dims(KeywordLine& line) {
        TokenStream& tokens = line.tokens;
        do {
            DimSymbol dim;
            dim.name = new_name(tokens, "the name of a dim");
            tokens.expect("in", "and the bounds of the dim");
            dim.low = tokens.expect_integer("the lower bound");
            tokens.expect("..", "between the bounds of the dim");
            dim.high = tokens.expect_integer("the upper bound");
            if (tokens.accept("multiple")) {
                tokens.expect("of", "after `multiple`");
                dim.multiple_of = tokens.expect_integer("the divisor");
            }
            definition().dims.push_back(std::move(dim));
            file_.lines.dims.push_back(line.number);
            if (definition().dims.size() > kMostNames)
                tokens.fail("", fmt::format("more than {} dims are declared", kMostNames));
        } while (tokens.accept(","));
        tokens.expect_end("the dims");
    }

    void parse_tensor(KeywordLine& line, Role role) {
        TokenStream& tokens = line.tokens;
        TensorDecl tensor;
        tensor.role = role;
        tensor.name = new_name(tokens, "the name of a tensor");
        const auto type = tokens.at_end() ? std::nullopt : element_type_of(tokens.peek().text);
        if (!type)
            tokens.fail_expecting(
                "an element type: f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, bool, u6, u5, "
                "i4, "
                "u4, u3 or u2");
        tensor.type = *type;
        tokens.next();
        tokens.expect("[", "and the access map");
        ExprParser map(tokens, definition(),
                       role == Role::kIndex ? ExprContext::kIndexMap : ExprContext::kMap);
        tensor.map = map.parse_list("]", "after the access map");
        if (tokens.accept("of")) {
            tokens.expect("[", "and the shape");
            tensor.shape =
                ExprParser(tokens, definition(), ExprContext::kExtent).parse_list("]", "after the shape");
        }
        definition().tensors.push_back(std::move(tensor));
        file_.lines.tensors.push_back(line.number);
        if (definition().tensors.size() > kMostNames)
            tokens.fail("", fmt::format("more than {} tensors are declared", kMostNames));
    }

    void parse_operands(KeywordLine& line, Role role) {
        do {
            parse_tensor(line, role);
        } while (line.tokens.accept(","));
        line.tokens.expect_end("the declarations");
    }

    void parse_results(KeywordLine& line, Role role) {
        TokenStream& tokens = line.tokens;
        do {
            parse_tensor(line, role);
        } while (tokens.accept(","));
        tokens.expect("=", "and the body");
        if (definition().is_recurrence())
            return parse_line_of_recurrence(line, static_cast<int>(definition().tensors.size()) - 1);
        ExprParser body(tokens, definition(), ExprContext::kBody);
        const ExprPtr expr = body.parse();
        tokens.expect_end("the body");
        file_.lines.body = line.number;
        definition().monoid = body.monoid();
        definition().body = body.monoid_arguments();
        if (body.monoid() == Monoid::kNone) {
            definition().body = {expr};
        } else if (!std::holds_alternative<Folded>(expr->node)) {
            definition().post = expr;
        }
    }

    /// `carry S f32[..] of [..]` declares it, `carry S = ..` is its line.
    void parse_carry(KeywordLine& line) {
        TokenStream& tokens = line.tokens;
        if (definition().is_recurrence() && tokens.peek(1).text == "=") {
            const int carried = definition().tensor(tokens.expect_name("what is carried"));
            tokens.expect("=", "and the body");
            if (carried < 0 || definition().tensors[static_cast<size_t>(carried)].role != Role::kUpdate)
                tokens.fail_expecting("the name that the first line `carry` declares");
            return parse_line_of_recurrence(line, carried);
        }
        parse_tensor(line, Role::kUpdate);
        tokens.expect_end("the declaration");
        definition().monoid = Monoid::kInOrder;
    }

    void parse_line_of_recurrence(KeywordLine& line, int result) {
        ExprParser body(line.tokens, definition(), ExprContext::kBody);
        const ExprPtr expr = body.parse();
        line.tokens.expect_end("the body");
        file_.lines.body = line.number;
        RecurrenceLine made{.result = result, .fold = body.monoid(), .post = nullptr};
        if (made.fold == Monoid::kSoftmaxSum)
            line.tokens.fail("softmax_sum", "has three results, and a line of a recurrence one");
        definition().body.push_back(made.fold == Monoid::kNone ? expr : body.monoid_arguments().front());
        if (made.fold != Monoid::kNone && !std::holds_alternative<Folded>(expr->node)) made.post = expr;
        definition().lines.push_back(std::move(made));
        if (definition().lines.size() > kMostNames)
            line.tokens.fail("", fmt::format("the recurrence has more than {} lines", kMostNames));
    }

    void parse_where(KeywordLine& line) {
        definition().where = ExprParser(line.tokens, definition(), ExprContext::kWhere).parse();
        file_.lines.where = line.number;
        line.tokens.expect_end("the predicate");
    }

    static ElementType accumulator_type(KeywordLine& line) {
        const std::optional<ElementType> type = element_type_of(line.tokens.peek().text);
        if (!type || (*type != ElementType::kF32 && *type != ElementType::kF64 &&
                      *type != ElementType::kI32 && *type != ElementType::kI64))
            line.tokens.fail_expecting("the accumulator type f32, f64, i32 or i64");
        line.tokens.next();
        line.tokens.expect_end("the accumulator type");
        return *type;
    }

    static ElementType parse_f32_or(ElementType other, KeywordLine& line, const std::string& what) {
        const bool is_f32 = line.tokens.at("f32");
        if (!is_f32 && !line.tokens.at(std::string(name(other))))
            line.tokens.fail_expecting(fmt::format("{} f32 or {}", what, name(other)));
        line.tokens.next();
        line.tokens.expect_end(what);
        return is_f32 ? ElementType::kF32 : other;
    }

    const std::string& source_;
    std::vector<KeywordLine> lines_;
    DefinitionFile file_;
};

}  // namespace

DefinitionFile parse_definition_file(std::string_view text, const std::string& where) {
    return Parser(text, where).run(true);
}

Definition parse_definition(std::string_view text, const std::string& where) {
    return Parser(text, where).run(false).definition;
}

}  // namespace tessera
