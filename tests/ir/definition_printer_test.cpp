#include <gtest/gtest.h>

#include "ir/fixtures.h"
#include "ir/random_definition.h"
#include "support/shared_data.h"

namespace tessera {
namespace {

/// The text without comments.
std::string without_comments(const std::string& text) {
    std::string kept;
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at) + 1;
        if (text[at] != '#') kept += text.substr(at, end - at);
        at = end;
    }
    return kept;
}

// The corpus is written as the printer writes: it is its own golden file.
TEST(DefinitionPrinter, WritesTheCorpusAsItIs) {
    const auto files = files_in(definitions_folder(), ".op");
    EXPECT_GE(files.size(), 20U);
    for (const auto& path : files) {
        const DefinitionFile file = parse_definition_file(text_of(path), path.string());
        EXPECT_EQ(print(file.definition, file.test), without_comments(text_of(path))) << path;
    }
}

TEST(DefinitionPrinter, WritesOneFormForEverySpelling) {
    const std::string text =
        "op  f( t :T,s* : (2*T) )\n"
        "dim T in 2..64 multiple of 2\n"
        "index id i32[t],at u8[s div 2]\n"
        "in X f32[t,(s)], Z i8[id[t], at, s] of [(T), 4, 2*T]\n"
        "out Y f16[t] = (sum((X)*Z*X[t, s mod (3)])) * (2.50) + 1e-6\n"
        "where ((t<=id) and (not s==3)) or t*1 >= -1\n"
        "acc f32\n"
        "test\n"
        "bind T=4\n"
        "fill at[i]=i*1\nfill id[i] = i\n"
        "tile s 2 at 4\ntile t 2 at 2\n"
        "lanes 4\n"
        "unit A< m4 , k2,k2>B<k4> C<m4>\n";
    const std::string expected =
        "op f(t: T, s*: 2 * T)\n"
        "dim T in 2..64 multiple of 2\n"
        "index id i32[t]\n"
        "index at u8[s div 2]\n"
        "in X f32[t, s]\n"
        "in Z i8[id[t], at, s] of [T, 4, 2 * T]\n"
        "out Y f16[t] = sum(X * Z * X[t, s mod 3]) * 2.5 + 1e-06\n"
        "where t <= id and not s == 3 or t * 1 >= -1\n"
        "\n"
        "test\n"
        "bind T = 4\n"
        "fill id[i] = i\n"
        "fill at[i] = i * 1\n"
        "tile t 2 at 2, s 2 at 4\n"
        "unit A<m4,k2,k2> B<k4> C<m4>\n";
    const DefinitionFile file = parse_definition_file(text, "text");
    EXPECT_EQ(print(file.definition, file.test), expected);
}

void expect_reads_back(const std::string& text, const std::string& where) {
    const DefinitionFile file = parse_definition_file(text, where);
    const std::string printed = print(file.definition, file.test);
    const DefinitionFile again = parse_definition_file(printed, where + ", printed");
    EXPECT_TRUE(same(file.definition, again.definition)) << printed;
    EXPECT_TRUE(same(file.test, again.test)) << printed;
    EXPECT_EQ(print(again.definition, again.test), printed);
    EXPECT_TRUE(same(file.definition, parse_definition(print(file.definition), where)));
}

TEST(DefinitionPrinter, ReadsBackRandomDefinitions) {
    for (uint64_t seed = 0; seed < 500; ++seed)
        expect_reads_back(random_definition_text(seed), "seed " + std::to_string(seed));
}

TEST(DefinitionPrinter, ReadsBackWeights) {
    const std::string text =
        "op f(t: 1, s*: 2)\nin P f32[t, s]\nin V f32[s]\n"
        "out M f32[t], L f32[t], A f32[t] = softmax_sum(P, V)\nweights bf16\n";
    expect_reads_back(text, "weights");
    EXPECT_EQ(print(parse_definition(text, "weights")), text);
    const Definition exact = parse_definition(text.substr(0, text.find("weights")), "exact");
    EXPECT_FALSE(same(parse_definition(text, "weights"), exact));
}

TEST(DefinitionPrinter, ReadsBackTheZoo) {
    TESSERA_SKIP_WITHOUT_SHARED("zoo", "that the operator zoo prints and reads back");
    for (const auto& path : files_in(zoo_folder(), ".op")) expect_reads_back(text_of(path), path.string());
}

TEST(DefinitionPrinter, DifferentDefinitionsAreNotTheSame) {
    const std::string text = text_of(definitions_folder() / "paged_scores.op");
    const DefinitionFile file = parse_definition_file(text, "text");
    const std::vector<std::pair<std::string, std::string>> changes = {{"paged_scores", "other"},
                                                                      {"h: 2", "h: 3"},
                                                                      {"c*: 4", "c*: 5"},
                                                                      {"1..512", "1..513"},
                                                                      {"multiple of 8", "multiple of 4"},
                                                                      {"seen i32", "seen u8"},
                                                                      {"s mod 8", "s mod 4"},
                                                                      {"sum(", "max("},
                                                                      {"* 0.5", "* 0.25"},
                                                                      {"s <= seen", "s < seen"},
                                                                      {"Q * K", "K * Q"},
                                                                      {"K f32", "K f16"},
                                                                      {"P f32[t, h, s]", "P f32[h, t, s]"}};
    for (const auto& [from, to] : changes) {
        std::string changed = text.substr(0, text.find("test\n"));
        for (size_t at = changed.find(from); at != std::string::npos; at = changed.find(from, at + to.size()))
            changed.replace(at, from.size(), to);
        EXPECT_FALSE(same(file.definition, parse_definition(changed, "changed"))) << from << " -> " << to;
    }
}

}  // namespace
}  // namespace tessera
