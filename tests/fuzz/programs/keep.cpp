#include "fuzz/programs/keep.h"

#include <cstddef>
#include <fstream>

#include <fmt/format.h>

#include "fuzz/programs/expected.h"
#include "import/npy/npy_file.h"
#include "lowering/movement/stored_element.h"

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

void write_array(const fs::path& path, ElementType type, const TensorData& data) {
    // NumPy has no BF16: such files hold F32.
    const ElementType stored = type == ElementType::kBF16 ? ElementType::kF32 : type;
    std::vector<std::byte> bytes(data.values.size() * static_cast<size_t>(bits(stored)) / 8);
    for (size_t i = 0; i < data.values.size(); ++i)
        testing::put_element(reinterpret_cast<unsigned char*>(bytes.data()), stored, static_cast<int64_t>(i),
                             data.values[i]);
    import::write_npy(path, type, data.shape, bytes);
}

std::string commented(std::string text) {
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
        text.replace(at, 1, "\n# ");
    return "# " + text + "\n";
}

}  // namespace

void keep_program(const fs::path& folder, const std::string& name, const Program& program,
                  const Treatment& treatment, const Verdict& verdict) {
    const fs::path expected = folder / (name + ".expected");
    fs::create_directories(expected);
    std::string compile, run;
    for (const Value& value : program.graph.values) {
        const fs::path file = fmt::format("{}.{}.npy", name, value.name);
        if (value.kind == ValueKind::kConstant) {
            compile += fmt::format(" --constant {}={}", value.sources.front(), file.string());
            write_array(folder / file, value.type.element, constant_of(program, value, 0));
        } else if (value.kind != ValueKind::kIntermediate) {
            const auto& contents = value.kind == ValueKind::kInput ? program.inputs : program.states;
            run += fmt::format(" --input {}={}", value.name, file.string());
            write_array(folder / file, value.type.element, contents.at(value.name));
        }
    }
    std::string symbols;
    for (const auto& [symbol, value] : program.symbols) symbols += fmt::format(" {} = {}", symbol, value);
    const std::string head = fmt::format(
        "{}: {}\ntessera compile {}.ir -o {}.tsr -q --no-measure --machine machines/{}.toml --workers {} "
        "--search-effort {}{}\ntessera run {}.tsr --out results{}\nsymbols:{}\n",
        fuzz::name(verdict.outcome), verdict.what, name, name, treatment.machine.name, treatment.workers,
        program.search_effort, compile, name, run, symbols);
    std::ofstream(folder / (name + ".ir")) << commented(head) << print(program.graph);
    const Expected results = expected_of(program);
    for (size_t o = 0; o < results.outputs.size(); ++o)
        write_array(expected / (results.outputs[o].name + ".npy"),
                    program.graph[program.graph.outputs[o]].type.element, results.outputs[o].data);
    for (const ExpectedTensor& state : results.states)
        write_array(expected / (state.name + ".npy"),
                    program.graph[*program.graph.find(state.name)].type.element, state.data);
}

}  // namespace tessera::fuzz
