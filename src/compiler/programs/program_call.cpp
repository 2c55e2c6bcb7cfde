#include "compiler/programs/program_call.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include "compiler/layout_copy.h"
#include "compiler/programs/bind_symbols.h"
#include "compiler/programs/check_indices.h"
#include "import/constant_contents.h"
#include "ir/stored_number.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/constants.h"
#include "lowering/storage.h"
#include "machine/probe.h"
#include "support/error.h"

namespace tessera::programs {
namespace {

using runtime::Manifest;

std::string list_of_arrays(const Manifest& manifest) {
    std::vector<std::string> all;
    for (const Manifest::Tensor& input : manifest.inputs)
        all.push_back(
            fmt::format("{}: {}{}", input.array_name(), name(input.element), shape_text(array_shape(input))));
    for (const Manifest::State& state : manifest.states)
        all.push_back(
            fmt::format("{}: {}{}", state.array_name(), name(state.element), shape_text(array_shape(state))));
    return fmt::format("{}", fmt::join(all, "; "));
}

void expect_program(const runtime::Artefact& artefact) {
    if (artefact.manifest().text)
        throw Error(artefact.where(), "", "is a language model, not a program",
                    "`tessera run MODEL -p TEXT` continues a text with it");
    utsname host{};
    uname(&host);
    artefact.check_host(host.machine, machine::host_features());
}

/// @throws Error for an array that is no input or state, or not of its type, and for a missing input
void check_arrays(const runtime::Artefact& artefact, const CallArguments& arguments) {
    const Manifest& manifest = artefact.manifest();
    std::map<std::string, ElementType> known;
    for (const Manifest::Tensor& input : manifest.empty_inputs) known[input.array_name()] = input.element;
    for (const Manifest::Tensor& input : manifest.inputs) known[input.array_name()] = input.element;
    for (const Manifest::State& state : manifest.states) known[state.array_name()] = state.element;
    for (const auto& [name, array] : arguments.inputs)
        if (!known.contains(name))
            throw Error(artefact.where(), name, "is no input of the program",
                        known.empty() ? "it has none" : "it takes " + list_of_arrays(manifest));
    std::vector<std::string> missing;
    for (const Manifest::Tensor& input : manifest.empty_inputs)
        if (!arguments.inputs.contains(input.array_name())) missing.push_back(input.array_name());
    for (const Manifest::Tensor& input : manifest.inputs)
        if (!arguments.inputs.contains(input.array_name())) missing.push_back(input.array_name());
    if (!missing.empty())
        throw Error(artefact.where(), "", fmt::format("lacks its input {}", fmt::join(missing, ", ")),
                    "--input NAME=FILE.npy; it takes " + list_of_arrays(manifest));
    for (const auto& [name, element] : known)
        if (import::npy_type(element).empty())
            throw Error(artefact.where(), name,
                        fmt::format("is of {}, which NumPy files cannot hold", tessera::name(element)));
    for (const auto& [name, array] : arguments.inputs) array.expect_type(known.at(name), name);
}

/// True if the contents of an input choose what an operator reads or writes.
bool has_index_inputs(const Graph& graph) {
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes) {
            const Definition* definition = node.definition();
            for (int t = 0; definition && t < static_cast<int>(definition->tensors.size()); ++t)
                if (definition->tensors[static_cast<size_t>(t)].role == Role::kIndex &&
                    graph[lowering::value_of(node, t)].kind == ValueKind::kInput)
                    return true;
        }
    return false;
}

/// The bytes of one repetition, padding included.
size_t stored_bytes(const Manifest& manifest, const Manifest::State& state,
                    std::span<const int64_t> symbols) {
    const auto bytes = byte_size(manifest, state.element, state.stored, symbols);
    TESSERA_CHECK(bytes.has_value(), "{}", state.name);  // the program has allocated it
    return static_cast<size_t>(*bytes);
}

}  // namespace

ProgramCall::ProgramCall(std::shared_ptr<const runtime::Artefact> artefact) : artefact_(std::move(artefact)) {
    expect_program(*artefact_);
    graph_ = parse_graph(artefact_->graph(), artefact_->where());
    verify(graph_, artefact_->where());
    plan_ = plan::parse_plan(artefact_->plan(), artefact_->where(), kernels::micro_kernels());
    chooses_by_inputs_ = has_index_inputs(graph_);
}

void ProgramCall::set(const CallArguments& arguments) {
    const Manifest& manifest = artefact_->manifest();
    check_arrays(*artefact_, arguments);
    GivenShapes shapes;
    for (const auto& [name, array] : arguments.inputs) shapes[name] = {array.where, array.shape};
    symbols_ = bind_symbols(manifest, shapes, arguments.symbols, artefact_->where());
    for (size_t i = 0; i < symbols_.size(); ++i) symbol_values_[manifest.symbols[i].name] = symbols_[i];

    const auto make_room = [&](const std::vector<Manifest::Tensor>& tensors,
                               std::vector<runtime::AnonymousMemory>& memory) {
        memory.resize(tensors.size());
        for (size_t i = 0; i < tensors.size(); ++i) {
            const auto bytes = byte_size(manifest, tensors[i].element, tensors[i].shape, symbols_);
            if (!bytes) throw Error(artefact_->where(), tensors[i].name, "is too large for any memory");
            if (memory[i].bytes().size() != static_cast<size_t>(*bytes))
                memory[i] = runtime::AnonymousMemory(static_cast<size_t>(*bytes), artefact_->where(),
                                                     tensors[i].name);
        }
    };
    make_room(manifest.inputs, inputs_);
    make_room(manifest.outputs, outputs_);
    for (size_t i = 0; i < inputs_.size(); ++i)
        std::ranges::copy(
            arguments.inputs.at(manifest.inputs[i].array_name()).elements(manifest.inputs[i].element),
            inputs_[i].bytes().begin());
    check_chosen();
    load_program(arguments.continues);
    for (size_t s = 0; s < manifest.states.size(); ++s) {
        const Manifest::State& state = manifest.states[s];
        if (const auto array = arguments.inputs.find(state.array_name()); array != arguments.inputs.end())
            read_state(s, array->second.elements(state.element));
    }
}

void ProgramCall::check_chosen() {
    if (!chooses_by_inputs_ && checked_symbols_ == symbols_) return;
    check_indices(
        graph_, symbol_values_,
        [&](const Value& value, int64_t repetition) { return index_contents(value, repetition); },
        artefact_->where());
    checked_symbols_ = symbols_;
}

/// States have the extents of the call, and are zero in a new program.
void ProgramCall::load_program(bool continues) {
    std::vector<int64_t> of_states;
    for (const Manifest::State& state : artefact_->manifest().states)
        for (const int64_t extent : evaluate(state.stored, symbol_values_)) of_states.push_back(extent);
    if (program_ && of_states == state_extents_) {
        if (!continues) program_->reset();
        return;
    }
    program_ = std::make_unique<runtime::LoadedProgram>(artefact_, symbol_values_);
    state_extents_ = std::move(of_states);
}

void ProgramCall::read_state(size_t index, std::span<const std::byte> elements) {
    const Manifest::State& state = artefact_->manifest().states[index];
    const std::vector<int64_t> shape = evaluate(state.shape, symbol_values_);
    const size_t stored = stored_bytes(artefact_->manifest(), state, symbols_);
    const size_t each = elements.size() / static_cast<size_t>(state.repeat);
    const compiler::LayoutCopy copy(shape, plan::stored_layout(plan_, state.name), bits(state.element));
    for (size_t r = 0; r < static_cast<size_t>(state.repeat); ++r) {
        const std::span<std::byte> to = program_->state(index).subspan(r * stored, stored);
        copy.pack(copy.all(), elements.subspan(r * each, each), to.first(copy.packed_bytes(copy.all())));
    }
}

TensorData ProgramCall::index_contents(const Value& value, int64_t repetition) {
    TensorData data{.shape = evaluate(value.type.shape, symbol_values_), .values = {}};
    std::span<const std::byte> bytes;
    std::vector<std::byte> unpacked;
    if (value.kind == ValueKind::kConstant) {
        if (!weights_) weights_.emplace(artefact_, graph_, plan_);
        const import::TensorContents contents =
            import::constant_contents(*weights_, value, repetition, artefact_->where());
        unpacked.assign(contents.bytes.begin(), contents.bytes.end());
        bytes = unpacked;
    } else {
        const auto& inputs = artefact_->manifest().inputs;
        const auto found = std::find_if(inputs.begin(), inputs.end(),
                                        [&](const Manifest::Tensor& i) { return i.name == value.name; });
        if (value.kind != ValueKind::kInput || found == inputs.end())
            throw Error(artefact_->where(), value.name,
                        "is an index that the program computes, which cannot be checked before a call");
        bytes = inputs_[static_cast<size_t>(found - inputs.begin())].bytes();
    }
    const size_t count = bytes.size() * 8 / static_cast<size_t>(bits(value.type.element));
    for (size_t i = 0; i < count; ++i) data.values.push_back(stored_number(bytes, value.type.element, i));
    return data;
}

void ProgramCall::run() {
    std::vector<std::span<const std::byte>> inputs;
    for (const runtime::AnonymousMemory& memory : inputs_) inputs.push_back(memory.bytes());
    std::vector<std::span<std::byte>> outputs;
    for (runtime::AnonymousMemory& memory : outputs_) outputs.push_back(memory.bytes());
    program_->run_step(symbols_, inputs, outputs);
}

std::vector<KernelSeconds> ProgramCall::run_timed() {
    const std::vector<runtime::StepMarks> marks = program_->marked([&] { run(); });
    const std::vector<std::vector<runtime::KernelTime>>& times = marks.front().times();
    std::vector<KernelSeconds> all;
    for (size_t s = 0; s < times.size(); ++s) {
        if (times[s].empty()) continue;  // did not run
        const auto kernels = plan::kernels_in_order(graph_, plan_.specialisations[s]);
        for (size_t k = 0; k < kernels.size(); ++k) {
            const runtime::KernelTime& time = times[s].at(k);
            all.push_back({kernels[k]->nest.root().node, time.seconds + time.barrier_seconds});
        }
    }
    return all;
}

std::vector<ResultArray> ProgramCall::outputs() const {
    const Manifest& manifest = artefact_->manifest();
    std::vector<ResultArray> all;
    for (size_t o = 0; o < manifest.outputs.size(); ++o) {
        const Manifest::Tensor& output = manifest.outputs[o];
        if (std::ranges::find(manifest.hidden_outputs, output.name) != manifest.hidden_outputs.end())
            continue;
        const std::span<const std::byte> bytes = outputs_[o].bytes();
        all.push_back({output.array_name(),
                       output.element,
                       evaluate(array_shape(output), symbol_values_),
                       {bytes.begin(), bytes.end()}});
    }
    for (const Manifest::Tensor& output : manifest.empty_outputs)
        all.push_back({output.array_name(), output.element, evaluate(output.shape, symbol_values_), {}});
    return all;
}

std::vector<ResultArray> ProgramCall::states() const {
    const Manifest& manifest = artefact_->manifest();
    std::vector<ResultArray> all;
    for (size_t s = 0; s < manifest.states.size(); ++s) {
        const Manifest::State& state = manifest.states[s];
        const std::vector<int64_t> shape = evaluate(state.shape, symbol_values_);
        const size_t stored = stored_bytes(manifest, state, symbols_);
        ResultArray array{
            state.array_name(), state.element, evaluate(array_shape(state), symbol_values_), {}};
        for (size_t r = 0; r < static_cast<size_t>(state.repeat); ++r) {
            const std::vector<std::byte> one =
                compiler::unpack(std::as_const(*program_).state(s).subspan(r * stored, stored), shape,
                                 plan::stored_layout(plan_, state.name), bits(state.element));
            array.elements.insert(array.elements.end(), one.begin(), one.end());
        }
        all.push_back(std::move(array));
    }
    return all;
}

}  // namespace tessera::programs
