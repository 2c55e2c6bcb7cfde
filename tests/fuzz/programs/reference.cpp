#include "fuzz/programs/reference.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuzz/programs/expected.h"
#include "support/error.h"

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

const char* const kPython = "/usr/bin/python3";

fs::path reference() {
    return fs::path(TESSERA_SOURCE_DIR).parent_path() / "shared" / "programs";
}

/// `N.ir`, `N.call` with a line for each symbol and array, and their elements as float64 in `N.given`.
void write_program(const Program& program, const fs::path& stem) {
    std::ofstream(fs::path(stem) += ".ir") << print(program.graph);
    std::ofstream call(fs::path(stem) += ".call"), given(fs::path(stem) += ".given", std::ios::binary);
    for (const auto& [name, value] : program.symbols) call << fmt::format("symbol {} {}\n", name, value);
    const auto write = [&](const std::string& name, const TensorData& data) {
        call << fmt::format("array {} {}\n", name, fmt::join(data.shape, " "));
        given.write(reinterpret_cast<const char*>(data.values.data()),
                    static_cast<std::streamsize>(data.values.size() * sizeof(double)));
    };
    for (const auto& [name, data] : program.inputs) write(name, data);
    for (const auto& [name, data] : program.states) write(name, data);
    for (const Value& value : program.graph.values)
        if (value.kind == ValueKind::kConstant) write(value.name, constant_of(program, value, 0));
    for (const ValueId id : program.graph.outputs) call << fmt::format("output {}\n", program.graph[id].name);
    for (const StateUpdate& update : program.graph.blocks.front().states)
        call << fmt::format("output {}\n", program.graph[update.before].name);
}

/// A score of -inf leaves its iteration out (docs/ir.md, "Numbers"); the reference multiplies by 0.
bool has_scores_of_nothing(const Program& program) {
    const std::vector<TensorData> values = values_of(program);
    const auto has_none = [&](ValueId id) {
        return std::ranges::count(values[static_cast<size_t>(id.index)].values,
                                  -std::numeric_limits<double>::infinity()) > 0;
    };
    return std::ranges::any_of(program.graph.blocks.front().nodes, [&](const Node& node) {
        return node.definition()->monoid == Monoid::kSoftmaxSum &&
               (std::ranges::any_of(node.operands, has_none) || has_none(node.results.front()));
    });
}

Verdict compare(const Program& program, const fs::path& stem) {
    if (has_scores_of_nothing(program)) return {};
    const Expected expected = expected_of(program);
    std::ifstream results(fs::path(stem) += ".results", std::ios::binary);
    if (!results) {
        std::ifstream failed(fs::path(stem) += ".failed");
        std::string problem{std::istreambuf_iterator<char>(failed), {}};
        return {Outcome::kUnclear, "the reference: " + problem};
    }
    GraphResult got;
    const auto read = [&](const ExpectedTensor& tensor) {
        TensorData data = tensor.data;
        results.read(reinterpret_cast<char*>(data.values.data()),
                     static_cast<std::streamsize>(data.values.size() * sizeof(double)));
        return data;
    };
    for (const ExpectedTensor& output : expected.outputs) got.outputs.push_back(read(output));
    for (const ExpectedTensor& state : expected.states) got.states[state.name] = {read(state)};
    if (!results || results.peek() != std::char_traits<char>::eof())
        return {Outcome::kWrong, "the reference gives results of other shapes"};
    const std::string wrong = difference(expected, got);
    if (wrong.empty()) return {};
    return {Outcome::kWrong, "the reference says: " + wrong};
}

}  // namespace

bool has_reference() {
    return fs::exists(reference() / "reference.py") &&
           std::system(fmt::format("{} -c 'import numpy' 2>/dev/null", kPython).c_str()) == 0;
}

std::vector<Verdict> ask_reference(const std::vector<Program>& programs, const fs::path& folder) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (size_t p = 0; p < programs.size(); ++p) write_program(programs[p], folder / std::to_string(p));
    const std::string command =
        fmt::format("{} -B '{}/tests/fuzz/programs/ask_reference.py' '{}' '{}' {}", kPython,
                    TESSERA_SOURCE_DIR, reference().string(), folder.string(), programs.size());
    if (std::system(command.c_str()) != 0)
        throw Error(folder.string(), "", "the reference fails: " + command);
    std::vector<Verdict> verdicts;
    for (size_t p = 0; p < programs.size(); ++p)
        verdicts.push_back(compare(programs[p], folder / std::to_string(p)));
    return verdicts;
}

}  // namespace tessera::fuzz
