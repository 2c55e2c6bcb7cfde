#include "lowering/plan/nest.h"

#include <algorithm>
#include <charconv>

#include "lowering/plan/layout_text.h"
#include "nest/nest_text.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

/// Gives the names of a written nest the meaning that they have in a plan.
class NestReader {
public:
    /// @param loads how many there were before; null: there may be none
    NestReader(std::string_view text, const std::string& where, MicroKernels kernels, bool may_be_open,
               int64_t* loads)
        : text_(text), where_(where), kernels_(kernels), may_be_open_(may_be_open), loads_(loads) {}

    NestWithLoads run() {
        try {
            const nest::Moves moves = may_be_open_ ? nest::Moves::kLoads : nest::Moves::kNone;
            return nest::normal_form(read(nest::parse_nest(text_, where_, moves)));
        } catch (const nest::BrokenForm& broken) {
            fail(fmt::format("{}, at position {}", broken.what(), broken.position));
        }
    }

private:
    [[noreturn]] void fail(const std::string& problem) const {
        throw Error(where_, std::string(text_), problem,
                    "a nest reads `x:8 y:1 { producer[kernel key=value]; root[kernel] }`");
    }

    NestWithLoads read(const nest::WrittenNest& written) {
        NestWithLoads read_nest{.loops = written.loops, .items = {}};
        for (const LoopTile& loop : written.loops) check(loop);
        for (const nest::WrittenNest::Item& item : written.items) {
            if (const auto* inner = std::get_if<nest::WrittenNest>(&item))
                read_nest.items.emplace_back(read(*inner));
            else if (const auto* op = std::get_if<nest::WrittenOperator>(&item))
                read_nest.items.emplace_back(leaf(*op));
            else
                read_nest.items.emplace_back(load(std::get<nest::WrittenMove>(item)));
        }
        if (written.items.empty()) fail("expected an operator in each pair of braces");
        if (std::holds_alternative<nest::WrittenMove>(written.items.back()))
            fail("expected an operator behind the load");
        return read_nest;
    }

    void check(const LoopTile& loop) const {
        if (loop.bind == nest::Bind::kUnit)
            fail(fmt::format("the loop over {} has @unit, expected @worker or neither", loop.iterator));
        if (loop.tile == kOpenTile && !may_be_open_)
            fail(fmt::format("the tile of {} is open, expected its size", loop.iterator));
    }

    Load load(const nest::WrittenMove& move) {
        if (!loads_) fail(fmt::format("load {} stands where no load may", move.tensor));
        Load load{.of = move.tensor, .copy = fmt::format("{}_load{}", move.tensor, ++*loads_)};
        if (!move.layout.empty())
            load.layout = parse_layout(move.layout, fmt::format("{}: load {}", where_, load.of));
        return load;
    }

    Leaf leaf(const nest::WrittenOperator& written) const {
        if (!written.kernel) {
            if (!may_be_open_) fail(fmt::format("expected [micro-kernel] behind {}", written.name));
            return {written.name, open_micro_kernel()};
        }
        const MicroKernel* kernel = find_micro_kernel(kernels_, written.kernel->name);
        if (!kernel)
            throw Error(where_, written.name, fmt::format("{} is no micro-kernel", written.kernel->name));
        Leaf leaf(written.name, *kernel);
        for (const auto& [key, value] : written.kernel->parameters) set(leaf, key, value);
        return leaf;
    }

    void set(Leaf& leaf, const std::string& key, const std::string& value) const {
        const auto parameters = leaf.kernel->parameters;
        const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                            [&](const Parameter& p) { return p.name == key; });
        if (parameter == parameters.end())
            throw Error(where_, leaf.node,
                        fmt::format("{} is no parameter of micro-kernel {}", key, leaf.kernel->name));
        if (parameter->is_iterator()) {
            leaf.set(*parameter, value);
            return;
        }
        int64_t number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        const bool is_number = error == std::errc() && end == value.data() + value.size();
        const std::string why = is_number ? why_out_of_range(*parameter, number)
                                          : fmt::format("is {}, expected a number from {} to {}", value,
                                                        parameter->least, parameter->most);
        if (!why.empty()) throw Error(fmt::format("{}: {}", where_, leaf.node), key, why);
        leaf.set(*parameter, number);
    }

    std::string_view text_;
    const std::string& where_;
    MicroKernels kernels_;
    const bool may_be_open_;
    int64_t* loads_;
};

template <typename Move>
Nest in_alphabet_of_plans(const NestWithLoads& nest, const Move& move) {
    return nest::translated<Nest>(
        nest, [](const NestWithLoads&, const LoopTile& loop) { return loop.iterator; },
        [](const Leaf& leaf) { return leaf; }, move);
}

}  // namespace

const Nest* divided_nest(const Nest& nest) {
    if (std::any_of(nest.loops.begin(), nest.loops.end(),
                    [](const LoopTile& loop) { return loop.is_divided(); }))
        return &nest;
    for (const Nest::Item& item : nest.items) {
        const auto* inner = std::get_if<Nest>(&item);
        if (const Nest* found = inner ? divided_nest(*inner) : nullptr) return found;
    }
    return nullptr;
}

const LoopTile* divided_loop(const Nest& nest) {
    const Nest* divided = divided_nest(nest);
    if (!divided) return nullptr;
    return &*std::find_if(divided->loops.begin(), divided->loops.end(),
                          [](const LoopTile& loop) { return loop.is_divided(); });
}

std::vector<const Leaf*> leaves(const Nest& nest) {
    std::vector<const Leaf*> result;
    nest.for_each_operator([&](const Leaf& leaf) { result.push_back(&leaf); });
    return result;
}

std::string print(const Nest& nest) {
    return nest::print_nest(
        nest, [](const Nest&, const LoopTile& loop) { return loop.iterator; },
        [](const Leaf& leaf) { return print(leaf); });
}

Nest parse_nest(std::string_view text, const std::string& where, MicroKernels kernels) {
    return without_loads(NestReader(text, where, kernels, false, nullptr).run());
}

Nest parse_open_nest(std::string_view text, const std::string& where, MicroKernels kernels) {
    return without_loads(NestReader(text, where, kernels, true, nullptr).run());
}

NestWithLoads parse_nest_with_loads(std::string_view text, const std::string& where, MicroKernels kernels,
                                    int64_t& loads) {
    return NestReader(text, where, kernels, true, &loads).run();
}

const MicroKernel& open_micro_kernel() {
    static const MicroKernel open{.name = "?"};
    return open;
}

Nest without_loads(const NestWithLoads& nest) {
    return in_alphabet_of_plans(nest, [](const Load&, auto&) {});
}

Nest with_copies(const NestWithLoads& nest) {
    return in_alphabet_of_plans(nest, [](const Load& load, auto& items) {
        items.emplace_back(Leaf(load.node(), open_micro_kernel()));
    });
}

}  // namespace tessera::plan
