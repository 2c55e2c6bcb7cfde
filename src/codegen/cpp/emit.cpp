#include "codegen/cpp/emit.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/ranges.h>

#include "codegen/cpp/buffers.h"
#include "codegen/cpp/kernel_text.h"
#include "lowering/storage.h"
#include "support/error.h"
#include "tessera/step.h"

namespace tessera::codegen::cpp {
namespace {

/// A comment of one line. Names of models and nests come from outside: no part of them may end the line, or
/// continue it on the next one as a backslash does.
std::string comment(std::string_view text) {
    std::string line = "// ";
    for (const char c : text) {
        const bool is_harmless = ' ' <= c && c <= '~' && c != '\\';
        line += is_harmless ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return line + "\n";
}

/// A distinct name for every kernel, even if names composed of parts are equal; behind `kernel_` and `body_`
/// they meet no other name.
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

/// A kernel in pieces, since several may have one body: layers that differ only in their place in a group.
/// Buffers are parameters of it, since GCC 12 trusts `__restrict` fully for parameters alone: with it nothing
/// is reloaded after each store (a norm and rotation of heads takes a tenth less).
struct EmittedKernel {
    std::string name;
    std::string comment;
    std::string symbols;   ///< the symbols that its text may name
    std::string pointers;  ///< to its buffers
    std::string body;
    std::string parameters;  ///< of the body: its buffers, in the order in which it names them
    std::string arguments;   ///< for these
    std::string shape;       ///< equal where bodies are, but for the names of buffers and tiles
};

void find_shape(const std::vector<std::string>& tiles, const movement::Kernel& kernel,
                EmittedKernel& emitted) {
    std::map<std::string, const movement::ProgramBuffer*> buffers;
    for (const movement::ProgramBuffer& buffer : kernel.buffers) buffers[buffer.name] = &buffer;
    for (const std::string& tile : tiles) buffers[tile] = nullptr;
    std::map<std::string, std::string> replaced;
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    const std::string& text = emitted.body;
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && is_part(text[end])) ++end;
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
            emitted.arguments += ", " + word;
            emitted.shape += type;
        }
        emitted.shape += name->second;
    }
}

EmittedKernel emit_kernel(const movement::Program& program, const movement::Kernel& kernel,
                          const std::string& name, const Exchanges& exchanges, FactorTypes& factors) {
    EmittedKernel emitted;
    emitted.name = name;
    emitted.comment = kernel.comment;
    for (size_t s = 0; s < program.symbols.size(); ++s) {
        const movement::Variable& symbol = program.symbols[s];
        if (symbol.bounds.low == symbol.bounds.high) continue;
        emitted.symbols +=
            fmt::format("    [[maybe_unused]] const int64_t {} = step.symbols[{}];\n", symbol.name, s);
    }
    if (program.workers > 1)
        emitted.symbols +=
            fmt::format("    [[maybe_unused]] const int64_t {} = step.worker;\n", movement::kWorker);
    const std::optional<KernelExchange> exchange = exchange_of(kernel, exchanges);
    if (exchange && !exchange->text.tables.empty())
        emitted.pointers += fmt::format("    {}\n", exchange->text.tables);
    for (const movement::ProgramBuffer& buffer : kernel.buffers)
        emitted.pointers += fmt::format(
            "    {}\n",
            pointer_text(buffer, exchange && &buffer == &exchange->parts ? exchange->text.start : ""));
    KernelText text(factors);
    text.body(kernel.body);
    emitted.body = text.text();
    find_shape(text.tiles(), kernel, emitted);
    return emitted;
}

/// Kernels of one shape: they call one function with their buffers, which has the name of the first.
using SameBody = std::vector<const EmittedKernel*>;

std::vector<SameBody> by_body(const std::vector<EmittedKernel>& kernels) {
    std::map<std::string_view, size_t> of_shape;
    std::vector<SameBody> bodies;
    for (const EmittedKernel& kernel : kernels) {
        const auto [at, is_new] = of_shape.emplace(kernel.shape, bodies.size());
        if (is_new) bodies.emplace_back();
        bodies[at->second].push_back(&kernel);
    }
    return bodies;
}

std::string functions(const SameBody& same) {
    const EmittedKernel& first = *same.front();
    std::string out;
    if (same.size() > 1) out += comment(fmt::format("the body of {} kernels", same.size()));
    out += fmt::format(
        "[[gnu::noinline]] static void body_{}([[maybe_unused]] const TesseraStep& step{}) {{\n{}{}}}\n\n",
        first.name, first.parameters, first.symbols, first.body);
    for (const EmittedKernel* kernel : same) {
        out += comment(kernel->comment);
        out += fmt::format(
            "void kernel_{}(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {{\n{}{}"
            "    body_{}(step{});\n}}\n\n",
            kernel->name, kernel->symbols, kernel->pointers, first.name, kernel->arguments);
    }
    return out;
}

/// Bytes of a translation unit, about: a second and a half of compiling, a tenth of it for headers.
constexpr size_t kUnitBytes = size_t{32} << 10;

/// The functions of all kernels, then the entries, in as many units as their length asks for.
Code in_units(const std::vector<EmittedKernel>& kernels, const std::string& entries) {
    std::vector<std::string> units = {""};
    for (const SameBody& same : by_body(kernels)) {
        if (units.back().size() > kUnitBytes) units.emplace_back();
        units.back() += functions(same);
    }
    if (units.size() == 1) return {"namespace {\n\n" + units.front() + "}  // namespace\n" + entries};
    std::string out =
        "// Several compilers may share this text: where TESSERA_UNIT is defined, each takes its part of "
        "it.\n"
        "#ifdef TESSERA_UNIT\n#define TESSERA_HAS(unit) (TESSERA_UNIT == unit)\n"
        "#else\n#define TESSERA_HAS(unit) 1\n#endif\n\n#pragma GCC visibility push(hidden)\n";
    for (const EmittedKernel& kernel : kernels)
        out += fmt::format("void kernel_{}(const TesseraStep& step, int64_t repetition);\n", kernel.name);
    out += "#pragma GCC visibility pop\n\n";
    for (size_t unit = 0; unit < units.size(); ++unit)
        out += fmt::format("#if TESSERA_HAS({0})\n\n{1}#endif  // unit {0}\n\n", unit, units[unit]);
    return {out + "#if TESSERA_HAS(0)\n" + entries + "\n#endif  // unit 0\n",
            static_cast<int64_t>(units.size())};
}

/// The function that calls the kernels of a program in their order; with marks, it tells when.
class Entry {
public:
    Entry(const movement::Program& program, const FunctionNames& names, const Exchanges& exchanges,
          bool is_marked)
        : program_(program), names_(names), exchanges_(exchanges), is_marked_(is_marked) {}

    std::string text() {
        text_ = is_marked_ ? fmt::format(
                                 "\nextern \"C\" void {}{}(const TesseraMarkedStep* marked) {{\n"
                                 "    const TesseraStep* const step = &marked->step;\n",
                                 entry_name(program_), kTesseraMarkedSuffix)
                           : fmt::format("\nextern \"C\" void {}(const TesseraStep* step) {{\n",
                                         entry_name(program_));
        int64_t number = 0;
        for (const movement::ProgramBlock& block : program_.blocks) {
            const bool repeats = block.repeat > 1;
            indent_ = repeats ? "        " : "    ";
            if (repeats)
                text_ += fmt::format("    for (int64_t repetition = 0; repetition < {}; ++repetition) {{\n",
                                     block.repeat);
            for (const movement::Kernel& kernel : block.kernels) add(kernel, number++, repeats);
            if (repeats) text_ += "    }\n";
        }
        indent_ = "    ";
        mark(number, "kTesseraEnds");
        return text_ + "}\n";
    }

private:
    void add(const movement::Kernel& kernel, int64_t number, bool repeats) {
        const bool has_team = program_.workers > 1;
        if (kernel.barrier && has_team) {
            mark(number, "kTesseraWaits");
            text_ += fmt::format("{}step->meet(step->team);\n", indent_);
        }
        mark(number, "kTesseraComputes");
        text_ += fmt::format("{}{}kernel_{}(*step, {});\n", indent_,
                             kernel.alone && has_team ? "if (step->worker == 0) " : "", names_.of(kernel),
                             repeats ? "repetition" : "0");
        const std::string exchange = exchange_text(kernel, program_.workers, exchanges_, indent_);
        if (!exchange.empty()) mark(number, "kTesseraExchanges");
        text_ += exchange;
    }

    void mark(int64_t kernel, const char* what) {
        if (is_marked_)
            text_ +=
                fmt::format("{}marked->mark(marked->marks, step->worker, {}, {});\n", indent_, kernel, what);
    }

    const movement::Program& program_;
    const FunctionNames& names_;
    const Exchanges& exchanges_;
    const bool is_marked_;
    std::string indent_, text_;
};

}  // namespace

std::string entry_name(const movement::Program& program) {
    return "tessera_step_" + program.specialisation;
}

Code emit(const std::string& model, const std::vector<movement::Program>& programs,
          const Exchanges& exchanges) {
    FactorTypes factors;
    const FunctionNames names(programs);
    std::vector<EmittedKernel> kernels;
    for (const movement::Program& program : programs) {
        for (const movement::ProgramBlock& block : program.blocks) {
            for (const movement::Kernel& kernel : block.kernels)
                kernels.push_back(emit_kernel(program, kernel, names.of(kernel), exchanges, factors));
        }
    }
    std::string entries;
    for (const movement::Program& program : programs) {
        entries += Entry(program, names, exchanges, false).text();
        entries += Entry(program, names, exchanges, true).text();
    }
    Code code = in_units(kernels, entries);
    std::string head = comment(fmt::format(
        "{}: one function for each kernel of the plan, one entry for each specialisation.", model));
    head +=
        "#include \"tessera/ntt/group.h\"\n#include \"tessera/ntt/ntt.h\"\n#include \"tessera/step.h\"\n\n"
        "namespace ntt = tessera::ntt;\n\n";
    if (const std::string& definitions = factors.definitions(); !definitions.empty())
        head += "namespace {\n\n" + definitions + "}  // namespace\n\n";
    code.text.insert(0, head);
    return code;
}

}  // namespace tessera::codegen::cpp
