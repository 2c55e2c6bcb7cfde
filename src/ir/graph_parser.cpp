#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/core.h>

#include "ir/f32_number.h"
#include "ir/graph.h"
#include "ir/graph_text.h"
#include "ir/lexer.h"
#include "ir/text_scanner.h"
#include "support/error.h"

namespace tessera {
namespace {

/// First words of the lines of a definition, which follow its node.
constexpr std::array<std::string_view, 11> kDefinitionWords = {
    "op", "dim", "index", "in", "out", "update", "carry", "where", "acc", "weights", "regrouped"};

struct Line {
    std::string_view text;
    int number;
};

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    for (int number = 1; !text.empty(); ++number) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (const size_t first = line.find_first_not_of(" \t\r");
            first != std::string_view::npos && line[first] != '#')
            lines.push_back({line.substr(first), number});
    }
    return lines;
}

/// Graphs are computed in f32, in which such a number would be infinite, or 0.
void expect_f32(std::string_view text, double number, const std::string& where) {
    if (fits_f32(number)) return;
    throw Error(where, std::string(text),
                fmt::format("is a number that f32 does not hold: it would be {}",
                            std::fabs(number) < 1 ? "0" : "infinite"),
                "f32 holds magnitudes from 1.5e-45 to 3.4e38; write `inf` for infinity");
}

class GraphParser {
public:
    GraphParser(std::string_view text, const std::string& where) : lines_(lines_of(text)), where_(where) {}

    Graph run() {
        if (lines_.empty()) throw Error(where_, "", "is empty, expected a graph");
        TextScanner first = scanner();
        first.expect("graph");
        graph_.name = first.quoted("the name of the graph, in quotes");
        first.expect_end();
        for (++next_; next_ < lines_.size(); ++next_) statement();
        return std::move(graph_);
    }

private:
    TextScanner scanner() const {
        return {lines_[next_].text, fmt::format("{}:{}", where_, lines_[next_].number)};
    }

    void statement() {
        TextScanner line = scanner();
        if (line.take("symbol"))
            symbol(line);
        else if (line.take("point"))
            point(line);
        else if (line.take("input"))
            value(line, ValueKind::kInput);
        else if (line.take("constant"))
            value(line, ValueKind::kConstant);
        else if (line.take("state"))
            value(line, ValueKind::kState);
        else if (line.take("value"))
            value(line, ValueKind::kIntermediate);
        else if (line.take("block"))
            block(line);
        else if (line.take("update"))
            update(line);
        else if (line.take("node"))
            node(line);
        else if (line.take("output"))
            output(line);
        else
            line.fail_expecting(
                "symbol, point, input, constant, state, value, block, update, node or output");
        line.expect_end();
    }

    void symbol(TextScanner& line) {
        DimSymbol symbol{.name = line.name("the name of a symbol")};
        line.expect("in");
        symbol.low = line.integer("the lower bound");
        line.expect("..");
        symbol.high = line.integer("the upper bound");
        if (line.take("multiple")) {
            line.expect("of");
            symbol.multiple_of = line.integer("a divisor");
        }
        graph_.symbols.push_back(std::move(symbol));
    }

    void point(TextScanner& line) {
        Point point{.name = line.name("the name of a point")};
        line.expect("weight");
        point.weight = line.real("a weight");
        line.expect(":");
        while (!line.at_end()) {
            if (!point.values.empty()) line.expect(",");
            const std::string name = line.name("a symbol");
            line.expect("=");
            if (!point.values.emplace(name, line.integer("a value")).second)
                throw Error(line.where(), point.name, fmt::format("gives {} two values", name));
        }
        graph_.points.push_back(std::move(point));
    }

    void value(TextScanner& line, ValueKind kind) {
        Value value{.name = line.name("the name of a value"), .kind = kind};
        line.expect(":");
        value.type = line.type();
        value.is_finite = line.take("finite");
        if (line.take("from")) sources(line, value);
        if (!ids_.emplace(value.name, ValueId{static_cast<int>(graph_.values.size())}).second)
            throw Error(line.where(), value.name, "names two values");
        graph_.values.push_back(std::move(value));
    }

    static void sources(TextScanner& line, Value& value) {
        std::vector<std::vector<std::string>> parts = {source_names(line)};
        while (line.take("then")) {
            parts.push_back(source_names(line));
            if (parts.back().size() != parts.front().size())
                throw Error(line.where(), value.name,
                            fmt::format("has {} sources of its part {}, and {} of the first one",
                                        parts.back().size(), parts.size(), parts.front().size()));
        }
        for (size_t r = 0; r < parts.front().size(); ++r)
            for (std::vector<std::string>& part : parts) value.sources.push_back(std::move(part[r]));
        if (parts.size() == 1) return;
        line.expect("along");
        Concatenation& whole = value.concatenation.emplace();
        whole.axis = static_cast<size_t>(line.integer("an axis"));
        line.expect("of");
        for (size_t i = 0; i < parts.size(); ++i) {
            if (i > 0) line.expect(",");
            whole.extents.push_back(line.integer("the extent of a part"));
        }
    }

    static std::vector<std::string> source_names(TextScanner& line) {
        std::vector<std::string> names = {line.quoted("a source, in quotes")};
        if (line.take("for")) {
            NameSeries series{.pattern = names.front(), .first = line.integer("the first number")};
            line.expect("..");
            series.last = line.integer("the last number");
            if (line.take("step")) series.step = line.integer("a step");
            if (auto expanded = expand(series)) return *std::move(expanded);
            throw Error(line.where(), series.pattern, "is no series of names",
                        "one * in the name, ascending numbers, a step of 1 or more");
        }
        while (line.take(",")) names.push_back(line.quoted("a source, in quotes"));
        return names;
    }

    ValueId value_named(TextScanner& line) const {
        const std::string name = line.name("a value");
        const auto found = ids_.find(name);
        if (found == ids_.end()) throw Error(line.where(), name, "is no value of the graph");
        return found->second;
    }

    std::vector<ValueId> values(TextScanner& line) const {
        std::vector<ValueId> all;
        do all.push_back(value_named(line));
        while (line.take(","));
        return all;
    }

    /// Several lines name more and more of them.
    void output(TextScanner& line) {
        for (const ValueId value : values(line)) {
            if (std::ranges::find(graph_.outputs, value) != graph_.outputs.end())
                throw Error(line.where(), graph_[value].name, "is an output twice");
            graph_.outputs.push_back(value);
        }
    }

    void block(TextScanner& line) {
        Block block{.name = line.name("the name of a block")};
        if (line.take("repeat")) block.repeat = line.integer("how often");
        if (line.take("carry")) {
            block.carried_in = value_named(line);
            line.expect("->");
            block.carried_out = value_named(line);
        }
        graph_.blocks.push_back(std::move(block));
    }

    Block& current_block(const TextScanner& line) {
        if (graph_.blocks.empty()) throw Error(line.where(), "", "stands in no block");
        return graph_.blocks.back();
    }

    void update(TextScanner& line) {
        const ValueId before = value_named(line);
        line.expect("->");
        current_block(line).states.push_back({before, value_named(line)});
    }

    void node(TextScanner& line) {
        Node node{.name = line.name("the name of a node")};
        line.expect("(");
        if (!line.take(")")) {
            node.operands = values(line);
            line.expect(")");
        }
        if (line.take("over")) node.previous = value_named(line);
        line.expect("->");
        node.results = values(line);
        line.expect_end();
        if (next_ + 1 == lines_.size())
            throw Error(line.where(), node.name, "is not followed by its operator");
        ++next_;
        TextScanner op = scanner();
        if (op.take("composite"))
            node.op = composite(op);
        else
            node.op = definition(op);
        current_block(line).nodes.push_back(std::move(node));
    }

    static Composite composite(TextScanner& line) {
        Composite composite{.kind = line.name("the name of a composite")};
        if (line.take(":")) {
            do {
                const std::string name = line.name("an attribute");
                line.expect("=");
                if (!composite.attributes.emplace(name, attribute(line)).second)
                    throw Error(line.where(), composite.kind,
                                fmt::format("has the attribute {} twice", name));
            } while (line.take(","));
        }
        line.expect_end();
        return composite;
    }

    static std::variant<int64_t, double, std::string> attribute(TextScanner& line) {
        const std::string_view next = line.rest();
        if (next.starts_with('"')) return line.quoted("text");
        const std::string_view number = next.substr(0, next.find_first_of(", \t"));
        if (number.find_first_of(".en") == std::string_view::npos && !number.starts_with('-'))
            return line.integer("a number or text");
        const double real = line.real("a number or text");
        expect_f32(number, real, line.where());
        return real;
    }

    void expect_f32_numbers() const {
        const std::string where = scanner().where();
        for (const Token& token : tokenize(lines_[next_].text, where))
            if (token.kind == Token::Kind::kReal) expect_f32(token.text, token.real, where);
    }

    /// All lines that belong to it, from the current one on; leaves the last one current.
    DefinitionPtr definition(TextScanner& first) {
        if (!first.rest().starts_with("op"))
            first.fail_expecting("an operator: `composite`, or `op` and what follows");
        std::string text;
        for (; next_ < lines_.size() && is_definition_line(next_, text.empty()); ++next_) {
            expect_f32_numbers();
            text += std::string(lines_[next_].text) + '\n';
        }
        --next_;
        return std::make_shared<const Definition>(parse_definition(text, first.where()));
    }

    /// `update` begins a line of a definition, and one of a block: that one has `->`.
    bool is_definition_line(size_t at, bool is_first) const {
        TextScanner line(lines_[at].text, "");
        const auto word = std::find_if(kDefinitionWords.begin(), kDefinitionWords.end(),
                                       [&](std::string_view each) { return line.take(each); });
        if (word == kDefinitionWords.end() || (*word == "op" && !is_first)) return false;
        return *word != "update" || lines_[at].text.find("->") == std::string_view::npos;
    }

    const std::vector<Line> lines_;
    const std::string& where_;
    size_t next_ = 0;
    Graph graph_;
    std::map<std::string, ValueId> ids_;
};

}  // namespace

Graph parse_graph(std::string_view text, const std::string& where) {
    return GraphParser(text, where).run();
}

}  // namespace tessera
