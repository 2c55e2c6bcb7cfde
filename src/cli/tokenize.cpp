#include <cctype>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/number_checks.h"
#include "cli/standard_streams.h"
#include "cli/verb.h"
#include "run/llm/load_tokenizer.h"
#include "run/llm/tokenizer.h"
#include "run/runtime/artefact.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

struct TokenizeArguments {
    std::string model;
    std::vector<std::string> input;
    bool json = false;
    bool decode = false;
    bool bos = false;
    bool no_special = false;
    bool whole = false;
    bool spell_special = false;
};

/// The words of the command line; ids may be several.
std::string gather(const TokenizeArguments& options) {
    if (options.input.size() == 1 && options.input.front() == "-") return read_standard_input();
    if (!options.decode && options.input.size() > 1)
        throw Error("", "TEXT", "is one argument: quote it", "", ErrorKind::kUsage);
    return fmt::format("{}", fmt::join(options.input, " "));
}

/// Numbers between spaces, commas and the brackets of a JSON array.
std::vector<TokenId> parse_ids(std::string_view text) {
    const auto separates = [](char c) {
        return std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',' || c == '[' || c == ']';
    };
    std::vector<TokenId> ids;
    for (size_t at = 0; at < text.size();) {
        if (separates(text[at])) {
            ++at;
            continue;
        }
        size_t end = at;
        while (end < text.size() && !separates(text[end])) ++end;
        TokenId id = 0;
        const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, id);
        if (error != std::errc() || stop != text.data() + end)
            throw Error("", "IDS", fmt::format("has \"{}\", expected a token id", text.substr(at, end - at)),
                        "", ErrorKind::kUsage);
        ids.push_back(id);
        at = end;
    }
    return ids;
}

void write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void decode(const llm::Tokenizer& tokenizer, const TokenizeArguments& options) {
    const std::string text = tokenizer.decode(parse_ids(gather(options)));
    // As text exactly these bytes, without a newline, so that decoding gives back the encoded text.
    if (options.json)
        write(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    else
        write(text);
}

void encode(const llm::Tokenizer& tokenizer, const TokenizeArguments& options) {
    const std::string text = gather(options);
    const llm::EncodeOptions how{.add_special = options.whole, .parse_special = !options.spell_special};
    const bool is_prompt = !options.bos && !options.no_special && !options.whole;
    std::vector<TokenId> ids =
        is_prompt ? tokenizer.encode_prompt(text, how.parse_special) : tokenizer.encode(text, how);
    if (options.bos) {
        if (!tokenizer.bos()) throw Error(options.model, "", "has no BOS token");
        ids.insert(ids.begin(), *tokenizer.bos());
    }
    write(options.json ? fmt::format("[{}]\n", fmt::join(ids, ","))
                       : fmt::format("{}\n", fmt::join(ids, " ")));
}

llm::Tokenizer tokenizer_of(const std::string& model) {
    if (!std::filesystem::is_regular_file(model) || !runtime::is_artefact(model))
        return llm::load_tokenizer(model);
    const auto artefact = runtime::Artefact::open(model);
    return llm::load_tokenizer(artefact.tokenizer(), artefact.where());
}

Job declare_tokenize(CLI::App& app, const Environment&) {
    const auto options = std::make_shared<TokenizeArguments>();
    app.add_option(
           "MODEL", options->model,
           "artefact, folder in HuggingFace form, tokenizer.json, tokenizer.model or GGUF file; weights are "
           "not needed")
        ->required()
        ->check(not_empty());
    app.add_option("TEXT", options->input, "the text, or the ids with --decode; - reads standard input")
        ->required();
    app.add_flag("--json", options->json, "write a JSON array (with --decode a JSON string)");
    app.add_flag("--decode", options->decode,
                 "turn ids, between spaces or commas or as a JSON array, into text");
    auto* none =
        app.add_flag("--no-special,--no-bos", options->no_special,
                     "the tokens of the text alone: without those that the model expects in front of a "
                     "prompt (BOS), which are shown otherwise");
    auto* bos = app.add_flag("--bos", options->bos, "put the BOS token in front, whatever the model expects")
                    ->excludes(none);
    app.add_flag("--whole", options->whole,
                 "put the tokens around the text that the model expects around a whole one: BOS, EOS, ..")
        ->excludes(bos)
        ->excludes(none);
    app.add_flag("--spell-special", options->spell_special,
                 "read special tokens that the text spells as ordinary text, as `tessera run --raw` does; "
                 "without it they are read as `tessera run --special` reads them");
    return [options] {
        const llm::Tokenizer tokenizer = tokenizer_of(options->model);
        if (options->decode)
            decode(tokenizer, *options);
        else
            encode(tokenizer, *options);
        return 0;
    };
}

}  // namespace

Verb tokenize_verb() {
    return {.name = "tokenize",
            .help = "show a text as the ids that the model sees, or ids as text",
            .examples = {"tessera tokenize models/Qwen3-0.6B \"Hello, world!\"",
                         "tessera tokenize Llama-3.2-1B.gguf \"Hello, world!\" --no-special",
                         "tessera tokenize --json model.gguf - < prompt.txt",
                         "tessera tokenize --decode model.gguf 9707 11 1879 0"},
            .declare = declare_tokenize};
}

}  // namespace tessera::cli
