#include "nest/nests/level_lines.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::nests {
namespace {

constexpr std::array<std::string_view, 6> kWords = {"level", "peak", "time", "cost", "sizes", "reorder"};
constexpr size_t kMostLevels = 16;

void once(const TokenStream& tokens, std::string_view word, bool is_known) {
    if (is_known) tokens.fail(std::string(word), "stands twice");
}

void read_level(TokenStream& tokens, LevelMachine& machine) {
    const bool is_memory = machine.levels.empty();
    MemoryLevel level{.name = tokens.expect_name("the name of a level"), .capacity = {}};
    if (machine.find(level.name) >= 0 || level.name == "unit")
        tokens.fail(level.name, "cannot name a level here",
                    level.name == "unit" ? "`unit` has another meaning" : "it names one already");
    if (machine.levels.size() == kMostLevels)
        tokens.fail(level.name, fmt::format("is one level more than {}", kMostLevels));
    if (tokens.accept("capacity")) level.capacity = tokens.expect_integer("the capacity in bytes");
    if (tokens.accept("bandwidth")) {
        if (is_memory) tokens.fail(level.name, "is the outermost level, which has no bandwidth");
        level.bandwidth = positive_real(tokens, "bandwidth");
    } else if (!is_memory) {
        tokens.fail(level.name, "has no bandwidth",
                    "write `bandwidth 1e9`, in bytes a second to the next outer level");
    }
    if (tokens.accept("per")) {
        tokens.expect("unit", "as in `per unit`");
        if (is_memory) tokens.fail(level.name, "is the outermost level, which all units share");
        level.is_per_unit = true;
    }
    tokens.expect_end("the level");
    if (!is_memory && machine.levels.back().is_per_unit && !level.is_per_unit)
        tokens.fail(level.name, "is inside of a level that is `per unit`, but is not");
    machine.levels.push_back(std::move(level));
}

void read_peak(TokenStream& tokens, LevelMachine& machine) {
    once(tokens, "peak", machine.peak > 0);
    machine.peak = positive_real(tokens, "peak");
    if (tokens.accept("units")) machine.units = tokens.expect_integer("the units of the machine");
    tokens.expect_end("the units");
}

void read_time(TokenStream& tokens, LevelMachine& machine) {
    OperatorTime time{.op = tokens.expect_name("the name of an operator"), .terms = {}};
    once(tokens, time.op,
         std::ranges::any_of(machine.times, [&](const OperatorTime& known) { return known.op == time.op; }));
    tokens.expect(":", "as in `time c: 2e-9 + 1e-10 m n`");
    do {
        time.terms.push_back({real_of(tokens, "seconds"), {}});
        while (!tokens.at_end() && !tokens.at("+"))
            time.terms.back().iterators.push_back(tokens.expect_name("an iterator"));
    } while (tokens.accept("+"));
    tokens.expect_end("the terms");
    machine.times.push_back(std::move(time));
}

SizeDomain read_sizes(TokenStream& tokens) {
    SizeDomain sizes;
    if (!tokens.accept("every")) {
        tokens.expect("multiple", "`every`, or as in `multiple 4`");
        sizes.step = tokens.expect_integer("the number of which sizes are multiples");
        if (sizes.step < 1) tokens.fail("sizes", "are multiples of a number below 1");
    }
    tokens.expect_end("the sizes");
    return sizes;
}

}  // namespace

double real_of(TokenStream& tokens, std::string_view what) {
    const Token token = tokens.next();
    const bool is_integer = token.kind == Token::Kind::kInteger;
    if (!is_integer && token.kind != Token::Kind::kReal)
        tokens.fail(std::string(what), fmt::format("is `{}`, expected a number", token.text));
    return is_integer ? static_cast<double>(token.integer) : token.real;
}

double positive_real(TokenStream& tokens, std::string_view what) {
    const std::string text(tokens.peek().text);
    const double value = real_of(tokens, what);
    if (value <= 0) tokens.fail(std::string(what), fmt::format("is `{}`, expected a number above 0", text));
    return value;
}

bool is_level_line(std::string_view word) {
    return std::ranges::find(kWords, word) != kWords.end();
}

void read_level_line(std::string_view word, TokenStream& tokens, KernelFile& file) {
    if (word == "cost") {
        once(tokens, word, file.cost.has_value());
        file.cost = tokens.expect_name("nncase, overlap or serial");
        tokens.expect_end("the cost");
    } else if (word == "sizes") {
        once(tokens, word, file.sizes.has_value());
        file.sizes = read_sizes(tokens);
    } else if (word == "reorder") {
        once(tokens, word, file.reorder.has_value());
        file.reorder.emplace();
        while (!tokens.at_end()) file.reorder->push_back(tokens.expect_name("the name of a level"));
    } else {
        if (!file.levels) file.levels.emplace();
        if (word == "level")
            read_level(tokens, *file.levels);
        else if (word == "peak")
            read_peak(tokens, *file.levels);
        else
            read_time(tokens, *file.levels);
    }
}

void check_levels(const KernelFile& file) {
    if (!file.levels) {
        if (file.cost || file.sizes || file.reorder)
            throw Error(file.where, "", "has `cost`, `sizes` or `reorder`, but no memory levels",
                        "add lines `level memory`, `level L1 capacity 32768 bandwidth 1e11` and `peak 1e11`");
        return;
    }
    const LevelMachine& machine = *file.levels;
    if (machine.levels.size() < 2)
        throw Error(file.where, "",
                    fmt::format("has {} levels, expected memory and one more", machine.levels.size()),
                    "as in `level L1 capacity 32768 bandwidth 1e11`");
    if (machine.peak <= 0)
        throw Error(file.where, "peak", "is missing", "as in `peak 1e11 units 2`, in flops a second");
    const std::array<std::pair<const char*, bool>, 5> others = {{{"visible", file.visible.has_value()},
                                                                 {"machine", file.machine.has_value()},
                                                                 {"batch", file.batch.has_value()},
                                                                 {"multiple", file.multiple.has_value()},
                                                                 {"capacity", file.capacity.has_value()}}};
    for (const auto& [word, is_there] : others)
        if (is_there) throw Error(file.where, word, "has no place beside memory levels", "remove the line");
    for (const OperatorTime& time : machine.times) {
        const auto op = std::ranges::find_if(file.operators, [&](const DefinitionFile& definition) {
            return definition.definition.name == time.op;
        });
        if (op == file.operators.end())
            throw Error(file.where, "time", fmt::format("names `{}`, which is no operator", time.op));
        for (const TimeTerm& term : time.terms)
            for (const std::string& iterator : term.iterators)
                if (op->definition.iterator(iterator) < 0)
                    throw Error(file.where, "time",
                                fmt::format("names `{}`, which is no iterator of {}", iterator, time.op));
    }
    for (const std::string& level : file.reorder.value_or(std::vector<std::string>{}))
        if (machine.find(level) < 1)
            throw Error(file.where, "reorder",
                        fmt::format("names `{}`, which is no level behind memory", level));
}

}  // namespace tessera::nests
