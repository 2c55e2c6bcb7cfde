#include <random>

#include <gtest/gtest.h>

#include "ir/fixtures.h"
#include "ir/random_definition.h"
#include "support/error.h"

// Damaged texts give an Error or a definition that holds together, never anything else. Deterministic; a
// crash, an endless loop or a sanitizer's report is the failure.
namespace tessera {
namespace {

constexpr int64_t kSmallBox = 20'000;

/// The run part also proves that the accepted definitions are sound.
bool is_accepted(const std::string& text) {
    try {
        const DefinitionFile file = parse_definition_file(text, "mutant");
        const std::string printed = print(file.definition, file.test);
        EXPECT_TRUE(same(parse_definition_file(printed, "printed").definition, file.definition)) << text;
        const BoundExtents extents = bound_extents(file, "mutant");
        double box = 1;
        double elements = 0;
        for (int64_t extent : extents.iterators) box *= static_cast<double>(extent);
        for (const auto& shape : extents.shapes) {
            double count = 1;
            for (int64_t extent : shape) count *= static_cast<double>(extent);
            elements += count;
        }
        if (box > kSmallBox || elements > kSmallBox) return true;
        check_bound(file, extents, "mutant");
        interpret(file.definition, extents, test_contents(file, extents, "mutant"), "mutant");
    } catch (const Error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("mutant")) << error.what();
        EXPECT_FALSE(error.problem.empty());
        return false;
    }
    return true;
}

class Mutator {
public:
    explicit Mutator(uint64_t seed) : engine_(seed) {}

    std::string mutate(std::string text) {
        static const std::string kAlphabet =
            " \t\r\n#()[]<>,:;*=+-/.0123456789abcdefghijklmnopqrstuvwxyzXYSTD_!%&\"\\\x7f\x80\xff";
        const size_t edits = 1 + below(4);
        for (size_t n = 0; n < edits && !text.empty(); ++n) {
            const size_t at = below(text.size());
            switch (below(8)) {
                case 0:
                    text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
                    break;
                case 1:
                    text.erase(at, 1 + below(6));
                    break;
                case 2:
                    text.insert(at, 1, kAlphabet[below(kAlphabet.size())]);
                    break;
                case 3:
                    text[at] = kAlphabet[below(kAlphabet.size())];
                    break;
                case 4:
                    text.insert(at, text.substr(below(text.size()), below(30)));
                    break;
                case 5:
                    swap_words(text);
                    break;
                case 6:
                    text.insert(at, "9999999999999999");
                    break;
                default:
                    text.insert(at, 1, '\0');
            }
        }
        return text;
    }

private:
    size_t below(size_t n) { return static_cast<size_t>(engine_() % n); }

    /// Puts a word of the text in the place of another: most such texts get past the lexer.
    void swap_words(std::string& text) {
        const auto word = [&]() -> std::pair<size_t, size_t> {
            const size_t at = text.find_first_not_of(" \n,()[]", below(text.size()));
            if (at == std::string::npos) return {0, 0};
            return {at, std::min(text.find_first_of(" \n,()[]", at), text.size()) - at};
        };
        const auto [from, length] = word();
        const std::string taken = text.substr(from, length);
        const auto [to, replaced] = word();
        text.replace(to, replaced, taken);
    }

    std::mt19937_64 engine_;
};

void expect_errors_only(const std::vector<std::string>& texts, int mutants) {
    Mutator mutator(11);
    int accepted = 0;
    int refused = 0;
    for (const std::string& text : texts) {
        ASSERT_TRUE(is_accepted(text)) << text;
        for (int n = 0; n < mutants; ++n) (is_accepted(mutator.mutate(text)) ? accepted : refused)++;
    }
    // Neither so much damage that nothing is left, nor so little that nothing is tested.
    EXPECT_GT(accepted, static_cast<int>(texts.size()) * mutants / 100);
    EXPECT_GT(refused, static_cast<int>(texts.size()) * mutants / 2);
}

TEST(DefinitionMutation, OfTheCorpus) {
    std::vector<std::string> texts;
    for (const auto& path : files_in(definitions_folder(), ".op")) texts.push_back(text_of(path));
    expect_errors_only(texts, 300);
}

TEST(DefinitionMutation, OfRandomDefinitions) {
    std::vector<std::string> texts;
    for (uint64_t seed = 0; seed < 100; ++seed) texts.push_back(random_definition_text(seed));
    expect_errors_only(texts, 60);
}

TEST(DefinitionMutation, OfPrefixes) {
    for (const auto& path : files_in(definitions_folder(), ".op")) {
        const std::string text = text_of(path);
        for (size_t length = 0; length < text.size(); ++length) is_accepted(text.substr(0, length));
    }
}

}  // namespace
}  // namespace tessera
