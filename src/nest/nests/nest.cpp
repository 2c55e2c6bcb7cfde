#include "nest/nests/nest.h"

#include <algorithm>
#include <map>
#include <set>

#include "nest/nests/placements.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::nests {
namespace {

/// Positions of the loops around one place fit the bits of a word.
constexpr size_t kMostLoopsAround = 64;

void demand(bool condition, const std::string& reason) {
    if (!condition) throw BrokenForm(reason);
}

/// Gives the names of a written nest their meaning, and checks the rules of form on the way.
class NestBuilder {
public:
    /// `machine`: null for a nest that knows one level.
    NestBuilder(const Kernel& kernel, const LevelMachine* machine) : kernel_(kernel), machine_(machine) {
        nest_.around.resize(kernel.operators.size());
        nest_.braces_around.resize(kernel.operators.size());
        nest_.place.assign(kernel.operators.size(), -1);
        nest_.visible.resize(kernel.tensors.size());
    }

    Nest run(const WrittenNest& top, const std::vector<std::string>& visible) {
        add_brace(top);
        for (size_t op = 0; op < nest_.place.size(); ++op)
            demand(nest_.place[op] >= 0,
                   fmt::format("the operator {} is missing", kernel_.operators[op].name()));
        nest_.last = nest_.braces[0].root;
        resolve_loops(0, top);
        check_order();
        place_tensors(kernel_, machine_ ? machine_->inner() : 1, nest_);
        check_visible(visible);
        find_shared();
        return std::move(nest_);
    }

private:
    const std::string& op_name(int op) const { return kernel_.operators[static_cast<size_t>(op)].name(); }

    /// Items and roots; loops need the root and come later.
    int add_brace(const WrittenNest& written) {
        const int number = static_cast<int>(nest_.braces.size());
        nest_.braces.emplace_back();
        nest_.braces.back().loops.resize(written.loops.size());
        path_.push_back(number);
        for (size_t l = 0; l < written.loops.size(); ++l) around_.push_back({number, l});
        if (around_.size() > kMostLoopsAround)
            throw Error(kernel_.where, "nest",
                        fmt::format("has more than {} loops around one another", kMostLoopsAround));
        std::vector<Item> items;
        int root = -1;
        for (const WrittenNest::Item& item : written.items) {
            if (const auto* brace = std::get_if<WrittenNest>(&item)) {
                items.push_back({Item::Kind::kBrace, add_brace(*brace)});
                root = nest_.braces[static_cast<size_t>(items.back().index)].root;
            } else if (const auto* op = std::get_if<nest::WrittenOperator>(&item)) {
                root = add_run(*op);
                items.push_back({Item::Kind::kRun, root});
            } else {
                items.push_back({Item::Kind::kMove, add_move(std::get<nest::WrittenMove>(item))});
            }
        }
        demand(root >= 0, "a brace holds no operator");
        Brace& brace = nest_.braces[static_cast<size_t>(number)];
        brace.items = std::move(items);
        brace.root = root;
        path_.pop_back();
        around_.resize(around_.size() - written.loops.size());
        return number;
    }

    int add_run(const nest::WrittenOperator& written) {
        const std::string& name = written.name;
        demand(!written.kernel, fmt::format("the operator {} has a micro-kernel", shown(name)));
        for (const MoveKind kind : {MoveKind::kLoad, MoveKind::kStore, MoveKind::kKeep})
            demand(name != nest::name(kind) || (kind != MoveKind::kLoad && !machine_),
                   fmt::format("expected a tensor behind `{}`", name));
        const int op = kernel_.find_operator(name);
        demand(op >= 0, fmt::format("there is no operator {}", shown(name)));
        const auto index = static_cast<size_t>(op);
        demand(nest_.place[index] < 0, fmt::format("{} stands twice", name));
        nest_.place[index] = next_place_++;
        nest_.around[index] = around_;
        nest_.braces_around[index] = path_;
        return op;
    }

    int add_move(const nest::WrittenMove& written) {
        Move move{.kind = written.kind,
                  .tensor = kernel_.find_tensor(written.tensor),
                  .level = machine_ ? machine_->find(written.level) : 1,
                  .depth = around_.size(),
                  .brace = path_.back(),
                  .place = next_place_++};
        demand(written.layout.empty(),
               fmt::format("{} {} has a layout", name(move.kind), shown(written.tensor)));
        demand(move.tensor >= 0, fmt::format("there is no tensor {}", shown(written.tensor)));
        demand(move.level >= 0, fmt::format("there is no level {}", shown(written.level)));
        demand(!nest_.find(move.kind, move.tensor, move.level),
               fmt::format("{} {} stands twice{}", name(move.kind), written.tensor,
                           machine_ ? " at one level" : ""));
        nest_.moves.push_back(move);
        return static_cast<int>(nest_.moves.size()) - 1;
    }

    void resolve_loops(size_t number, const WrittenNest& written) {
        Brace& brace = nest_.braces[number];
        const Definition& root = kernel_.operators[static_cast<size_t>(brace.root)].bound.definition;
        std::set<std::string> taken;
        bool only_units = number == 0;
        for (size_t l = 0; l < written.loops.size(); ++l) {
            const WrittenNest::Loop& loop = written.loops[l];
            demand(taken.insert(loop.iterator).second,
                   fmt::format("a brace has two loops over {}", loop.iterator));
            const int iterator = root.iterator(loop.iterator);
            demand(iterator >= 0, fmt::format("{} is no iterator of {}", shown(loop.iterator), root.name));
            demand(loop.tile != nest::kOpenTile,
                   fmt::format("the size of the loop over {} is open", loop.iterator));
            const bool is_parallel = !root.iterators[static_cast<size_t>(iterator)].is_reduction;
            std::string name = fmt::format("{}.{}", root.name, loop.iterator);
            const bool is_unit = loop.bind == nest::Bind::kUnit;
            demand(loop.bind != nest::Bind::kWorker,
                   fmt::format("the loop over {} is divided between workers", name));
            demand(!is_unit || (only_units && is_parallel),
                   fmt::format("@unit stands at {}, expected it at the first loops of the nest alone, over "
                               "parallel iterators",
                               name));
            only_units = only_units && is_unit;
            const int count = ++loops_named_[name];
            if (count > 1) name += fmt::format("#{}", count);
            brace.loops[l] = {brace.root, static_cast<size_t>(iterator), loop.tile, is_unit, std::move(name)};
        }
        size_t item = 0;
        for (const WrittenNest::Item& inner : written.items) {
            const Item& known = nest_.braces[number].items[item++];
            if (const auto* inner_nest = std::get_if<WrittenNest>(&inner))
                resolve_loops(static_cast<size_t>(known.index), *inner_nest);
        }
    }

    void check_order() const {
        for (size_t t = 0; t < kernel_.tensors.size(); ++t) {
            const Tensor& tensor = kernel_.tensors[t];
            for (const int reader : tensor.readers)
                demand(tensor.maker < 0 || nest_.place[static_cast<size_t>(tensor.maker)] <
                                               nest_.place[static_cast<size_t>(reader)],
                       fmt::format("{} stands before {} is made", op_name(reader), tensor.name));
        }
        for (size_t op = 0; op < kernel_.operators.size(); ++op) {
            const auto& results = kernel_.operators[op].results;
            const bool is_read = std::ranges::any_of(results, [&](const Result& result) {
                return !kernel_.tensors[static_cast<size_t>(result.tensor)].readers.empty();
            });
            demand(static_cast<int>(op) == nest_.last || is_read,
                   fmt::format("nobody reads {}", kernel_.operators[op].name()));
        }
    }

    void check_visible(const std::vector<std::string>& visible) {
        for (const std::string& name : visible) {
            const int tensor = kernel_.find_tensor(name);
            const int maker = tensor < 0 ? -1 : kernel_.tensors[static_cast<size_t>(tensor)].maker;
            demand(maker >= 0 && maker != nest_.last,
                   fmt::format("{} cannot be made visible, expected a result of an operator before the last",
                               name));
            nest_.visible[static_cast<size_t>(tensor)] = true;
        }
    }

    void find_shared() {
        const size_t count = kernel_.operators.size();
        nest_.shared.assign(count, std::vector<size_t>(count));
        for (size_t p = 0; p < count; ++p)
            for (size_t r = 0; r < count; ++r)
                for (size_t b = 0; b < std::min(nest_.braces_around[p].size(), nest_.braces_around[r].size());
                     ++b) {
                    if (nest_.braces_around[p][b] != nest_.braces_around[r][b]) break;
                    nest_.shared[p][r] +=
                        nest_.braces[static_cast<size_t>(nest_.braces_around[p][b])].loops.size();
                }
    }

    const Kernel& kernel_;
    const LevelMachine* machine_;
    Nest nest_;
    std::vector<int> path_;             ///< braces around the place that is read
    std::vector<LoopPosition> around_;  ///< loops around it
    int next_place_ = 0;
    std::map<std::string, int> loops_named_;
};

/// Calls `build`; a rule of form that its text breaks is the answer.
template <typename Build>
std::variant<Nest, Illegal> or_illegal(const Build& build) {
    try {
        return build();
    } catch (const BrokenForm& broken) {
        return Illegal{Illegal::Kind::kForm, broken.what()};
    }
}

WrittenNest written(const Kernel& kernel, const Nest& nest, const LevelMachine* machine, size_t number) {
    WrittenNest out;
    for (const Loop& loop : nest.braces[number].loops) {
        const Definition& root = kernel.operators[static_cast<size_t>(loop.op)].bound.definition;
        out.loops.push_back({root.iterators[loop.iterator].name, loop.size,
                             loop.is_unit ? nest::Bind::kUnit : nest::Bind::kSerial});
    }
    for (const Item& item : nest.braces[number].items) {
        const auto index = static_cast<size_t>(item.index);
        if (item.kind == Item::Kind::kBrace) {
            out.items.emplace_back(written(kernel, nest, machine, index));
        } else if (item.kind == Item::Kind::kRun) {
            out.items.emplace_back(nest::WrittenOperator{kernel.operators[index].name()});
        } else {
            const Move& move = nest.moves[index];
            out.items.emplace_back(nest::WrittenMove{
                move.kind, kernel.tensors[static_cast<size_t>(move.tensor)].name,
                machine ? machine->levels[static_cast<size_t>(move.level)].name : std::string()});
        }
    }
    return out;
}

}  // namespace

std::string_view name(Illegal::Kind kind) {
    return kind == Illegal::Kind::kForm ? "form" : "numbers";
}

size_t Nest::units() const {
    return static_cast<size_t>(std::ranges::count_if(braces[0].loops, &Loop::is_unit));
}

bool Nest::stands_in(int op, int brace) const {
    const std::vector<int>& path = braces_around[static_cast<size_t>(op)];
    return std::ranges::find(path, brace) != path.end();
}

const Move* Nest::find(MoveKind kind, int tensor, int level) const {
    const auto found = std::ranges::find_if(moves, [&](const Move& move) {
        return move.kind == kind && move.tensor == tensor && move.level == level;
    });
    return found == moves.end() ? nullptr : &*found;
}

std::variant<Nest, Illegal> parse_nest(const Kernel& kernel, std::string_view text,
                                       const std::vector<std::string>& visible) {
    return or_illegal([&] {
        return NestBuilder(kernel, nullptr)
            .run(nest::parse_braces(text, kernel.where, nest::Moves::kLoads), visible);
    });
}

std::variant<Nest, Illegal> build_nest(const Kernel& kernel, const WrittenNest& written,
                                       const std::vector<std::string>& visible) {
    return or_illegal([&] { return NestBuilder(kernel, nullptr).run(written, visible); });
}

std::variant<Nest, Illegal> parse_nest(const Kernel& kernel, std::string_view text,
                                       const LevelMachine& machine) {
    return or_illegal([&] {
        return NestBuilder(kernel, &machine)
            .run(nest::parse_braces(text, kernel.where, nest::Moves::kLevels), {});
    });
}

std::variant<Nest, Illegal> build_nest(const Kernel& kernel, const WrittenNest& written,
                                       const LevelMachine& machine) {
    return or_illegal([&] { return NestBuilder(kernel, &machine).run(written, {}); });
}

WrittenNest written(const Kernel& kernel, const Nest& nest, const LevelMachine* machine) {
    return written(kernel, nest, machine, 0);
}

}  // namespace tessera::nests
