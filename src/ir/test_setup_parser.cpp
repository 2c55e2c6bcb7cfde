#include "ir/test_setup_parser.h"

#include <algorithm>

#include "ir/expr_parser.h"
#include "support/error.h"

namespace tessera {
namespace {

class TestSetupParser {
public:
    TestSetupParser(DefinitionFile& file, int line) : file_(file), line_(line) {}

    void parse_bindings(TokenStream& tokens) {
        do {
            const std::string dim = tokens.expect_name("the name of a dim");
            if (file_.definition.dim(dim) < 0) tokens.fail(dim, "is bound, but is not a dim");
            tokens.expect("=", "and the value of the dim");
            file_.lines.bindings[dim] = line_;
            if (!file_.test.bind.emplace(dim, tokens.expect_integer("the value of the dim")).second) {
                tokens.fail(dim, "is bound twice");
            }
        } while (tokens.accept(","));
        tokens.expect_end("the values");
    }

    void parse_fill(TokenStream& tokens) {
        const std::string operand = tokens.expect_name("the name of an index operand");
        const int tensor = file_.definition.tensor(operand);
        if (tensor < 0 || file_.definition.tensors[static_cast<size_t>(tensor)].role != Role::kIndex) {
            tokens.fail(operand, "is filled, but is not an index operand");
        }
        tokens.expect("[", "as in `fill page[i] = ...`");
        tokens.expect("i", "as in `fill page[i] = ...`");
        tokens.expect("]", "as in `fill page[i] = ...`");
        tokens.expect("=", "and the contents");
        const ExprPtr contents = ExprParser(tokens, file_.definition, ExprContext::kFill).parse();
        tokens.expect_end("the contents");
        if (!file_.test.fill.emplace(operand, contents).second) tokens.fail(operand, "is filled twice");
        file_.lines.fills[operand] = line_;
    }

    void parse_tiles(TokenStream& tokens) {
        do {
            const std::string iterator = tokens.expect_name("the name of an iterator");
            if (file_.definition.iterator(iterator) < 0)
                tokens.fail(iterator, "is tiled, but is not an iterator");
            TileSize tile{};
            tile.size = tokens.expect_integer("the size of the tile");
            tokens.expect("at", "and the origin of the tile");
            tile.origin = tokens.expect_integer("the origin of the tile");
            if (!file_.test.tile.emplace(iterator, tile).second) tokens.fail(iterator, "is tiled twice");
            file_.lines.tiles[iterator] = line_;
        } while (tokens.accept(","));
        tokens.expect_end("the tiles");
    }

    void parse_lanes(TokenStream& tokens) {
        file_.test.lanes = tokens.expect_integer("the lanes of the vector unit");
        file_.lines.lanes = line_;
        tokens.expect_end("the lanes");
    }

    void parse_unit(TokenStream& tokens) {
        file_.lines.unit = line_;
        while (!tokens.at_end()) parse_unit_operand(tokens);
    }

private:
    void parse_unit_operand(TokenStream& tokens) {
        UnitOperand operand;
        operand.role = tokens.expect_name("the name of an operand of the unit");
        tokens.expect("<", "and the lanes of the operand");
        do {
            // An axis and its lanes are one word: `m4`.
            const std::string word = tokens.expect_name("an axis with its lanes, such as `m4`");
            const size_t digits = word.find_first_of("0123456789");
            const std::string axis = word.substr(0, digits);
            const bool is_axis = std::ranges::all_of(axis, [](char c) { return 'a' <= c && c <= 'z'; });
            if (axis.empty() || !is_axis || digits == std::string::npos) {
                tokens.fail(
                    word,
                    "is not an axis with its lanes, expected lower-case letters and a number such as `m4`");
            }
            const std::string count = word.substr(digits);
            TokenStream lanes(tokenize(count, tokens.where()), tokens.where());
            operand.lanes.emplace_back(axis, lanes.expect_integer("the lanes of the axis"));
            lanes.expect_end("the lanes of the axis");
        } while (tokens.accept(","));
        tokens.expect(">", "after the lanes of the operand");
        file_.test.unit.push_back(std::move(operand));
    }

    DefinitionFile& file_;
    int line_;
};

}  // namespace

void parse_test_line(std::string_view keyword, TokenStream& tokens, int line, DefinitionFile& file) {
    TestSetupParser parser(file, line);
    if (keyword == "bind") return parser.parse_bindings(tokens);
    if (keyword == "fill") return parser.parse_fill(tokens);
    if (keyword == "tile") return parser.parse_tiles(tokens);
    if (keyword == "lanes") return parser.parse_lanes(tokens);
    parser.parse_unit(tokens);
}

}  // namespace tessera
