#include "native/convert.h"

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "native/interpreter.h"

namespace tessera::python {
namespace {

/// As `max_tokens`: the context ends the text.
constexpr int64_t kNoLimit = -1;

/// A function of Python that may be called, and copied, without the GIL.
std::function<void(const std::string&)> told(std::optional<py::function> function) {
    const auto shared = std::make_shared<const std::optional<py::function>>(std::move(function));
    return [shared](const std::string& pass) {
        const Inside interpreter;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (*shared) (**shared)(pass);
    };
}

/// What compiling and opening, which perhaps compiles, have in common.
template <typename Settings>
void read_common(Named& named, Settings& result) {
    named.read("include_directory", result.include_directory);
    named.read("cache_directory", result.cache_directory);
    named.read("search_path", result.search_path);
    named.read("measured_machines", result.measured_machines);
    named.read("embeddings", result.embeddings);
    named.read("workers", result.workers);
    named.read("context", result.context);
    std::optional<py::function> on_pass;
    named.read("on_pass", on_pass);
    result.on_pass = told(std::move(on_pass));
    result.while_waiting = throw_if_interrupted;
}

}  // namespace

bool is_interrupted() {
    const Inside interpreter;
    return PyErr_CheckSignals() != 0;
}

void throw_if_interrupted() {
    const Inside interpreter;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

GenerateOptions generate_options(py::dict options) {
    Named named(std::move(options));
    GenerateOptions result;
    SamplingOptions& sampling = result.sampling;
    named.read("max_tokens", result.max_tokens);
    if (result.max_tokens == kNoLimit) result.max_tokens = std::numeric_limits<int32_t>::max();
    if (result.max_tokens < 0)
        throw Error("", "max_tokens",
                    "is " + std::to_string(result.max_tokens) + ", expected at least 0, or -1 for no limit",
                    "", ErrorKind::kUsage);
    named.read("stop_ids", result.stop_ids);
    named.read("past_end", result.past_end);
    named.read("reuse_prefix", result.reuse_prefix);
    named.read("stop", result.stop_strings);
    named.read("temperature", sampling.temperature);
    named.read("top_k", sampling.top_k);
    named.read("top_p", sampling.top_p);
    named.read("min_p", sampling.min_p);
    named.read("typical_p", sampling.typical_p);
    named.read("repetition_penalty", sampling.repetition_penalty);
    named.read("repetition_window", sampling.repetition_window);
    named.read("frequency_penalty", sampling.frequency_penalty);
    named.read("presence_penalty", sampling.presence_penalty);
    named.read("seed", sampling.seed);
    std::map<TokenId, double> biases;
    named.read("logit_bias", biases);
    sampling.logit_bias.assign(biases.begin(), biases.end());
    named.finish();
    return result;
}

CompileSettings compile_settings(py::dict settings) {
    Named named(std::move(settings));
    CompileSettings result;
    read_common(named, result);
    named.read("machine", result.machine);
    named.read("plan", result.plan);
    named.read("kernels", result.kernels);
    named.read("tuning", result.tuning);
    named.read("ranks", result.ranks);
    named.read("cluster", result.cluster);
    named.read("rank_memory", result.rank_memory);
    named.read("dump", result.dump);
    named.read("policy", result.policy);
    named.read("cache_type", result.cache_type);
    named.read("quantize", result.quantize);
    named.read("architecture", result.architecture);
    named.read("search_effort", result.search_effort);
    named.read("cost", result.cost);
    named.read("without", result.without);
    named.read("regions", result.regions);
    named.read("backend", result.backend);
    named.finish();
    return result;
}

OpenSettings open_settings(py::dict settings) {
    Named named(std::move(settings));
    OpenSettings result;
    read_common(named, result);
    named.read("machine", result.machine);
    named.read("search_effort", result.search_effort);
    named.read("models_directory", result.models_directory);
    named.read("program", result.program);
    named.finish();
    return result;
}

std::vector<TokenId> encode_chat(const ModelFile& file, const std::vector<std::string>& messages,
                                 bool begins_answer, std::optional<bool> thinks,
                                 const std::string& chat_template) {
    std::vector<ChatMessage> list;
    for (const std::string& message : messages)
        list.push_back({.role = {}, .content = {}, .fields = message});
    return file.encode_chat(
        list, {.begins_answer = begins_answer, .thinks = thinks, .chat_template = chat_template});
}

EmbedOptions embed_options(const std::optional<std::string>& pooling, std::optional<bool> normalise) {
    EmbedOptions options{.pooling = pooling ? pooling_of(*pooling) : std::nullopt, .normalise = normalise};
    if (pooling && !options.pooling) {
        std::string known;
        for (const std::string& name : pooling_names()) known += (known.empty() ? "" : ", ") + name;
        throw Error("", "pooling", "is \"" + *pooling + "\", expected one of " + known, "",
                    ErrorKind::kUsage);
    }
    return options;
}

py::bytearray array_bytes(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

py::bytearray float_rows(size_t rows, size_t width, const std::function<void(float*)>& fill) {
    py::bytearray bytes(nullptr, rows * width * sizeof(float));
    auto* const numbers = reinterpret_cast<float*>(PyByteArray_AS_STRING(bytes.ptr()));
    const Outside interpreter;
    fill(numbers);
    return bytes;
}

const char* name_of(StopReason reason) {
    switch (reason) {
        case StopReason::kMaxTokens:
            return "max_tokens";
        case StopReason::kStopId:
            return "stop_id";
        case StopReason::kStopString:
            return "stop_string";
        case StopReason::kContext:
            return "context";
        case StopReason::kInterrupted:
            return "interrupted";
        case StopReason::kComplete:
            return "complete";
    }
    return "";
}

py::dict as_dict(const Generation& generation) {
    const GenerateStatistics& s = generation.statistics;
    py::dict result;
    result["text"] = py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
        generation.text.data(), static_cast<Py_ssize_t>(generation.text.size()), "replace"));
    result["ids"] = generation.ids;
    result["reason"] = name_of(generation.reason);
    result["prompt_tokens"] = s.prompt_tokens;
    result["reused_tokens"] = s.reused_tokens;
    result["prompt_seconds"] = s.prompt_seconds;
    result["decode_seconds"] = s.decode_seconds;
    return result;
}

py::dict as_dict(const CompileReport& report) {
    py::list passes;
    for (const CompileReport::Pass& pass : report.passes)
        passes.append(py::make_tuple(pass.name, pass.seconds, pass.note));
    py::dict result;
    result["passes"] = passes;
    result["warnings"] = report.warnings;
    result["cpp_cpu_seconds"] = report.cpp_cpu_seconds;
    result["code_was_cached"] = report.code_was_cached;
    result["code_bytes"] = report.code_bytes;
    result["constant_bytes"] = report.constant_bytes;
    result["artefact_bytes"] = report.artefact_bytes;
    return result;
}

}  // namespace tessera::python
