#include "backend/cpp/emit.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/ranges.h>

#include "backend/backend.h"
#include "backend/comment.h"
#include "backend/cpp/buffers.h"
#include "backend/cpp/kernel_text.h"
#include "backend/wide_text.h"
#include "lowering/storage.h"
#include "support/error.h"
#include "tessera/step.h"

namespace tessera::backend::cpp {
namespace {

/// A distinct name for every kernel, even if names composed of parts are equal; behind `kernel_` they meet no
/// other name.
class FunctionNames {
public:
    explicit FunctionNames(const std::vector<movement::Program>& programs) {
        std::set<std::string> taken;
        for (const movement::Program& program : programs)
            for (const movement::ProgramBlock& block : program.blocks)
                for (const movement::Kernel& kernel : block.kernels) {
                    const std::string wanted =
                        fmt::format("{}_{}_{}", program.specialisation, block.name, kernel.name);
                    std::string name = wanted;
                    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
                    names_[&kernel] = name;
                }
    }
    const std::string& of(const movement::Kernel& kernel) const { return names_.at(&kernel); }

private:
    std::map<const movement::Kernel*, std::string> names_;
};

/// A kernel in pieces, since several may be one function: layers that differ only in their place in a group.
/// Buffers are parameters of it, since GCC 12 trusts `__restrict` fully for parameters alone: with it nothing
/// is reloaded after each store (a norm and rotation of heads takes a tenth less).
struct EmittedKernel {
    std::string name;
    std::string comment;
    std::string symbols;  ///< the symbols that its text may name
    std::string body;
    std::string parameters;  ///< of the body: its buffers, in the order in which it names them
    std::string arguments;   ///< for these: pointers, in terms of the step
    std::string tables;      ///< to which these refer
    std::string shape;       ///< equal where bodies are, but for the names of buffers and tiles
};

void find_shape(const std::vector<std::string>& tiles, const movement::Kernel& kernel,
                const std::optional<KernelExchange>& exchange, EmittedKernel& emitted) {
    std::map<std::string, const movement::ProgramBuffer*> buffers;
    for (const movement::ProgramBuffer& buffer : kernel.buffers) buffers[buffer.name] = &buffer;
    for (const std::string& tile : tiles) buffers[tile] = nullptr;
    std::map<std::string, std::string> replaced;
    const auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    const std::string& text = emitted.body;
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && is_of_word(text[end])) ++end;
        if (end == at) {
            emitted.shape += text[at++];
            continue;
        }
        const std::string word = text.substr(at, end - at);
        at = end;
        const auto buffer = buffers.find(word);
        if (buffer == buffers.end()) {
            emitted.shape += word;
            continue;
        }
        const auto [name, is_new] = replaced.emplace(word, fmt::format("${}", replaced.size()));
        if (is_new && buffer->second) {
            const std::string type = parameter_type(*buffer->second, kernel.buffers);
            emitted.parameters += fmt::format(", {} {}", type, word);
            const bool is_part = exchange && buffer->second == &exchange->parts;
            emitted.arguments += ", " + pointer_text(*buffer->second, is_part ? exchange->text.start : "");
            emitted.shape += type;
        }
        emitted.shape += name->second;
    }
}

/// The numbers of a step that texts name.
std::string symbols_of(const movement::Program& program, const char* step) {
    std::string text;
    for (size_t s = 0; s < program.symbols.size(); ++s) {
        const movement::Variable& symbol = program.symbols[s];
        if (symbol.bounds.low == symbol.bounds.high) continue;
        text += fmt::format("    [[maybe_unused]] const int64_t {} = {}symbols[{}];\n", symbol.name, step, s);
    }
    if (program.workers > 1)
        text += fmt::format("    [[maybe_unused]] const int64_t {} = {}worker;\n", movement::kWorker, step);
    return text;
}

EmittedKernel emit_kernel(const movement::Program& program, const movement::Kernel& kernel,
                          const std::string& name, const Exchanges& exchanges,
                          const kernels::Spellings& spellings, FactorTypes& factors) {
    EmittedKernel emitted;
    emitted.name = name;
    emitted.comment = kernel.comment;
    emitted.symbols = symbols_of(program, "step.");
    const std::optional<KernelExchange> exchange = exchange_of(kernel, exchanges);
    if (exchange) emitted.tables = exchange->text.tables;
    KernelText text(spellings, factors, kernel.arithmetic);
    text.body(kernel.body);
    emitted.body = text.written();
    find_shape(text.tiles(), kernel, exchange, emitted);
    return emitted;
}

/// All kernels in the order of the programs; those of one shape are one function, that of the first.
struct Kernels {
    std::vector<EmittedKernel> all;
    std::vector<size_t> function;  ///< of each: the number of the first kernel of its shape
};

Kernels emit_kernels(const std::vector<movement::Program>& programs, const Exchanges& exchanges,
                     const kernels::Spellings& spellings, FactorTypes& factors) {
    Kernels kernels;
    const FunctionNames names(programs);
    for (const movement::Program& program : programs)
        for (const movement::ProgramBlock& block : program.blocks)
            for (const movement::Kernel& kernel : block.kernels)
                kernels.all.push_back(
                    emit_kernel(program, kernel, names.of(kernel), exchanges, spellings, factors));
    std::map<std::string_view, size_t> of_shape;
    for (size_t k = 0; k < kernels.all.size(); ++k)
        kernels.function.push_back(of_shape.emplace(kernels.all[k].shape, k).first->second);
    return kernels;
}

std::string head_of(const EmittedKernel& kernel) {
    return fmt::format("[[gnu::noinline]] void kernel_{}([[maybe_unused]] const TesseraStep& step{})",
                       kernel.name, kernel.parameters);
}

/// The first micro-kernel with a tile that a body calls: the largest template in it.
std::string_view template_of(const EmittedKernel& kernel) {
    const std::string_view body = kernel.body;
    const size_t tile = std::min(body.find("Tile{"), body.size());
    return body.substr(tile, body.find('}', tile) - tile);
}

/// The functions, those of one template beside each other: each unit compiles it anew.
std::vector<size_t> functions_of(const Kernels& kernels) {
    std::vector<size_t> functions;
    for (size_t k = 0; k < kernels.all.size(); ++k)
        if (kernels.function[k] == k) functions.push_back(k);
    std::ranges::stable_sort(functions, {}, [&](size_t k) { return template_of(kernels.all[k]); });
    return functions;
}

/// Bytes of a translation unit, about: a second and a half of compiling, a tenth of it for headers.
constexpr size_t kUnitBytes = size_t{16} << 10;

/// The functions of all kernels, then the entries, in as many units as their length asks for.
Code in_units(const Kernels& kernels, const std::string& entries) {
    std::vector<std::string> units = {""};
    std::string declarations;
    for (const size_t k : functions_of(kernels)) {
        const EmittedKernel& kernel = kernels.all[k];
        if (units.back().size() > kUnitBytes) units.emplace_back();
        units.back() += comment(kernel.comment);
        units.back() += fmt::format("{} {{\n{}{}}}\n\n", head_of(kernel), kernel.symbols, kernel.body);
        declarations += head_of(kernel) + ";\n";
    }
    if (units.size() == 1) return {"namespace {\n\n" + units.front() + "}  // namespace\n" + entries};
    std::string out =
        "// Several compilers may share this text: where TESSERA_UNIT is defined, each takes its part of "
        "it.\n"
        "#ifdef TESSERA_UNIT\n#define TESSERA_HAS(unit) (TESSERA_UNIT == unit)\n"
        "#else\n#define TESSERA_HAS(unit) 1\n#endif\n\n#pragma GCC visibility push(hidden)\n" +
        declarations + "#pragma GCC visibility pop\n\n";
    for (size_t unit = 0; unit < units.size(); ++unit)
        out += fmt::format("#if TESSERA_HAS({0})\n\n{1}#endif  // unit {0}\n\n", unit, units[unit]);
    const size_t last = units.size();
    return {out + fmt::format("#if TESSERA_HAS({0})\n{1}\n#endif  // unit {0}\n", last, entries),
            static_cast<int64_t>(last) + 1};
}

/// The function that calls the kernels of a program in their order, and tells marks when, if there are any;
/// and its two entries.
class Entry {
public:
    /// @param first the program's first kernel
    Entry(const movement::Program& program, const Kernels& kernels, size_t first, const Exchanges& exchanges)
        : program_(program), kernels_(kernels), first_(first), exchanges_(exchanges) {}

    std::string text() {
        text_ = fmt::format(
            "\nstatic void run_{}([[maybe_unused]] const TesseraStep* const step, "
            "[[maybe_unused]] const TesseraMarkedStep* const marked) {{\n{}"
            "    const auto mark = [&](const int64_t kernel, const TesseraMark what) {{\n"
            "        if (marked) marked->mark(marked->marks, step->worker, kernel, what);\n    }};\n"
            "    [[maybe_unused]] constexpr int64_t repetition = 0;\n",
            program_.specialisation, symbols_of(program_, "step->"));
        for (const movement::ProgramBlock& block : program_.blocks) {
            const bool repeats = block.repeat > 1;
            indent_ = repeats ? "        " : "    ";
            text_ += repeats ? fmt::format(
                                   "    for (int64_t repetition = 0; repetition < {}; "
                                   "++repetition) {{\n",
                                   block.repeat)
                             : "";
            for (const movement::Kernel& kernel : block.kernels) add(kernel);
            if (repeats) text_ += "    }\n";
        }
        indent_ = "    ";
        mark("kTesseraEnds");
        const std::string name = entry_name(program_);
        return text_ + fmt::format(
                           "}}\n\nextern \"C\" void {0}(const TesseraStep* step) {{\n"
                           "    run_{2}(step, nullptr);\n}}\n\n"
                           "extern \"C\" void {0}{1}(const TesseraMarkedStep* marked) {{\n"
                           "    run_{2}(&marked->step, marked);\n}}\n",
                           name, kTesseraMarkedSuffix, program_.specialisation);
    }

private:
    void add(const movement::Kernel& kernel) {
        const bool has_team = program_.workers > 1;
        if (kernel.barrier && has_team) {
            mark("kTesseraWaits");
            text_ += fmt::format("{}step->meet(step->team);\n", indent_);
        }
        mark("kTesseraComputes");
        const size_t number = first_ + static_cast<size_t>(number_);
        const EmittedKernel& emitted = kernels_.all[number];
        const EmittedKernel& function = kernels_.all[kernels_.function[number]];
        std::string call = fmt::format("kernel_{}(*step{});", function.name, emitted.arguments);
        if (!emitted.tables.empty()) call = fmt::format("{{ {} {} }}", emitted.tables, call);
        text_ += fmt::format("{}{}{}{}\n", indent_, kernel.alone && has_team ? "if (step->worker == 0) " : "",
                             call, &function == &emitted ? "" : "  // " + emitted.name);
        const std::string exchange = exchange_text(kernel, program_.workers, exchanges_, indent_);
        if (!exchange.empty()) mark("kTesseraExchanges");
        text_ += exchange;
        ++number_;
    }

    void mark(const char* what) { text_ += fmt::format("{}mark({}, {});\n", indent_, number_, what); }

    const movement::Program& program_;
    const Kernels& kernels_;
    const size_t first_;
    const Exchanges& exchanges_;
    int64_t number_ = 0;  ///< of the kernel, in the order of execution
    std::string indent_, text_;
};

}  // namespace

Code emit(const std::string& model, const std::vector<movement::Program>& programs,
          const Exchanges& exchanges, const kernels::Spellings& spellings) {
    FactorTypes factors;
    const Kernels kernels = emit_kernels(programs, exchanges, spellings, factors);
    std::string entries;
    size_t first = 0;
    for (const movement::Program& program : programs) {
        entries += Entry(program, kernels, first, exchanges).text();
        for (const movement::ProgramBlock& block : program.blocks) first += block.kernels.size();
    }
    Code code = in_units(kernels, entries);
    std::string head = comment((model.empty() ? "" : model + ": ") +
                               "a function for each kernel of the plan, and one that calls them for each "
                               "specialisation.");
    head += "#include \"tessera/ntt/group.h\"\n#include \"tessera/ntt/ntt.h\"\n#include \"tessera/step.h\"\n";
    if (is_wide(programs)) head += "#include \"tessera/wide.h\"\n";
    head +=
        "\n"
        "namespace ntt = tessera::ntt;\n\n";
    head +=
        "namespace {\n\n// The elements that begin at some byte.\ntemplate <typename Element, typename "
        "Byte>\n"
        "[[maybe_unused]] inline Element* elements(Byte* begin) {\n"
        "    return reinterpret_cast<Element*>(begin);\n}\n\n" +
        factors.definitions() + "}  // namespace\n\n";
    code.text.insert(0, head);
    return code;
}

}  // namespace tessera::backend::cpp
