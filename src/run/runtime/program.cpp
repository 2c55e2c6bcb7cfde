#include "run/runtime/program.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::runtime {
namespace {

std::string list_of(const std::vector<DimSymbol>& symbols, std::span<const int64_t> values) {
    std::string text;
    for (size_t i = 0; i < symbols.size(); ++i)
        text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", symbols[i].name, values[i]);
    return text;
}

}  // namespace

LoadedProgram::LoadedProgram(std::shared_ptr<const Artefact> artefact,
                             const std::map<std::string, int64_t>& state_symbols,
                             const ProgramOptions& options)
    : artefact_(std::move(artefact)) {
    set_state_symbols(state_symbols);
    const int64_t spins = start_threads(options);
    for (size_t r = 0; r < artefact_->parts(); ++r)
        ranks_.emplace_back(artefact_->part(r), state_symbols_, spins);
    for (const Manifest::Tensor& output : manifest().outputs) {
        bool is_shared = true;
        for (size_t r = 0; r < ranks_.size(); ++r)
            is_shared = is_shared &&
                        std::ranges::count(artefact_->part(r).manifest().placed_outputs, output.name) > 0;
        shares_output_.push_back(is_shared);
    }
    if (artefact_->ranks_of_file() > 1)
        group_ = std::make_unique<RankGroup>(std::ssize(ranks_), spins, artefact_->processes());
    if (options.one_specialisation) first_specialisation_ = manifest().specialisations.size() - 1;
    if (artefact_->ranks_of_file() > 1) fetch_weights();
}

void LoadedProgram::fetch_weights() {
    const WorkerTeam::Task task = [](void* context, int64_t thread) noexcept {
        const LoadedProgram& program = *static_cast<const LoadedProgram*>(context);
        if (thread % program.workers() != 0) return;
        program.artefact_->part(static_cast<size_t>(thread / program.workers())).fetch_constants();
    };
    if (team_)
        team_->run(task, this);
    else
        task(this, 0);
}

int64_t LoadedProgram::start_threads(const ProgramOptions& options) {
    const int64_t threads = static_cast<int64_t>(artefact_->parts()) * workers();
    const Communicator* processes = artefact_->processes();
    if (threads == 1 && !processes) return 0;
    WorkerOptions team = one_processor_each(threads, processes ? processes->rank() * threads : 0);
    lacks_processors_ = team.processors.empty();
    if (!options.pin) team.processors.clear();
    team_ = std::make_unique<WorkerTeam>(threads, team);
    return team.spins;
}

std::vector<StepMarks> LoadedProgram::marked(const std::function<void()>& run) {
    for (RankProgram& rank : ranks_) rank.resolve_marked_entries();
    std::vector<StepMarks> marks;
    for (size_t rank = 0; rank < ranks(); ++rank) marks.emplace_back(workers());
    const struct Marking {
        explicit Marking(LoadedProgram& p, std::span<StepMarks> all) : program(p) { program.marks_ = all; }
        ~Marking() { program.marks_ = {}; }
        LoadedProgram& program;
    } marking(*this, marks);
    run();
    return marks;
}

void LoadedProgram::set_state_symbols(const std::map<std::string, int64_t>& state_symbols) {
    const std::vector<DimSymbol>& symbols = manifest().symbols;
    state_symbols_.assign(symbols.size(), -1);
    for (const Manifest::State& state : manifest().states)
        for (const Dim& dim : state.stored) {
            if (!dim.symbol) continue;
            const auto value = state_symbols.find(*dim.symbol);
            TESSERA_CHECK(value != state_symbols.end(), "state {} needs {}", state.name, *dim.symbol);
            const DimSymbol& symbol = symbols[static_cast<size_t>(symbol_index(manifest(), *dim.symbol))];
            if (value->second < symbol.low || value->second > symbol.high ||
                value->second % symbol.multiple_of != 0)
                throw Error(artefact_->where(), state.name,
                            fmt::format("would have {} = {}, expected {} to {} in steps of {}", symbol.name,
                                        value->second, symbol.low, symbol.high, symbol.multiple_of));
            state_symbols_[static_cast<size_t>(&symbol - symbols.data())] = value->second;
        }
}

void LoadedProgram::check_symbols(std::span<const int64_t> symbols) const {
    const std::vector<DimSymbol>& declared = manifest().symbols;
    if (symbols.size() != declared.size())
        throw Error(artefact_->where(), "",
                    fmt::format("a step has {} symbols, {} were given", declared.size(), symbols.size()));
    for (size_t i = 0; i < symbols.size(); ++i) {
        const DimSymbol& symbol = declared[i];
        if (symbols[i] < symbol.low || symbols[i] > symbol.high || symbols[i] % symbol.multiple_of != 0)
            throw Error(artefact_->where(), symbol.name,
                        fmt::format("is {}, expected {} to {} in steps of {}", symbols[i], symbol.low,
                                    symbol.high, symbol.multiple_of));
        if (state_symbols_[i] >= 0 && state_symbols_[i] != symbols[i])
            throw Error(artefact_->where(), symbol.name,
                        fmt::format("is {}, but the state was made for {}", symbols[i], state_symbols_[i]));
    }
}

size_t LoadedProgram::specialisation_for(std::span<const int64_t> symbols) const {
    const auto& specialisations = manifest().specialisations;
    for (size_t s = first_specialisation_; s < specialisations.size(); ++s) {
        bool holds = true;
        for (size_t i = 0; i < symbols.size() && holds; ++i) {
            const Manifest::Bounds& bounds =
                specialisations[s].bounds.find(manifest().symbols[i].name)->second;
            holds = bounds.low <= symbols[i] && symbols[i] <= bounds.high;
        }
        if (holds) return s;
    }
    throw Error(artefact_->where(), "",
                fmt::format("has no code for a step with {}", list_of(manifest().symbols, symbols)));
}

void LoadedProgram::run_step(std::span<const int64_t> symbols,
                             std::span<const std::span<const std::byte>> inputs,
                             std::span<const std::span<std::byte>> outputs) {
    check_symbols(symbols);
    const auto addresses = [&](const std::vector<Manifest::Tensor>& tensors, auto given,
                               std::string_view kind, auto& result) {
        if (given.size() != tensors.size())
            throw Error(artefact_->where(), "",
                        fmt::format("a step has {} {}, {} were given", tensors.size(), kind, given.size()));
        for (size_t i = 0; i < tensors.size(); ++i) {
            const std::optional<int64_t> expected =
                byte_size(manifest(), tensors[i].element, tensors[i].shape, symbols);
            if (!expected || static_cast<uint64_t>(*expected) != given[i].size())
                throw Error(artefact_->where(), tensors[i].name,
                            fmt::format("has {} bytes, expected {}", given[i].size(),
                                        expected ? fmt::to_string(*expected) : "more than there are"));
            result.push_back(given[i].data());
        }
    };
    std::vector<const void*> input_addresses;
    std::vector<void*> output_addresses;
    addresses(manifest().inputs, inputs, "inputs", input_addresses);
    addresses(manifest().outputs, outputs, "outputs", output_addresses);
    const size_t specialisation = specialisation_for(symbols);
    // All ranks have all outputs: the caller's are those of the first one, and shared where they can be.
    std::vector<std::vector<void*>> output_addresses_of(ranks_.size(), output_addresses);
    std::vector<TesseraStep> steps;
    for (size_t r = 0; r < ranks_.size(); ++r) {
        std::vector<void*>& own = output_addresses_of[r];
        for (size_t i = 0; r > 0 && i < own.size(); ++i)
            if (!shares_output_[i]) own[i] = ranks_[r].unread_output(i, std::ssize(outputs[i]));
        steps.push_back(ranks_[r].step(symbols, input_addresses, own,
                                       group_ ? &group_->rank(static_cast<int64_t>(r)) : nullptr));
    }
    ++steps_;
    struct Call {
        const LoadedProgram& program;
        const std::vector<TesseraStep>& steps;
        size_t specialisation;
    } call{*this, steps, specialisation};
    const WorkerTeam::Task task = [](void* context, int64_t thread) noexcept {
        const Call& shared = *static_cast<const Call*>(context);
        const int64_t workers = shared.program.workers();
        const auto rank = static_cast<size_t>(thread / workers);
        const std::span<StepMarks> marks = shared.program.marks_;
        shared.program.ranks_[rank].run(shared.specialisation, shared.steps[rank], thread % workers,
                                        marks.empty() ? nullptr : &marks[rank]);
    };
    if (team_)
        team_->run(task, &call);
    else
        task(&call, 0);
    for (StepMarks& marks : marks_) marks.end_step(specialisation);
}

void LoadedProgram::reset() {
    for (RankProgram& rank : ranks_) rank.reset();
}

int64_t LoadedProgram::state_bytes() const {
    int64_t sum = 0;
    for (const RankProgram& rank : ranks_) sum += rank.state_bytes();
    return sum;
}

int64_t LoadedProgram::arena_bytes() const {
    int64_t sum = 0;
    for (const RankProgram& rank : ranks_) sum += rank.arena_bytes();
    return sum;
}

}  // namespace tessera::runtime
