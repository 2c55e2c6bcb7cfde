#include "runtime/program.h"

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
    : artefact_(std::move(artefact)), library_(artefact_->code(), artefact_->where()) {
    if (artefact_->ranks_of_file() > 1 && !artefact_->ranks())
        throw Error(artefact_->where(), "",
                    fmt::format("is for {} ranks, each with a part of the model", artefact_->ranks_of_file()),
                    "`tessera run`, `logits`, `verify`, `perplexity` and `bench` start them");
    resolve_entries();
    if (options.one_specialisation) first_specialisation_ = entries_.size() - 1;
    allocate_states(state_symbols);
    int64_t arena_bytes = 0;
    for (const auto& specialisation : manifest().specialisations)
        arena_bytes = std::max(arena_bytes, specialisation.arena_bytes);
    arena_ = AnonymousMemory(static_cast<size_t>(arena_bytes), artefact_->where(), "arena");
    if (workers() > 1) start_workers(options);
}

void LoadedProgram::start_workers(const ProgramOptions& options) {
    const Communicator* ranks = artefact_->ranks();
    const int64_t before = ranks ? ranks->rank() * workers() : 0;
    WorkerOptions team = one_processor_each(workers(), before);
    lacks_processors_ = team.processors.empty();
    if (!options.pin) team.processors.clear();
    team_ = std::make_unique<WorkerTeam>(workers(), team);
}

void LoadedProgram::resolve_entries() {
    for (const auto& specialisation : manifest().specialisations)
        entries_.push_back(library_.function<TesseraStepFunction>(specialisation.entry));
}

void LoadedProgram::mark_steps(StepMarks* marks) {
    marks_ = marks;
    if (!marks || !marked_entries_.empty()) return;
    for (const auto& specialisation : manifest().specialisations)
        marked_entries_.push_back(
            library_.function<TesseraMarkedStepFunction>(specialisation.entry + kTesseraMarkedSuffix));
}

void LoadedProgram::allocate_states(const std::map<std::string, int64_t>& state_symbols) {
    const std::vector<DimSymbol>& symbols = manifest().symbols;
    state_symbols_.assign(symbols.size(), -1);
    for (const Manifest::State& state : manifest().states) {
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
        const std::optional<int64_t> bytes = byte_size(manifest(), state, state_symbols_);
        if (!bytes) throw Error(artefact_->where(), state.name, "is too large for any memory");
        states_.emplace_back(static_cast<size_t>(*bytes), artefact_->where(), state.name);
        state_addresses_.push_back(reinterpret_cast<unsigned char*>(states_.back().bytes().data()));
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
    const TesseraStep step{
        .symbols = symbols.data(),
        .inputs = input_addresses.data(),
        .outputs = output_addresses.data(),
        .constants = reinterpret_cast<const unsigned char*>(artefact_->constants().data()),
        .states = state_addresses_.data(),
        .arena = reinterpret_cast<unsigned char*>(arena_.bytes().data()),
        .worker = 0,
        .meet = [](void* team) { static_cast<WorkerTeam*>(team)->meet(); },
        .team = team_.get(),
        .gather = [](void* ranks, unsigned char* parts,
                     int64_t part_bytes) { static_cast<Communicator*>(ranks)->gather(parts, part_bytes); },
        .ranks = artefact_->ranks(),
        .transpose =
            [](void* ranks, unsigned char* parts, int64_t part_bytes) {
                static_cast<Communicator*>(ranks)->transpose(parts, part_bytes);
            },
        .place =
            [](void* of, unsigned char* whole, int64_t rows, const int64_t* starts) {
                auto* ranks = static_cast<Communicator*>(of);
                ranks->place(whole, rows, {starts, static_cast<size_t>(ranks->ranks()) + 1});
            }};
    ++steps_;
    struct Call {
        const LoadedProgram& program;
        const TesseraStep& step;
        size_t specialisation;
    } call{*this, step, specialisation};
    const WorkerTeam::Task task = [](void* context, int64_t worker) noexcept {
        const Call& shared = *static_cast<const Call*>(context);
        TesseraMarkedStep own{shared.step, StepMarks::mark, shared.program.marks_};
        own.step.worker = worker;
        if (own.marks)
            shared.program.marked_entries_[shared.specialisation](&own);
        else
            shared.program.entries_[shared.specialisation](&own.step);
    };
    if (team_)
        team_->run(task, &call);
    else
        task(&call, 0);
    if (marks_) marks_->end_step(specialisation);
}

void LoadedProgram::reset() {
    for (AnonymousMemory& state : states_) state.clear();
}

int64_t LoadedProgram::state_bytes() const {
    int64_t sum = 0;
    for (const AnonymousMemory& state : states_) sum += static_cast<int64_t>(state.bytes().size());
    return sum;
}

}  // namespace tessera::runtime
