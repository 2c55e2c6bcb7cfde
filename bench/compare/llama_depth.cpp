// llama.cpp decoding after tokens that are in its cache: `llama_depth MODEL THREADS DEPTH TOKENS` fills a
// cache with DEPTH tokens, by all processors, then for every line of stdin decodes TOKENS, takes them out of
// the cache again, and prints the seconds of them and the processor seconds of the program. A turn repeats
// the timed work of llama-bench with -n TOKENS -d DEPTH and the same other settings; but filling the cache
// takes a minute, and llama-bench, which cannot wait between its repetitions, would have to do it in every
// turn.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <ggml-cpu.h>
#include <llama.h>

namespace {

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "llama_depth: %s\n", what);
    std::exit(1);
}

ggml_threadpool* threads(int count) {
    ggml_threadpool_params params = ggml_threadpool_params_default(count);
    return ggml_threadpool_new(&params);
}

/// Adds random tokens; logits are computed for the last one.
void add(llama_context* context, int32_t tokens) {
    const int32_t vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)));
    std::vector<llama_token> batch(static_cast<size_t>(tokens));
    for (llama_token& token : batch) token = std::rand() % vocabulary;
    if (llama_decode(context, llama_batch_get_one(batch.data(), tokens)) != 0) fail("llama_decode failed");
    llama_synchronize(context);
}

llama_context* open(const char* file, int count, int32_t depth, int32_t tokens) {
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    llama_backend_init();
    llama_model* model = llama_model_load_from_file(file, llama_model_default_params());
    if (!model) fail("the model cannot be read");
    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(depth + tokens);
    params.n_batch = 2048;
    params.n_ubatch = 512;
    params.swa_full = false;
    llama_context* context = llama_init_from_model(model, params);
    if (!context) fail("there is no memory for the cache");
    const int all = static_cast<int>(std::thread::hardware_concurrency());
    llama_attach_threadpool(context, threads(count), threads(all));
    llama_set_n_threads(context, count, all);
    return context;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) fail("usage: llama_depth MODEL THREADS DEPTH TOKENS");
    const int32_t depth = std::stoi(argv[3]);
    const int32_t tokens = std::stoi(argv[4]);
    llama_context* context = open(argv[1], std::stoi(argv[2]), depth, tokens);
    for (int32_t done = 0; done < depth; done += 512) add(context, std::min(512, depth - done));

    const auto turn = [&](int32_t count) {
        const auto begin = std::chrono::steady_clock::now();
        for (int32_t i = 0; i < count; ++i) add(context, 1);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        if (!llama_memory_seq_rm(llama_get_memory(context), 0, depth, -1)) fail("tokens stay in the cache");
        return time.count();
    };
    for (int line = std::getchar(); line != EOF; line = std::getchar()) {
        const std::clock_t processors = std::clock();
        turn(1);  // weights and threads are awake then, as they are after llama-bench's first run
        const double seconds = turn(tokens);
        std::printf("%.9f %.9f\n", seconds, static_cast<double>(std::clock() - processors) / CLOCKS_PER_SEC);
        std::fflush(stdout);
    }
    return 0;
}
