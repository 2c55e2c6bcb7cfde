#include "chip/partition/model_workload.h"

#include <string>
#include <utility>

#include <fmt/core.h>

#include "import/import_shapes.h"
#include "ir/ops/cache_update.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

constexpr int64_t kMostBatch = 65'536;
constexpr int64_t kMostSequence = 1 << 20;
constexpr int64_t kMostTokens = 1 << 24;  // of all sequences

/// The step of a decoder, with all parameters set.
struct DecoderShape {
    Phase phase;
    int64_t batch, sequence;

    bool is_decode() const { return phase == Phase::kDecode; }
    int64_t new_tokens() const { return is_decode() ? 1 : sequence; }  ///< of each sequence
    int64_t tokens() const { return batch * new_tokens(); }
    int64_t rows() const { return phase == Phase::kTraining ? tokens() : batch; }  ///< that get logits
};

/// The contents of the step's index inputs. Tokens differ, so that each reads a row of its own.
std::map<std::string, IndexContents> contents_of(const DecoderShape& shape) {
    const auto sum = [](ExprPtr a, int64_t b) { return apply(Function::kAdd, {std::move(a), number(b)}); };
    const auto times = [](ExprPtr a, int64_t b) { return apply(Function::kMul, {std::move(a), number(b)}); };
    const ExprPtr row = iterator_ref(0), last = number(shape.sequence - 1);
    const ExprPtr page =
        apply(Function::kAdd, {times(row, shape.sequence / ops::kPageSlots), iterator_ref(1)});
    if (shape.is_decode())
        return {{"tokens", row}, {"position", last},
                {"rows", row},   {"slot", sum(times(row, shape.sequence), shape.sequence - 1)},
                {"first", row},  {"length", number(1)},
                {"start", last}, {"page", page}};
    const bool is_training = shape.phase == Phase::kTraining;
    return {{"tokens", row},
            {"position", apply(Function::kMod, {row, number(shape.sequence)})},
            {"slot", row},
            {"rows", is_training ? row : sum(times(row, shape.sequence), shape.sequence - 1)},
            {"first", times(row, shape.sequence)},
            {"length", number(shape.sequence)},
            {"start", number(0)},
            {"page", page}};
}

[[noreturn]] void refuse(const char* option, int64_t value, const std::string& expected) {
    throw Error("", option, fmt::format("is {}, expected {}", value, expected), {}, ErrorKind::kUsage);
}

DecoderShape decoder_shape(const StepShape& wanted) {
    const DecoderShape shape{wanted.phase.value_or(Phase::kDecode), wanted.batch,
                             wanted.sequence.value_or(kUsualSequence)};
    if (shape.sequence < ops::kPageSlots || shape.sequence > kMostSequence ||
        shape.sequence % ops::kPageSlots != 0)
        refuse(
            "--sequence", shape.sequence,
            fmt::format("a multiple of {} from {} to {}", ops::kPageSlots, ops::kPageSlots, kMostSequence));
    if (shape.tokens() > kMostTokens)
        refuse("--batch", shape.batch,
               fmt::format("at most {} sequences of {} new tokens", kMostTokens / shape.new_tokens(),
                           shape.new_tokens()));
    return shape;
}

Workload decoder_workload(const std::filesystem::path& config, const DecoderShape& shape,
                          const GraphPass& pass) {
    const import::ImportedShapes shapes = import::import_shapes(
        config, {.context = shape.sequence, .max_tokens = shape.tokens(), .max_sequences = shape.batch});
    Workload workload = graph_workload(shapes.graph,
                                       {{"T", shape.tokens()},
                                        {"R", shape.rows()},
                                        {"B", shape.batch},
                                        {"I", shape.new_tokens()},
                                        {"S", shape.sequence},
                                        {"P", shape.batch * (shape.sequence / ops::kPageSlots)}},
                                       config.string(),
                                       {.contents = contents_of(shape),
                                        .makes_states = !shape.is_decode(),
                                        .stores_states = shape.phase != Phase::kTraining},
                                       pass);
    workload.remarks = shapes.warnings;
    if (shape.sequence > shapes.max_positions)
        workload.remarks.push_back(
            fmt::format("{} positions are more than the {} that the model was made for", shape.sequence,
                        shapes.max_positions));
    return workload;
}

Workload diffusion_workload(const std::filesystem::path& config, const StepShape& shape,
                            const GraphPass& pass) {
    const import::ImportedShapes shapes = import::import_diffusion_shapes(config, shape.batch);
    if (shape.sequence)
        refuse("--sequence", *shape.sequence,
               fmt::format("no number: the rows of this model are the {} patches of an image",
                           shapes.max_positions));
    if (shape.phase)
        throw Error("", "--phase",
                    fmt::format("is {}, but this model has no phases: every step denoises all patches",
                                name(*shape.phase)),
                    {}, ErrorKind::kUsage);
    // Classes differ, so that each reads a row of its own.
    Workload workload =
        graph_workload(shapes.graph, {}, config.string(), {.contents = {{"label", iterator_ref(0)}}}, pass);
    workload.remarks = shapes.warnings;
    return workload;
}

}  // namespace

std::string_view name(Phase phase) {
    switch (phase) {
        case Phase::kDecode:
            return "decode";
        case Phase::kPrefill:
            return "prefill";
        case Phase::kTraining:
            return "training";
    }
    TESSERA_CHECK(false, "phase {}", static_cast<int>(phase));
}

std::optional<Phase> phase_of(std::string_view text) {
    for (const Phase phase : kPhases)
        if (name(phase) == text) return phase;
    return std::nullopt;
}

Workload model_workload(const std::filesystem::path& config, const StepShape& shape, const GraphPass& pass) {
    if (shape.batch < 1 || shape.batch > kMostBatch)
        refuse("--batch", shape.batch, fmt::format("1 to {}", kMostBatch));
    if (import::is_diffusion_model(config)) return diffusion_workload(config, shape, pass);
    return decoder_workload(config, decoder_shape(shape), pass);
}

}  // namespace tessera::partition
