#include "compiler/bench/timed_model.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <random>

#include "compiler/bench/step_work.h"
#include "run/llm/step_interface.h"

namespace tessera::benchmark {
namespace {

/// Fills with numbers of both signs, as F32 and BF16 about 0.01 and as F16 about 1: none is subnormal, which
/// would be slow to add, and no two rows are alike. Writing them keeps the pages from being the system's page
/// of zeros.
void make_up(std::span<std::byte> state) {
    std::minstd_rand random(1);
    for (size_t i = 0; i + 1 < state.size(); i += 2) {
        const auto bits = static_cast<uint32_t>(random());
        state[i] = static_cast<std::byte>(bits >> 8);
        state[i + 1] = static_cast<std::byte>(0x3c | (bits >> 16 & 0x80));
    }
}

/// The last rank to reach an exchange takes the least time: the others wait for it. The ranks reach the same
/// exchanges, in one order, from kernels that may differ.
void take_least_exchanges(const std::vector<runtime::KernelTime>& other,
                          std::vector<runtime::KernelTime>& own) {
    auto at = other.begin();
    for (runtime::KernelTime& kernel : own) {
        if (kernel.exchange_seconds == 0) continue;
        at = std::find_if(at, other.end(), [](const auto& each) { return each.exchange_seconds > 0; });
        if (at == other.end()) return;
        kernel.exchange_seconds = std::min(kernel.exchange_seconds, (at++)->exchange_seconds);
    }
}

}  // namespace

TimedModel::TimedModel(std::shared_ptr<const runtime::Artefact> artefact,
                       const std::set<std::string>& features, const llm::SessionOptions& options)
    : model_(std::move(artefact), features, options),
      graph_(parse_graph(model_.artefact().graph(), model_.artefact().where())),
      sequence_(model_.session().open()) {
    runtime::LoadedProgram& program = model_.program();
    for (size_t rank = 0; rank < program.ranks(); ++rank)
        for (size_t i = 0; i < program.manifest().states.size(); ++i) make_up(program.state(i, rank));
    // Different rows of the embedding, in an order that no cache follows: steps begin with some of these.
    tokens_.resize(static_cast<size_t>(model_.session().context()));
    for (size_t i = 0; i < tokens_.size(); ++i)
        tokens_[i] =
            static_cast<int32_t>((i * 7919 + 13) % static_cast<size_t>(model_.session().vocabulary()));
}

const compiler::VerifiedPlan& TimedModel::plan() {
    if (!plan_) plan_ = compiler::verified_plan(artefact());
    return *plan_;
}

void TimedModel::add(int64_t tokens) {
    const std::span<const int32_t> added = std::span(tokens_).first(static_cast<size_t>(tokens));
    const llm::Addition addition{sequence_, added, llm::last_row(added)};
    model_.session().add({&addition, 1}, [](size_t, int32_t, std::span<const float>) {});
}

void TimedModel::fill_to(int64_t depth) {
    llm::Session& session = model_.session();
    if (session.length(sequence_) > depth) session.shorten(sequence_, session.own_length(sequence_, depth));
    session.assume(sequence_, depth);
}

double TimedModel::time(BenchCase::Kind kind, int64_t tokens) {
    llm::Session& session = model_.session();
    const int64_t depth = session.length(sequence_);
    const auto begin = std::chrono::steady_clock::now();
    if (kind == BenchCase::Kind::kPrefill)
        add(tokens);
    else
        for (int64_t i = 0; i < tokens; ++i) add(1);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    fill_to(depth);
    return seconds;
}

std::vector<std::vector<runtime::KernelTime>> TimedModel::kernel_times(BenchCase::Kind kind, int64_t tokens) {
    const std::vector<runtime::StepMarks> marks = model_.program().marked([&] { time(kind, tokens); });
    std::vector<std::vector<runtime::KernelTime>> times = marks.front().times();
    for (size_t rank = 1; rank < marks.size(); ++rank)
        for (size_t s = 0; s < times.size(); ++s) take_least_exchanges(marks[rank].times()[s], times[s]);
    return times;
}

TimedModel::Step TimedModel::step(int64_t start, int64_t tokens) const {
    const runtime::Manifest& manifest = model_.artefact().manifest();
    const llm::StepInterface interface(manifest);
    std::vector<int32_t> pages(
        static_cast<size_t>((start + tokens + interface.page_size - 1) / interface.page_size));
    std::iota(pages.begin(), pages.end(), 0);
    const std::vector<int32_t> rows = {static_cast<int32_t>(tokens - 1)};
    const llm::Segment segment{std::span(tokens_).first(static_cast<size_t>(tokens)), start, 0, pages, rows};
    const auto count =
        std::max<int64_t>(interface.limits[llm::StepInterface::kP].low, static_cast<int64_t>(pages.size()));
    llm::StepValues values = llm::step_values(manifest, interface, {&segment, 1}, count);

    Step step;
    for (size_t i = 0; i < values.symbols.size(); ++i)
        step.symbols[manifest.symbols[i].name] = values.symbols[i];
    for (size_t i = 0; i < values.inputs.size(); ++i)
        step.inputs[manifest.inputs[i].name] = std::move(values.inputs[i]);
    return step;
}

void TimedModel::for_each_step(BenchCase::Kind kind, int64_t tokens,
                               const std::function<void(const Step&)>& visit) const {
    const int64_t depth = model_.session().length(sequence_);
    const int64_t most = kind == BenchCase::Kind::kPrefill ? model_.session().longest_segment() : 1;
    for (int64_t done = 0; done < tokens; done += most)
        visit(step(depth + done, std::min(most, tokens - done)));
}

StepWork TimedModel::work(BenchCase::Kind kind, int64_t tokens) const {
    StepWork all;
    for_each_step(kind, tokens, [&](const Step& step) {
        all += step_work(graph_, step.symbols, {step.inputs.begin(), step.inputs.end()});
    });
    return all;
}

std::vector<StepPrediction> TimedModel::predictions(BenchCase::Kind kind, int64_t tokens,
                                                    const StepPredictor& predictor) const {
    std::vector<StepPrediction> all;
    for_each_step(kind, tokens, [&](const Step& step) { all.push_back(predictor.predict(step.symbols)); });
    return all;
}

}  // namespace tessera::benchmark
