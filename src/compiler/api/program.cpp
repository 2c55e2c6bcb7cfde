#include "tessera/program.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiler/api/kept_artefact.h"
#include "compiler/programs/bind_symbols.h"
#include "compiler/programs/program_call.h"
#include "import/npy/npy_file.h"
#include "import/onnx/onnx_model.h"
#include "support/error.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using runtime::Manifest;

ArrayInfo info_of(const std::string& name, ElementType element, const std::vector<Dim>& shape) {
    ArrayInfo info{.name = name, .type = std::string(import::npy_type(element)), .shape = {}};
    for (const Dim& dim : shape) {
        if (dim.symbol)
            info.shape.emplace_back(programs::extent_text(dim));
        else
            info.shape.emplace_back(dim.factor);
    }
    return info;
}

std::vector<ArrayInfo> infos_of(const std::vector<Manifest::Tensor>& tensors,
                                const std::vector<Manifest::Tensor>& empty,
                                const std::vector<std::string>& hidden) {
    std::vector<ArrayInfo> all;
    for (const auto* list : {&tensors, &empty})
        for (const Manifest::Tensor& tensor : *list)
            if (std::ranges::find(hidden, tensor.name) == hidden.end())
                all.push_back(info_of(tensor.array_name(), tensor.element, programs::array_shape(tensor)));
    return all;
}

void add(std::vector<programs::ResultArray> arrays, std::map<std::string, Array>& results) {
    for (programs::ResultArray& array : arrays)
        results[array.name] = {std::string(import::npy_type(array.element)), std::move(array.shape),
                               import::npy_bytes(array.element, array.elements)};
}

/// All that the artefact of a model depends on besides the settings, in a fixed order.
std::vector<std::string> wishes_of(const OnnxSettings& onnx) {
    std::vector<std::string> wishes;
    for (const auto& [name, bounds] : onnx.dims)
        wishes.push_back(fmt::format("dim {}={}..{}:{}", name, bounds.low, bounds.high, bounds.step));
    for (const auto& [name, value] : onnx.constants)
        wishes.push_back(fmt::format("constant {}={}", name, value));
    for (const auto& [output, input] : onnx.aliases)
        wishes.push_back(fmt::format("alias {}={}", output, input));
    for (const CostPoint& point : onnx.points) {
        wishes.push_back(fmt::format("point {}*{}", point.name, point.weight));
        for (const auto& [name, value] : point.values) wishes.push_back(fmt::format("at {}={}", name, value));
    }
    return wishes;
}

std::vector<fs::path> files_of(const fs::path& model, const OnnxSettings& onnx) {
    std::vector<fs::path> files = import::onnx::read_model(model).paths_of_tensors;
    files.push_back(model);
    for (const auto& [name, value] : onnx.constants)
        if (fs::is_regular_file(value)) files.emplace_back(value);
    return files;
}

}  // namespace

struct Program::Contents {
    explicit Contents(const fs::path& path_)
        : path(path_),
          artefact(std::make_shared<const runtime::Artefact>(runtime::Artefact::open(path_))),
          call(artefact) {}

    fs::path path;
    std::shared_ptr<const runtime::Artefact> artefact;
    programs::ProgramCall call;
};

Program::Program(const fs::path& artefact) : contents_(std::make_unique<Contents>(artefact)) {}
Program::Program(Program&&) noexcept = default;
Program::~Program() = default;

const fs::path& Program::path() const {
    return contents_->path;
}

int64_t Program::workers() const {
    return contents_->artefact->manifest().workers;
}

std::vector<ArrayInfo> Program::inputs() const {
    const Manifest& manifest = contents_->artefact->manifest();
    return infos_of(manifest.inputs, manifest.empty_inputs, {});
}

std::vector<ArrayInfo> Program::outputs() const {
    const Manifest& manifest = contents_->artefact->manifest();
    return infos_of(manifest.outputs, manifest.empty_outputs, manifest.hidden_outputs);
}

std::vector<ArrayInfo> Program::states() const {
    std::vector<ArrayInfo> all;
    for (const Manifest::State& state : contents_->artefact->manifest().states)
        all.push_back(info_of(state.array_name(), state.element, programs::array_shape(state)));
    return all;
}

std::map<std::string, Array> Program::call(const std::map<std::string, ArrayView>& inputs,
                                           const CallOptions& options) {
    programs::CallArguments arguments{
        .inputs = {}, .symbols = options.symbols, .continues = options.continues};
    for (const auto& [name, array] : inputs)
        arguments.inputs[name] = {contents_->artefact->where(), array.type, array.shape, array.bytes};
    contents_->call.set(arguments);
    contents_->call.run();
    std::map<std::string, Array> results;
    add(contents_->call.outputs(), results);
    if (!options.continues) add(contents_->call.states(), results);
    return results;
}

Program open_onnx(const fs::path& model, const OnnxSettings& onnx, const OpenSettings& settings) {
    if (!fs::exists(model)) throw Error(model.string(), "", "does not exist", "give an ONNX model");
    std::optional<Program> opened;
    open_kept(
        {.model = model,
         .files = [&] { return files_of(model, onnx); },
         .wishes = wishes_of(onnx),
         .open = [&](const fs::path& artefact) { opened.emplace(artefact); },
         .compile = [&](const fs::path& artefact,
                        const CompileSettings& how) { (void)compile_onnx(model, onnx, artefact, how); }},
        settings);
    return std::move(opened).value();
}

}  // namespace tessera
