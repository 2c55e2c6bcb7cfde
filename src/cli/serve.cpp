#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/announce_model.h"
#include "cli/model_text.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/serve/cross_origin.h"
#include "cli/serve/http_server.h"
#include "cli/verb.h"
#include "support/error.h"
#include "support/limits.h"
#include "support/mapped_file.h"
#include "support/note.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

struct ServeArguments {
    std::filesystem::path model;
    EngineSettings engine;
    FirstUse first_use;
    serve::ServerSettings server;
    int64_t port = 8080;
    int64_t body_bytes = static_cast<int64_t>(serve::ServerSettings{}.body_bytes);
    int64_t drain_seconds = serve::ServerSettings{}.drain_time.count();
    std::string api_key;
    std::filesystem::path api_key_file;
    std::filesystem::path chat_template;
    int64_t request_seconds = serve::ServiceSettings{}.request_seconds;
    bool no_prefix_reuse = false;
    bool fast = false;
    bool embeddings = false;
};

/// The first line of the file, or what the option says.
std::string read_key(const ServeArguments& options) {
    std::string key = options.api_key;
    if (!options.api_key_file.empty()) {
        const MappedFile file = MappedFile::open(options.api_key_file);
        key = std::string(file.text().substr(0, file.text().find_first_of("\r\n")));
        if (key.empty()) throw Error(options.api_key_file.string(), "", "has no key in its first line");
    }
    for (const char c : key)
        if (std::isgraph(static_cast<unsigned char>(c)) == 0)
            throw Error("", "api-key", "has a character that a header of HTTP cannot have", "",
                        ErrorKind::kUsage);
    return key;
}

int run(ServeArguments options, const Environment& environment) {
    const std::string key = read_key(options);
    for (const std::string& origin : options.server.origins) serve::check_origin(origin);
    const std::filesystem::path path = resolve_model(options.model, environment);
    ModelFile file =
        open_model(path, options.engine.context, environment, options.first_use, options.embeddings);
    print_warnings(file.name(), file.warnings());
    options.engine.reuse_prefix = !options.no_prefix_reuse;
    options.engine.batch_invariant = !options.fast;
    options.server.port = static_cast<uint16_t>(options.port);
    options.server.body_bytes = static_cast<size_t>(options.body_bytes);
    options.server.drain_time = std::chrono::seconds(options.drain_seconds);

    Engine engine(std::move(file), options.engine);
    serve::Service service(
        engine, {.api_key = key,
                 .request_seconds = options.request_seconds,
                 .chat_template = options.chat_template.empty() ? "" : read_template(options.chat_template)});
    serve::HttpServer server(service, options.server);
    server.stop_on_signals();
    const std::string& host = options.server.address;
    const bool is_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
    note("{}: {} texts at one time, {} tokens each, {:.0f} MB of cache and buffers",
         printable(engine.file().name()), engine.sequences(), engine.context(),
         static_cast<double>(engine.memory_bytes()) / 1e6);
    note("listening at http://{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", server.port());
    server.run();
    note("stopped");
    return 0;
}

void declare_engine(CLI::App& app, ServeArguments& options) {
    add_first_use_flags(app, options.first_use);
    app.add_option("-c,--context,--ctx-size", options.engine.context,
                   "most tokens of one text with its prompt (default: as many as the compiled model allows)")
        ->check(whole_number(1, kMostTokens))
        ->type_name("N");
    app.add_option("--parallel", options.engine.sequences,
                   "texts that are computed at one time (default: as many as one step of the compiled model "
                   "takes)")
        ->check(whole_number(1, kMostTokens))
        ->type_name("N");
    app.add_option("--cache-tokens", options.engine.cache_tokens,
                   "tokens that the cache holds of all texts together (default: every text at full length)")
        ->check(whole_number(1, int64_t{1} << 32))
        ->type_name("N");
    app.add_option("--queue", options.engine.waiting,
                   "texts that wait for a place; while so many do, requests are answered with status 503")
        ->check(whole_number(0, 1 << 20))
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--chunk", options.engine.prompt_chunk, "most tokens of prompts in one step")
        ->check(whole_number(1, kMostTokens))
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--chat-template", options.chat_template,
                   "write conversations as this template in Jinja2's language says, not as the model's own")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_flag(
        "--embeddings", options.embeddings,
        "answer /v1/embeddings: a model is then compiled with them on first use, and an artefact must "
        "have them");
    app.add_flag("--no-prefix-reuse", options.no_prefix_reuse,
                 "read every prompt from its beginning: the same text, only later");
    app.add_flag(
        "--fast", options.fast,
        "compute every step with the fastest code for it: an answer may then depend on the others of "
        "its time in the last digits of its logits");
}

void declare_server(CLI::App& app, ServeArguments& options) {
    app.add_option("--host", options.server.address,
                   "address or name of this machine to listen at; 0.0.0.0: all of IPv4")
        ->check(not_empty())
        ->capture_default_str()
        ->type_name("ADDRESS");
    app.add_option("--port", options.port, "0: any that is free")
        ->check(whole_number(0, 65535))
        ->capture_default_str()
        ->type_name("N");
    auto* key = app.add_option("--api-key", options.api_key,
                               "ask for this key; other users of the machine can see it here, but not in "
                               "TESSERA_API_KEY or a file")
                    ->check(not_empty())
                    ->type_name("KEY");
    app.add_option("--api-key-file", options.api_key_file, "ask for the key in the first line of a file")
        ->excludes(key)
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option(
           "--cors-origin", options.server.origins,
           "pages of this origin may use the server from a browser, besides those of this machine; *: "
           "of all")
        ->check(not_empty())
        ->type_name("ORIGIN");
    app.add_option("--timeout", options.request_seconds, "most seconds of one request, waiting included")
        ->check(whole_number(1, 1'000'000))
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--drain", options.drain_seconds, "seconds that answers may go on after SIGTERM or Ctrl-C")
        ->check(whole_number(0, 1'000'000))
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--body-limit", options.body_bytes, "most bytes of the body of a request")
        ->check(whole_number(1, int64_t{64} << 20))
        ->capture_default_str()
        ->type_name("BYTES");
}

}  // namespace

Verb serve_verb() {
    return {.name = "serve",
            .help = "a page that chats, and OpenAI's and Ollama's APIs, over HTTP",
            .examples = {"tessera serve SmolLM2-135M-Instruct.gguf",
                         "tessera serve OUT.tsr --port 9000 --parallel 8 --queue 32",
                         "tessera serve OUT.tsr --host 0.0.0.0 --api-key-file key.txt"},
            .declare = [](CLI::App& app, const Environment& environment) -> Job {
                const auto options = std::make_shared<ServeArguments>();
                add_model_argument(app, options->model);
                declare_server(app, *options);
                declare_engine(app, *options);
                return [options, &environment] { return run(*options, environment); };
            }};
}

}  // namespace tessera::cli
