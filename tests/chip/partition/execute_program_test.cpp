#include "chip/partition/execute_program.h"

#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/partition/executed_programs.h"
#include "chip/partition/small_chips.h"
#include "chip/read_chip_toml.h"
#include "ir/random_definition.h"
#include "support/error.h"

// Programs that are executed in the simulator give the numbers of the interpreter, and programs with a fault
// do not.
namespace tessera::partition {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::vector<chip::ChipDescription> executing_chips() {
    return {small_chip({.cores = 6, .sram_bytes = 400'000}),
            small_chip({.cores = 12, .sram_bytes = 400'000, .reserved_bytes = 4096, .has_matrix = false}),
            small_chip({.topology = "mesh", .shape = "[2, 5]", .cores = 10, .sram_bytes = 400'000}),
            small_chip({.topology = "mesh", .shape = "[3, 3]", .cores = 9, .sram_bytes = 400'000}),
            chip::read_chip_description(std::string(TESSERA_SOURCE_DIR) + "/machines/chips/small-16.toml")};
}

TEST(ExecuteProgram, GivesTheNumbersOfTheInterpreterForRandomOperators) {
    const std::vector<chip::ChipDescription> chips = executing_chips();
    std::map<std::string, int> seen;
    for (uint64_t seed = 0; seed < 250; ++seed) {
        const std::string text = random_definition_text(seed, {.largest_box = 1500});
        SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
        const GraphAndCall drawn = graph_of(parse_definition_file(text, "drawn.op"), seed);
        const chip::ChipDescription& chip = chips[seed % chips.size()];
        for (uint64_t draw = 0; draw < 3; ++draw) {
            const DrawnPlan plan = draw_plan(drawn.graph, drawn.call, chip, seed * 7 + draw);
            const ExecutableProgram program =
                executable_program(drawn.graph, drawn.call.symbols, plan.tables, plan.schedule, chip);
            for (const chip::TransferKind kind : chip::kTransferKinds)
                if (!program.program.at(0).of(kind).empty()) ++seen[name(kind)];
            const ExecutedProgram result = run_program(drawn.graph, drawn.call, program, plan.tables, chip);
            EXPECT_EQ(difference(drawn.graph, drawn.call, result.result), "");
        }
    }
    for (const chip::TransferKind kind : chip::kTransferKinds) EXPECT_GE(seen[name(kind)], 50) << name(kind);
}

constexpr const char* kProduct = R"(op product(m: 12, n: 10, k*: 8)
in X f32[m, k]
in W f32[n, k]
out Y f32[m, n] = sum(X * W)

test
)";

/// True if a program is refused, or gives other numbers than the interpreter.
bool is_found_out(const GraphAndCall& product, const ExecutableProgram& program, const DrawnPlan& plan,
                  const chip::ChipDescription& chip) {
    try {
        const ExecutedProgram result = run_program(product.graph, product.call, program, plan.tables, chip);
        return !difference(product.graph, product.call, result.result).empty();
    } catch (const Error& error) {
        EXPECT_THAT(error.problem, AnyOf(HasSubstr("which is not there"), HasSubstr("does not hold"),
                                         HasSubstr("adds parts of cores")));
        return true;
    }
}

/// True if the receivers of a transfer have these elements anyway: they lie there.
bool is_needless(const ExecutableProgram& program, const chip::Transfer& transfer, const Piece& lost) {
    if (lost.tensor != 0) return false;
    return std::all_of(transfer.to.begin(), transfer.to.end(), [&](int32_t core) {
        Elements own;
        for (const Home& home : program.input_homes.at("X"))
            if (home.core == core) own = home.elements;
        return without(lost.elements, own).empty();
    });
}

/// Every transfer of every plan of a product on a chip, after `change`; it says whether there is something
/// to change.
template <typename Change>
int expect_found_out(const chip::ChipDescription& chip, const Change& change) {
    const GraphAndCall product = graph_of(parse_definition_file(kProduct, "product.op"), 0);
    DrawnPlan plan = draw_plan(product.graph, product.call, chip, 0);
    int changed = 0;
    for (size_t row = 0; row < plan.tables.operators[0].rows.size(); ++row) {
        plan.schedule.rows = {row};
        const ExecutableProgram sound =
            executable_program(product.graph, product.call.symbols, plan.tables, plan.schedule, chip);
        EXPECT_FALSE(is_found_out(product, sound, plan, chip));
        for (const chip::TransferKind kind : chip::kTransferKinds)
            for (size_t i = 0; i < sound.program.at(0).of(kind).size(); ++i) {
                ExecutableProgram faulty = sound;
                auto& transfers = faulty.program.operators[0].transfers[static_cast<size_t>(kind)];
                auto& contents = faulty.operators[0].contents.transfers[static_cast<size_t>(kind)];
                Piece lost = contents[i].front();
                if (!change(kind, i, transfers, contents)) continue;
                const chip::Transfer& before = sound.program.at(0).of(kind)[i];
                if (i < transfers.size() && transfers[i] == before)
                    lost.elements = without(lost.elements, contents[i].front().elements);
                if (is_needless(sound, before, lost)) continue;
                ++changed;
                EXPECT_TRUE(is_found_out(product, faulty, plan, chip))
                    << name(kind) << " " << i << " of row " << row;
            }
    }
    return changed;
}

using Transfers = std::vector<chip::Transfer>;
using Contents = std::vector<std::vector<Piece>>;

TEST(ExecuteProgram, FindsEveryTransferThatIsLeftOut) {
    for (const chip::ChipDescription& chip : executing_chips())
        EXPECT_GE(
            expect_found_out(chip,
                             [](chip::TransferKind, size_t i, Transfers& transfers, Contents& contents) {
                                 transfers.erase(transfers.begin() + static_cast<ptrdiff_t>(i));
                                 contents.erase(contents.begin() + static_cast<ptrdiff_t>(i));
                                 return true;
                             }),
            50);
}

TEST(ExecuteProgram, FindsEveryTransferThatGoesToAnotherCore) {
    for (const chip::ChipDescription& chip : executing_chips())
        EXPECT_GE(expect_found_out(chip,
                                   [&](chip::TransferKind, size_t i, Transfers& transfers, Contents&) {
                                       std::vector<int32_t>& to = transfers[i].to;
                                       int32_t other = 0;
                                       while (other == transfers[i].from ||
                                              std::find(to.begin(), to.end(), other) != to.end())
                                           ++other;
                                       if (other >= chip.chip.cores) return false;
                                       to.back() = other;
                                       return true;
                                   }),
                  50);
}

TEST(ExecuteProgram, FindsEveryTransferThatTakesOtherElements) {
    for (const chip::ChipDescription& chip : executing_chips())
        EXPECT_GE(expect_found_out(chip,
                                   [](chip::TransferKind, size_t i, Transfers&, Contents& contents) {
                                       Piece& piece = contents[i].front();
                                       piece.elements = numbered(piece.elements, 1, piece.elements.size());
                                       return true;
                                   }),
                  50);
}

TEST(ExecuteProgram, FindsSumsThatAreSentTooEarly) {
    int changed = 0;
    for (const chip::ChipDescription& chip : executing_chips())
        changed +=
            expect_found_out(chip, [](chip::TransferKind kind, size_t i, Transfers& transfers, Contents&) {
                if (kind != chip::TransferKind::kReduce || transfers[i].step == 0) return false;
                transfers[i].step = 0;
                return true;
            });
    EXPECT_GE(changed, 10);
}

TEST(ExecuteProgram, HasTransfersOfTheBytesThatPlansCharge) {
    // A core gets at most the bytes that the plan charges, and a part of an element for each transfer.
    const GraphAndCall product = graph_of(parse_definition_file(kProduct, "product.op"), 0);
    for (const chip::ChipDescription& chip : executing_chips()) {
        DrawnPlan plan = draw_plan(product.graph, product.call, chip, 0);
        for (size_t row = 0; row < plan.tables.operators[0].rows.size(); ++row) {
            plan.schedule.rows = {row};
            const ExecutableProgram program =
                executable_program(product.graph, product.call.symbols, plan.tables, plan.schedule, chip);
            std::map<int32_t, int64_t> preloaded;
            for (const chip::Transfer& preload : program.program.at(0).of(chip::TransferKind::kPreload))
                for (const int32_t core : preload.to) preloaded[core] += preload.bytes;
            const int64_t charged = plan.tables.problem.operators[0].rows[row].preload_bytes;
            for (const auto& [core, bytes] : preloaded) EXPECT_LE(bytes, charged + 4) << "row " << row;
            const ExecutedProgram executed =
                run_program(product.graph, product.call, program, plan.tables, chip);
            for (const int64_t peak : executed.sram_peak) EXPECT_LE(peak, chip.chip.sram_bytes);
        }
    }
}

}  // namespace
}  // namespace tessera::partition
