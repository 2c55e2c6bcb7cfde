#include "run/runtime/rank_program.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::runtime {
namespace {

Communicator& communicator(void* ranks) {
    return *static_cast<Communicator*>(ranks);
}

}  // namespace

RankProgram::RankProgram(const Artefact& artefact, std::span<const int64_t> symbols, int64_t spins)
    : artefact_(artefact),
      library_(artefact.code(), artefact.where()),
      barrier_(artefact.manifest().workers, spins) {
    int64_t arena_bytes = 0;
    for (const auto& specialisation : artefact_.manifest().specialisations) {
        entries_.push_back(library_.function<TesseraStepFunction>(specialisation.entry));
        arena_bytes = std::max(arena_bytes, specialisation.arena_bytes);
    }
    arena_ = AnonymousMemory(static_cast<size_t>(arena_bytes), artefact_.where(), "arena");
    allocate_states(symbols);
}

void RankProgram::allocate_states(std::span<const int64_t> symbols) {
    const Manifest& manifest = artefact_.manifest();
    for (const Manifest::State& state : manifest.states) {
        const std::optional<int64_t> bytes = byte_size(manifest, state, symbols);
        if (!bytes) throw Error(artefact_.where(), state.name, "is too large for any memory");
        states_.emplace_back(static_cast<size_t>(*bytes), artefact_.where(), state.name);
        state_addresses_.push_back(reinterpret_cast<unsigned char*>(states_.back().bytes().data()));
    }
}

void RankProgram::resolve_marked_entries() {
    if (!marked_entries_.empty()) return;
    for (const auto& specialisation : artefact_.manifest().specialisations)
        marked_entries_.push_back(
            library_.function<TesseraMarkedStepFunction>(specialisation.entry + kTesseraMarkedSuffix));
}

TesseraStep RankProgram::step(std::span<const int64_t> symbols, std::span<const void* const> inputs,
                              std::span<void* const> outputs, Communicator* ranks) {
    return {.symbols = symbols.data(),
            .inputs = inputs.data(),
            .outputs = outputs.data(),
            .constants = reinterpret_cast<const unsigned char*>(artefact_.constants().data()),
            .states = state_addresses_.data(),
            .arena = reinterpret_cast<unsigned char*>(arena_.bytes().data()),
            .worker = 0,
            .meet = [](void* barrier) { static_cast<Barrier*>(barrier)->arrive_and_wait(); },
            .team = &barrier_,
            .gather = [](void* of, unsigned char* parts,
                         int64_t part_bytes) { communicator(of).gather(parts, part_bytes); },
            .ranks = ranks,
            .transpose = [](void* of, unsigned char* parts,
                            int64_t part_bytes) { communicator(of).transpose(parts, part_bytes); },
            .place =
                [](void* of, unsigned char* whole, int64_t rows, const int64_t* starts) {
                    Communicator& all = communicator(of);
                    all.place(whole, rows, {starts, static_cast<size_t>(all.ranks()) + 1});
                },
            .rank = ranks ? ranks->rank() : 0};
}

void* RankProgram::unread_output(size_t index, int64_t bytes) {
    AnonymousMemory& memory = unread_[index];
    if (std::ssize(memory.bytes()) < bytes)
        memory = AnonymousMemory(static_cast<size_t>(bytes), artefact_.where(),
                                 artefact_.manifest().outputs[index].name);
    return memory.bytes().data();
}

void RankProgram::run(size_t specialisation, const TesseraStep& step, int64_t worker,
                      StepMarks* marks) const noexcept {
    TesseraMarkedStep own{step, StepMarks::mark, marks};
    own.step.worker = worker;
    if (marks)
        marked_entries_[specialisation](&own);
    else
        entries_[specialisation](&own.step);
}

void RankProgram::reset() {
    for (AnonymousMemory& state : states_) state.clear();
}

int64_t RankProgram::state_bytes() const {
    int64_t sum = 0;
    for (const AnonymousMemory& state : states_) sum += static_cast<int64_t>(state.bytes().size());
    return sum;
}

}  // namespace tessera::runtime
