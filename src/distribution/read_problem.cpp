#include "distribution/read_problem.h"

#include <algorithm>
#include <array>
#include <map>

#include "ir/definition_parser.h"
#include "ir/lexer.h"
#include "support/error.h"

namespace tessera::distribution {
namespace {

// Limits far beyond any graph of operators: they keep hostile text from costing time.
constexpr size_t kLargestFile = size_t{1} << 19;  // bytes
constexpr size_t kMostOperators = 256;
constexpr size_t kMostLevels = 6;
constexpr int64_t kMostDevices = int64_t{1} << 20;
constexpr int64_t kLargestValue = int64_t{1} << 50;     // bits of all devices that hold it whole
constexpr int64_t kLargestOperator = int64_t{1} << 40;  // iterations

struct Keyword {
    std::string_view word;
    int rank;  ///< lines stand in this order
    bool may_repeat;
};
constexpr std::array<Keyword, 7> kKeywords = {{{"devices", 1, true},
                                               {"compute", 2, false},
                                               {"memory", 3, false},
                                               {"constant", 4, false},
                                               {"input", 5, true},
                                               {"output", 6, true},
                                               {"fill", 7, true}}};
constexpr std::array<std::string_view, 6> kOfOperators = {"op", "index", "in", "out", "where", "acc"};
constexpr std::array<std::string_view, 8> kOfOtherFiles = {"dim",  "update", "weights", "test",
                                                           "bind", "tile",   "lanes",   "unit"};

struct SourceLine {
    int number;
    std::string_view text;
    std::string_view word;
};

// Within what sums of products of such numbers stay finite, and far from the smallest.
constexpr double kLargestNumber = 1e30;

double real_number(TokenStream& tokens, const std::string& what, bool may_be_zero) {
    const Token token = tokens.next();
    const bool is_number = token.kind == Token::Kind::kInteger || token.kind == Token::Kind::kReal;
    const double value =
        token.kind == Token::Kind::kInteger ? static_cast<double>(token.integer) : token.real;
    const bool is_in_range = value >= 1 / kLargestNumber && value <= kLargestNumber;
    if (!is_number || !(is_in_range || (value == 0 && may_be_zero)))
        tokens.fail(what, fmt::format("is `{}`, expected {}a number from 1e-30 to 1e30", token.text,
                                      may_be_zero ? "0 or " : ""));
    return value;
}

class ProblemReader {
public:
    ProblemReader(std::string_view text, const std::string& where) : where_(where) { split(text); }

    Problem run() {
        read_operators();
        for (const SourceLine& line : others_) read_other(line);
        check_whole();
        return std::move(problem_);
    }

private:
    [[noreturn]] void fail(int line, std::string_view entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(place(where_, line), std::string(entity), problem, advice);
    }

    // Lines of operators into blocks_, the others into others_.
    void split(std::string_view text) {
        if (text.size() > kLargestFile)
            throw Error(where_, "",
                        fmt::format("has {} bytes, expected at most {}", text.size(), kLargestFile));
        int rank = 0;
        for (int number = 1; !text.empty(); ++number) {
            const size_t end = text.find('\n');
            std::string_view line = text.substr(0, end);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            if (line.ends_with('\r')) line.remove_suffix(1);
            const std::vector<Token> tokens = tokenize(line, place(where_, number));
            if (tokens.size() == 1) continue;
            add({number, line, tokens.front().text}, rank);
        }
        if (blocks_.empty())
            throw Error(where_, "", "holds no operator, expected a definition that starts with `op`");
    }

    void add(const SourceLine& line, int& rank) {
        const std::string_view word = line.word;
        if (std::ranges::find(kOfOtherFiles, word) != kOfOtherFiles.end())
            fail(line.number, word, "has no place in a graph that is distributed",
                 "extents are numbers, and nothing is updated");
        if (std::ranges::find(kOfOperators, word) != kOfOperators.end()) {
            if (!others_.empty()) fail(line.number, word, "stands below a line that follows all operators");
            if (word == "op") {
                if (blocks_.size() == kMostOperators)
                    fail(line.number, word, fmt::format("begins one operator more than {}", kMostOperators));
                blocks_.emplace_back();
            }
            if (blocks_.empty())
                fail(line.number, word, "stands in no operator", "start with `op NAME(...)`");
            return blocks_.back().push_back(line);
        }
        const auto* keyword = std::ranges::find(kKeywords, word, &Keyword::word);
        if (keyword == kKeywords.end())
            fail(line.number, word,
                 "begins no line of such a file, expected one of op, index, in, out, where, acc, devices, "
                 "compute, memory, constant, input, output, fill");
        if (keyword->rank < rank)
            fail(line.number, word, fmt::format("cannot follow `{}`", others_.back().word),
                 "the order is devices, compute, memory, constant, input, output, fill");
        if (keyword->rank == rank && !keyword->may_repeat) fail(line.number, word, "stands twice");
        rank = keyword->rank;
        others_.push_back(line);
    }

    // A definition file of its own: blank lines in place of the others, so that errors name the right line,
    // and the fills of its index operands as its test part.
    std::string definition_text(const std::vector<SourceLine>& block) const {
        std::string text;
        int at = 1;
        const auto append = [&](int line, std::string_view content) {
            text.append(static_cast<size_t>(std::max(0, line - at)), '\n').append(content).push_back('\n');
            at = std::max(at, line) + 1;
        };
        std::vector<std::string_view> indices;
        for (const SourceLine& line : block) {
            append(line.number, line.text);
            if (line.word != "index") continue;
            // Names before a type; the parser of definitions checks the rest.
            const std::vector<Token> tokens = tokenize(line.text, place(where_, line.number));
            for (size_t i = 0; i + 1 < tokens.size(); ++i)
                if (element_type_of(tokens[i + 1].text)) indices.push_back(tokens[i].text);
        }
        if (others_.empty()) return text;
        append(others_.front().number, "test");
        for (const SourceLine& line : others_) {
            if (line.word != "fill") continue;
            const std::vector<Token> tokens = tokenize(line.text, place(where_, line.number));
            if (std::ranges::find(indices, tokens[1].text) != indices.end()) append(line.number, line.text);
        }
        return text;
    }

    void read_operators() {
        for (const SourceLine& line : others_)
            if (line.word == "fill") {
                const std::vector<Token> tokens = tokenize(line.text, place(where_, line.number));
                if (!fills_.emplace(tokens[1].text, line.number).second)
                    fail(line.number, tokens[1].text, "is filled twice");
            }
        for (const std::vector<SourceLine>& block : blocks_) {
            const DefinitionFile file = parse_definition_file(definition_text(block), where_);
            add_operator(file, block.front().number);
        }
    }

    void add_operator(const DefinitionFile& file, int line) {
        const Definition& definition = file.definition;
        for (const Operator& other : problem_.operators)
            if (other.name() == definition.name) fail(line, definition.name, "is the name of two operators");
        if (definition.iterator("B") >= 0)
            fail(line, "B", "cannot be the name of an iterator: it is the choice that splits nothing");
        const BoundExtents extents = bound_extents(file, where_);
        int64_t iterations = 1;
        for (const int64_t extent : extents.iterators) {
            if (extent > kLargestOperator || (iterations *= extent) > kLargestOperator)
                fail(line, definition.name, fmt::format("has more than {} iterations", kLargestOperator));
        }
        check_bound(file, extents, where_);
        const int number = static_cast<int>(problem_.operators.size());
        Operator& op = problem_.operators.emplace_back(Operator{facts::bind_test(file, where_), {}});
        for (size_t t = 0; t < definition.tensors.size(); ++t)
            op.values.push_back(
                value_of(definition.tensors[t], extents.shapes[t], number, line_at(file.lines.tensors, t)));
    }

    int value_of(const TensorDecl& tensor, const std::vector<int64_t>& shape, int op, int line) {
        const bool is_result = tensor.role == Role::kOut;
        const auto found = numbers_.find(tensor.name);
        if (found != numbers_.end()) {
            Value& value = problem_.values[static_cast<size_t>(found->second)];
            if (is_result)
                fail(line, tensor.name,
                     value.maker >= 0 ? "is the result of two operators" : "is read above its operator");
            if (value.shape != shape || value.type != tensor.type)
                fail(line, tensor.name, "is declared with another type or shape above",
                     "all tensors of one name are one value");
            if (value.maker >= 0 && tensor.role == Role::kIndex)
                fail(line, tensor.name, "is an index operand, and these are never results");
            value.readers.push_back(op);
            return found->second;
        }
        if (is_result && is_integer(tensor.type))
            fail(line, tensor.name,
                 fmt::format("is a result of type {}, expected f32, f16 or bf16", name(tensor.type)));
        Value value{.name = tensor.name, .shape = shape, .type = tensor.type};
        (is_result ? (void)(value.maker = op) : value.readers.push_back(op));
        const int number = static_cast<int>(problem_.values.size());
        numbers_.emplace(tensor.name, number);
        problem_.values.push_back(std::move(value));
        return number;
    }

    void read_other(const SourceLine& line) {
        TokenStream tokens(tokenize(line.text, place(where_, line.number)), place(where_, line.number));
        tokens.next();
        if (line.word == "devices") return read_devices(tokens);
        if (line.word == "compute") return read_compute(tokens);
        if (line.word == "memory") return read_memory(tokens);
        if (line.word == "constant") return read_constants(tokens);
        if (line.word == "fill") return check_fill(tokens);
        read_form(tokens, line.word == "input");
    }

    void read_devices(TokenStream& tokens) {
        constexpr std::string_view kAs = "as in `devices 4 alpha 1e-6 beta 1e-10`";
        Level level;
        level.count = tokens.expect_integer("the number of devices");
        if (level.count < 2 || level.count > kMostDevices)
            tokens.fail("devices", fmt::format("is {}, expected 2 .. {}", level.count, kMostDevices));
        tokens.expect("alpha", kAs);
        level.latency = real_number(tokens, "alpha", true);
        tokens.expect("beta", kAs);
        level.seconds_per_byte = real_number(tokens, "beta", true);
        tokens.expect_end("the level");
        problem_.placement.levels.push_back(level);
        if (problem_.placement.rank() > kMostLevels)
            tokens.fail("devices", fmt::format("stands more than {} times", kMostLevels));
        if (problem_.placement.devices() > kMostDevices)
            tokens.fail("devices", fmt::format("makes more than {} devices in all", kMostDevices));
    }

    void read_compute(TokenStream& tokens) {
        constexpr std::string_view kAs = "as in `compute flops 1e11 bytes 2e10`";
        tokens.expect("flops", kAs);
        problem_.flops_per_second = real_number(tokens, "flops", false);
        tokens.expect("bytes", kAs);
        problem_.bytes_per_second = real_number(tokens, "bytes", false);
        tokens.expect_end("the rates");
    }

    void read_memory(TokenStream& tokens) {
        if (!tokens.accept("unlimited"))
            problem_.memory = tokens.expect_integer("the bytes of one device, or `unlimited`");
        tokens.expect_end("the memory");
    }

    Value& named_value(TokenStream& tokens, const std::string& what) {
        const std::string name = tokens.expect_name(what);
        const auto found = numbers_.find(name);
        if (found == numbers_.end()) tokens.fail(name, "is no tensor of an operator");
        return problem_.values[static_cast<size_t>(found->second)];
    }

    void read_constants(TokenStream& tokens) {
        do {
            Value& value = named_value(tokens, "the name of a constant");
            if (value.maker >= 0) tokens.fail(value.name, "is a result, and no constant");
            if (value.is_constant) tokens.fail(value.name, "stands twice");
            value.is_constant = true;
        } while (tokens.accept(","));
        tokens.expect_end("the constants");
    }

    void read_form(TokenStream& tokens, bool is_input) {
        Value& value = named_value(tokens, is_input ? "the name of an input" : "the name of a result");
        if (is_input && value.maker >= 0) tokens.fail(value.name, "is a result, and no input");
        if (is_input && value.is_constant) tokens.fail(value.name, "is a constant, and no input");
        if (!is_input && value.maker < 0) tokens.fail(value.name, "is no result of an operator");
        std::optional<Form>& form = is_input ? value.given : value.wanted;
        if (form) tokens.fail(value.name, "has two forms");
        form.emplace();
        while (!tokens.at_end()) form->push_back(entry(tokens, value));
        if (form->size() != problem_.placement.rank())
            tokens.fail(value.name, fmt::format("has {} entries, expected one for each of the {} levels",
                                                form->size(), problem_.placement.rank()));
        if (!exists(*form, value.shape, problem_.placement))
            tokens.fail(value.name, fmt::format("cannot lie as {}: an extent of its shape is not divisible",
                                                text(*form)));
    }

    static Sbp entry(TokenStream& tokens, const Value& value) {
        if (tokens.accept("B")) return broadcast();
        if (!tokens.accept("S")) tokens.fail_expecting("an entry `B` or `S(axis)` for each level");
        tokens.expect("(", "as in `S(0)`");
        const int64_t axis = tokens.expect_integer("the axis");
        if (axis >= static_cast<int64_t>(value.shape.size()))
            tokens.fail(value.name, fmt::format("has no axis {}, only {}", axis, value.shape.size()));
        tokens.expect(")", "as in `S(0)`");
        return distribution::split(static_cast<int>(axis));
    }

    // Its contents were read with each operator that indexes by it.
    void check_fill(TokenStream& tokens) {
        const std::string name = tokens.expect_name("the name of an index operand");
        const bool is_index = std::ranges::any_of(problem_.operators, [&](const Operator& op) {
            const int t = op.bound.definition.tensor(name);
            return t >= 0 && op.bound.tensor(t).role == Role::kIndex;
        });
        if (!is_index) tokens.fail(name, "is filled, but is no index operand");
    }

    void check_whole() const {
        for (const std::string_view word : {"devices", "compute", "memory", "output"})
            if (std::ranges::find(others_, word, &SourceLine::word) == others_.end())
                throw Error(where_, std::string(word), "is missing", "add a line that begins with this word");
        for (const Value& value : problem_.values) {
            if (value.maker < 0 && !value.is_constant && !value.given)
                throw Error(where_, value.name, "is neither a result nor a constant nor an input",
                            fmt::format("add it to `constant`, or a line `input {} B`", value.name));
            int64_t bits = problem_.placement.devices() * tessera::bits(value.type);
            for (const int64_t extent : value.shape)
                if (__builtin_mul_overflow(bits, extent, &bits) || bits > kLargestValue)
                    throw Error(where_, value.name,
                                fmt::format("has more than {} bits on all devices", kLargestValue),
                                "take smaller extents");
        }
    }

    const std::string& where_;
    std::vector<std::vector<SourceLine>> blocks_;  ///< the lines of each operator
    std::vector<SourceLine> others_;
    std::map<std::string, int, std::less<>> fills_;    ///< index operand -> line
    std::map<std::string, int, std::less<>> numbers_;  ///< of the values
    Problem problem_;
};

}  // namespace

Problem read_problem(std::string_view text, const std::string& where) {
    return ProblemReader(text, where).run();
}

}  // namespace tessera::distribution
