#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "nest/nests/open_problem.h"
#include "support/error.h"

// Each operator but the last has a depth: down to this level it stands in the loops of its reader. Behind it
// it has loops of its own, a brace for each level. With c read by e, on levels 1 and 2:
//
//     c at depth 0    { m n k { m n k { c } }  m h n { m h n { e } } }
//     c at depth 1    { m h n { k { m n k { c } }  m h n { e } } }      the brace over k stands at level 1
//     c at depth 2    { m h n { m h n { k { c }  e } } }
//
// Source: paper 000, 3.2.1 (merge and reorder on the tile tree).

namespace tessera::nests {
namespace {

/// An order of the loops of one brace: iterators of its operator.
using Order = std::vector<size_t>;

/// A nest while it grows: others point into it.
struct Draft {
    std::vector<OpenNest::Loop> loops;
    std::vector<std::variant<std::unique_ptr<Draft>, nest::WrittenOperator, OpenMove>> items;
};
using DraftItem = decltype(Draft::items)::value_type;

OpenNest finished(Draft draft) {
    OpenNest nest{.loops = std::move(draft.loops), .items = {}};
    for (DraftItem& item : draft.items) {
        if (auto* inner = std::get_if<std::unique_ptr<Draft>>(&item))
            nest.items.emplace_back(finished(std::move(**inner)));
        else if (auto* op = std::get_if<nest::WrittenOperator>(&item))
            nest.items.emplace_back(std::move(*op));
        else
            nest.items.emplace_back(std::get<OpenMove>(std::move(item)));
    }
    return nest;
}

class Merger {
public:
    Merger(const Kernel& kernel, const LevelMachine& machine, const std::vector<std::string>& reordered)
        : kernel_(kernel), machine_(machine), reader_(kernel.operators.size(), -1) {
        for (const std::string& level : reordered) reordered_.push_back(machine.find(level));
        find_readers();
        depth_.resize(kernel.operators.size());
    }

    std::vector<OpenNest> run() {
        choose_depth(0);
        return std::move(found_);
    }

private:
    using Key = std::pair<size_t, int>;  ///< operator and level of a brace

    const Operator& op_at(size_t op) const { return kernel_.operators[op]; }

    void find_readers() {
        last_ = -1;
        for (size_t op = 0; op < kernel_.operators.size(); ++op) {
            std::vector<int> readers;
            for (const Result& result : op_at(op).results)
                for (const int reader : kernel_.tensors[static_cast<size_t>(result.tensor)].readers)
                    if (std::ranges::find(readers, reader) == readers.end()) readers.push_back(reader);
            if (readers.empty() && last_ < 0) {
                last_ = static_cast<int>(op);
                continue;
            }
            if (readers.size() != 1)
                throw Error(
                    kernel_.where, op_at(op).name(),
                    fmt::format("is read by {} operators; `reorder` expects one reader of each operator "
                                "but the last",
                                readers.size()),
                    "write a nest with open sizes instead");
            reader_[op] = readers.front();
        }
    }

    // ---- depths and orders ----

    void choose_depth(size_t op) {
        if (op == kernel_.operators.size()) {
            loops_.clear();
            keys_.clear();
            for (size_t p = 0; p < kernel_.operators.size(); ++p) list_braces(p);
            return choose_order(0);
        }
        for (int depth = 0; depth <= (static_cast<int>(op) == last_ ? 0 : machine_.inner()); ++depth) {
            depth_[op] = depth;
            choose_depth(op + 1);
        }
    }

    void list_braces(size_t op) {
        Order all;
        Order reductions;
        for (size_t x = 0; x < op_at(op).iterators(); ++x) {
            all.push_back(x);
            if (op_at(op).is_reduction(x)) reductions.push_back(x);
        }
        const auto add = [&](int level, const Order& loops) {
            keys_.push_back({op, level});
            loops_[{op, level}] = loops;
        };
        if (depth_[op] > 0 && !reductions.empty()) add(depth_[op], reductions);
        for (int level = depth_[op] + 1; level <= machine_.inner(); ++level) add(level, all);
    }

    void choose_order(size_t brace) {
        if (brace == keys_.size()) {
            if (found_.size() == kMostStructures)
                throw Error(kernel_.where, "reorder",
                            fmt::format("reaches more than {} structures", kMostStructures),
                            "name fewer levels, or write a nest with open sizes");
            found_.push_back(build());
            return;
        }
        Order& loops = loops_[keys_[brace]];
        if (std::ranges::find(reordered_, keys_[brace].second) == reordered_.end())
            return choose_order(brace + 1);
        std::ranges::sort(loops);
        do choose_order(brace + 1);
        while (std::next_permutation(loops.begin(), loops.end()));
    }

    // ---- the tree ----

    OpenNest build() {
        Draft top;
        top_ = &top;
        own_.clear();
        std::map<Key, std::unique_ptr<Draft>> loose;
        for (const auto& [key, loops] : loops_) {
            auto brace = std::make_unique<Draft>();
            for (const size_t x : loops)
                brace->loops.push_back({.iterator = op_at(key.first).bound.definition.iterators[x].name,
                                        .tile = nest::kOpenTile});
            own_[key] = brace.get();
            loose[key] = std::move(brace);
        }
        for (size_t op = kernel_.operators.size(); op-- > 0;) hang(op, loose);
        sort(top);
        for (size_t t = 0; t < kernel_.tensors.size(); ++t) add_placements(static_cast<int>(t));
        return finished(std::move(top));
    }

    /// Readers come first: what makes something is put before what reads it.
    void hang(size_t op, std::map<Key, std::unique_ptr<Draft>>& loose) {
        DraftItem item = nest::WrittenOperator{op_at(op).name()};
        for (int level = machine_.inner(); level >= depth_[op]; --level) {
            const auto brace = loose.find({op, level});
            if (brace == loose.end()) continue;
            brace->second->items.push_back(std::move(item));
            item = std::move(brace->second);
        }
        Draft& home = brace_at(op, depth_[op]);
        const size_t at = reader_[op] < 0 ? 0 : index_in(home, reader_[op]);
        home.items.insert(home.items.begin() + static_cast<std::ptrdiff_t>(at), std::move(item));
    }

    /// In which an operator stands at a level: its own, or that of its reader.
    Draft& brace_at(size_t op, int level) {
        if (level == 0) return *top_;
        return level > depth_[op] ? *own_.at({op, level}) : brace_at(static_cast<size_t>(reader_[op]), level);
    }

    bool holds(const DraftItem& item, int op) const {
        if (const auto* brace = std::get_if<std::unique_ptr<Draft>>(&item)) return holds(**brace, op);
        const auto* made = std::get_if<nest::WrittenOperator>(&item);
        return made && made->name == op_at(static_cast<size_t>(op)).name();
    }
    bool holds(const Draft& brace, int op) const {
        return std::ranges::any_of(brace.items, [&](const DraftItem& item) { return holds(item, op); });
    }

    size_t index_in(const Draft& brace, int op) const {
        const auto found =
            std::ranges::find_if(brace.items, [&](const DraftItem& item) { return holds(item, op); });
        return static_cast<size_t>(found - brace.items.begin());
    }

    int root(const DraftItem& item) const {
        if (const auto* brace = std::get_if<std::unique_ptr<Draft>>(&item))
            return root((*brace)->items.back());
        return kernel_.find_operator(std::get<nest::WrittenOperator>(item).name);
    }

    void sort(Draft& brace) {
        std::ranges::stable_sort(brace.items, {}, [&](const DraftItem& item) { return root(item); });
        for (DraftItem& item : brace.items)
            if (auto* inner = std::get_if<std::unique_ptr<Draft>>(&item)) sort(**inner);
    }

    // ---- placements ----

    static void insert(Draft& brace, size_t at, OpenMove move) {
        brace.items.insert(brace.items.begin() + static_cast<std::ptrdiff_t>(at), std::move(move));
    }

    void add_placements(int number) {
        const Tensor& tensor = kernel_.tensors[static_cast<size_t>(number)];
        const auto maker = static_cast<size_t>(tensor.maker);
        if (tensor.maker >= 0 && !tensor.readers.empty()) {
            OpenMove keep{.kind = MoveKind::kKeep, .tensor = tensor.name, .levels = {}};
            for (auto l = static_cast<size_t>(depth_[maker]); l < machine_.levels.size(); ++l)
                keep.levels.push_back(machine_.levels[l].name);
            Draft& here = brace_at(maker, depth_[maker]);
            insert(here, index_in(here, tensor.maker), std::move(keep));
        }
        for (int level = 1; level < machine_.inner(); ++level) {
            add_load(tensor, level);
            if (tensor.maker < 0 || level <= depth_[maker]) continue;
            Draft& here = brace_at(maker, level);
            insert(here, index_in(here, tensor.maker) + 1, optional_move(MoveKind::kStore, tensor, level));
        }
    }

    void add_load(const Tensor& tensor, int level) {
        if (tensor.readers.empty()) return;
        Draft& here = brace_at(static_cast<size_t>(tensor.readers.front()), level);
        size_t first = here.items.size();
        for (const int reader : tensor.readers) {
            if (&brace_at(static_cast<size_t>(reader), level) != &here) return;
            first = std::min(first, index_in(here, reader));
        }
        if (tensor.maker >= 0 && holds(here, tensor.maker)) return;
        insert(here, first, optional_move(MoveKind::kLoad, tensor, level));
    }

    OpenMove optional_move(MoveKind kind, const Tensor& tensor, int level) const {
        return {.kind = kind,
                .tensor = tensor.name,
                .levels = {"", machine_.levels[static_cast<size_t>(level)].name}};
    }

    const Kernel& kernel_;
    const LevelMachine& machine_;
    std::vector<int> reordered_;
    int last_ = -1;
    std::vector<int> reader_;  ///< of each operator; -1: it is the last
    std::vector<int> depth_;   ///< of each operator
    std::vector<Key> keys_;    ///< of the braces of these depths
    std::map<Key, Order> loops_;
    Draft* top_ = nullptr;
    std::map<Key, Draft*> own_;
    std::vector<OpenNest> found_;
};

}  // namespace

std::vector<OpenNest> merged_structures(const Kernel& kernel, const LevelMachine& machine,
                                        const std::vector<std::string>& reordered) {
    return Merger(kernel, machine, reordered).run();
}

}  // namespace tessera::nests
