#include "backend/scalar_c/emit.h"

#include <fmt/format.h>

#include "backend/backend.h"
#include "backend/comment.h"
#include "backend/places.h"
#include "backend/scalar_c/helpers.h"
#include "backend/scalar_c/kernel_text.h"
#include "backend/scalar_c/value_text.h"
#include "tessera/step.h"

namespace tessera::backend::scalar_c {
namespace {

/// A constant of a function that may not need it.
std::string constant(const std::string& type, const std::string& name, const std::string& value) {
    return fmt::format("    {} {} = {};\n    (void){};\n", type, name, value, name);
}

/// The numbers of a step that texts name.
std::string symbols_of(const movement::Program& program) {
    std::string text;
    for (size_t s = 0; s < program.symbols.size(); ++s) {
        const movement::Variable& symbol = program.symbols[s];
        if (symbol.bounds.low < symbol.bounds.high)
            text += constant("const int64_t", symbol.name, fmt::format("step->symbols[{}]", s));
    }
    return text + constant("const int64_t", movement::kWorker, "step->worker");
}

std::string buffer_text(const movement::ProgramBuffer& buffer, const std::string& from) {
    const std::string type =
        fmt::format("{}{}*", buffer.is_written ? "" : "const ", memory_type(buffer.element));
    return constant(
        type + " const", buffer.name,
        fmt::format("({})({}){}", type, place_of(buffer, kIndexForms), from.empty() ? "" : " + " + from));
}

std::string kernel_text(const movement::Program& program, const movement::Kernel& kernel,
                        const std::string& function, const Exchanges& exchanges) {
    const std::optional<KernelExchange> exchange = exchange_of(kernel, exchanges);
    std::string text =
        comment(fmt::format("{}, {}: {}", program.specialisation, kernel.name, kernel.comment));
    text += fmt::format("static void {}(const struct TesseraStep* const step, const int64_t repetition) {{\n",
                        function);
    text += "    (void)repetition;\n" + symbols_of(program);
    if (exchange && !exchange->text.tables.empty()) text += "    " + exchange->text.tables + "\n";
    for (const movement::ProgramBuffer& buffer : kernel.buffers)
        text += buffer_text(buffer, exchange && &buffer == &exchange->parts ? exchange->text.start : "");
    return text + text_of(kernel) + "}\n\n";
}

/// The kernels of a program, the function that calls them in their order, and its two entries.
class ProgramText {
public:
    ProgramText(const movement::Program& program, const Exchanges& exchanges)
        : program_(program), exchanges_(exchanges) {}

    std::string text() {
        const std::string run = "run_" + program_.specialisation;
        for (const movement::ProgramBlock& block : program_.blocks) {
            run_ += fmt::format("    for (int64_t repetition = 0; repetition < {}; ++repetition) {{\n",
                                block.repeat);
            for (const movement::Kernel& kernel : block.kernels) add(kernel);
            run_ += "    }\n";
        }
        mark(kTesseraEnds);
        const std::string name = entry_name(program_);
        return kernels_ + fmt::format(
                              "static void {0}(const struct TesseraStep* const step, const struct "
                              "TesseraMarkedStep* const "
                              "marked) {{\n{1}}}\n\nvoid {2}(const struct TesseraStep* step);\n"
                              "void {2}(const struct TesseraStep* step) {{\n    {0}(step, 0);\n}}\n\n"
                              "void {2}{3}(const struct TesseraMarkedStep* marked);\n"
                              "void {2}{3}(const struct TesseraMarkedStep* marked) {{\n    "
                              "{0}(&marked->step, marked);\n}}\n\n",
                              run, run_, name, kTesseraMarkedSuffix);
    }

private:
    void add(const movement::Kernel& kernel) {
        const bool has_team = program_.workers > 1;
        const std::string function = fmt::format("kernel_{}_{}", program_.specialisation, number_);
        kernels_ += kernel_text(program_, kernel, function, exchanges_);
        if (kernel.barrier && has_team) {
            mark(kTesseraWaits);
            run_ += "        step->meet(step->team);\n";
        }
        mark(kTesseraComputes);
        run_ += fmt::format("        {}{}(step, repetition);\n",
                            kernel.alone && has_team ? "if (step->worker == 0) " : "", function);
        const std::string exchange = exchange_text(kernel, program_.workers, exchanges_, "        ");
        if (!exchange.empty()) mark(kTesseraExchanges);
        run_ += exchange;
        ++number_;
    }

    void mark(TesseraMark what) {
        run_ += fmt::format("        if (marked) marked->mark(marked->marks, step->worker, {}, {});\n",
                            number_, static_cast<int64_t>(what));
    }

    const movement::Program& program_;
    const Exchanges& exchanges_;
    int64_t number_ = 0;  ///< of the kernel, in the order of execution
    std::string kernels_, run_;
};

}  // namespace

Code emit(const std::string& model, const std::vector<movement::Program>& programs,
          const Exchanges& exchanges) {
    std::string text = comment((model.empty() ? "" : model + ": ") + "each kernel of the plan in plain C.");
    text += kHelpers;
    text += "\n";
    for (const movement::Program& program : programs) text += ProgramText(program, exchanges).text();
    return {.text = std::move(text), .units = 1, .language = Language::kC};
}

}  // namespace tessera::backend::scalar_c
