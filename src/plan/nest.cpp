#include "plan/nest.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "plan/layout_text.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

constexpr int kDeepest = 32;  // nests in nests; a real one has at most a loop for each iterator

class NestParser {
public:
    /// @param loads null: there may be none
    NestParser(std::string_view text, const std::string& where, MicroKernels kernels, bool may_be_open,
               std::vector<Load>* loads)
        : text_(text), where_(where), kernels_(kernels), may_be_open_(may_be_open), loads_(loads) {}

    Nest whole() {
        Nest nest = items(0);
        skip_space();
        if (at_ != text_.size()) fail("expected the end");
        return nest;
    }

private:
    [[noreturn]] void fail(const std::string& expected) const {
        throw Error(where_, std::string(text_), fmt::format("{} at position {}", expected, at_ + 1),
                    "a nest reads `x:8 y:1 { producer[kernel key=value]; root[kernel] }`");
    }

    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }

    bool take(char c) {
        skip_space();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    std::string word() {
        skip_space();
        const size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                      text_[at_] == '_' || text_[at_] == '.' || text_[at_] == '-')) {
            ++at_;
        }
        if (begin == at_) fail("expected a name");
        return std::string(text_.substr(begin, at_ - begin));
    }

    int64_t number() {
        if (may_be_open_ && take('?')) return kOpenTile;
        const std::string digits = word();
        int64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc() || end != digits.data() + digits.size() || value < 1)
            fail("expected a tile size");
        return value;
    }

    /// child (';' child)*
    Nest items(int depth) {
        if (depth > kDeepest) fail("nested too deeply");
        Nest nest;
        do {
            auto child = item(depth);
            auto* inner = std::get_if<Nest>(&child);
            if (inner && inner->loops.empty()) {  // braces without loops are only braces
                for (auto& grandchild : inner->children) nest.children.push_back(std::move(grandchild));
            } else {
                nest.children.push_back(std::move(child));
            }
        } while (take(';'));
        if (const auto* last = std::get_if<Leaf>(&nest.children.back()); last && is_load(*last))
            fail("expected an operator behind the load");
        if (nest.children.size() == 1) {
            if (auto* only = std::get_if<Nest>(&nest.children.front())) return Nest(std::move(*only));
        }
        return nest;
    }

    std::variant<Leaf, Nest> item(int depth) {
        std::vector<LoopTile> loops;
        while (true) {
            if (take('{')) {
                Nest inner = items(depth + 1);
                if (!take('}')) fail("expected } or ;");
                if (!inner.loops.empty()) {  // `x:1 { y:1 { .. } }` is one nest with two loops
                    inner.loops.insert(inner.loops.begin(), loops.begin(), loops.end());
                } else {
                    inner.loops = std::move(loops);
                }
                return inner;
            }
            std::string name = word();
            if (take(':')) {
                const int64_t tile = number();
                const bool is_divided = take('@');
                if (is_divided && word() != "worker") fail("expected worker");
                loops.push_back({std::move(name), tile, is_divided});
                continue;
            }
            if (!loops.empty()) fail("expected { after the loops");
            if (name == "load" && loads_ && is_name_next()) return load();
            return leaf(std::move(name));
        }
    }

    bool is_load(const Leaf& leaf) const {
        return loads_ &&
               std::ranges::any_of(*loads_, [&](const Load& load) { return load.node() == leaf.node; });
    }

    bool is_name_next() {
        skip_space();
        return at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0);
    }

    /// load X [as LAYOUT]
    Leaf load() {
        Load load{.of = word(), .copy = {}};
        load.copy = fmt::format("{}_load{}", load.of, loads_->size() + 1);
        if (is_name_next()) {
            if (word() != "as") fail("expected `as LAYOUT`, ; or } behind the loaded value");
            skip_space();
            const std::string_view layout =
                text_.substr(at_, std::min(text_.find_first_of(";}", at_), text_.size()) - at_);
            at_ += layout.size();
            load.layout = parse_layout(layout.substr(0, layout.find_last_not_of(" \t\n") + 1),
                                       fmt::format("{}: load {}", where_, load.of));
        }
        loads_->push_back(load);
        return {load.node(), open_micro_kernel()};
    }

    Leaf leaf(std::string node) {
        const bool is_open = !take('[');
        if (is_open && may_be_open_) return {std::move(node), open_micro_kernel()};
        if (is_open) fail("expected [micro-kernel]");
        const std::string name = word();
        const MicroKernel* kernel = find_micro_kernel(kernels_, name);
        if (!kernel) throw Error(where_, node, fmt::format("{} is no micro-kernel", name));
        Leaf leaf(std::move(node), *kernel);
        std::set<std::string> given;
        while (!take(']')) {
            const std::string key = word();
            if (!take('=')) fail("expected = or ]");
            const std::string value = word();
            if (!given.insert(key).second) fail("a parameter is given twice");
            set(leaf, key, value);
        }
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
    std::vector<Load>* loads_;
    size_t at_ = 0;
};

std::string print_children(const Nest& nest) {
    std::string out;
    for (const auto& child : nest.children) {
        if (!out.empty()) out += "; ";
        out += std::visit([](const auto& c) { return print(c); }, child);
    }
    return out;
}

}  // namespace

const Leaf& root(const Nest& nest) {
    const auto& last = nest.children.back();
    if (const auto* inner = std::get_if<Nest>(&last)) return root(*inner);
    return std::get<Leaf>(last);
}

const Nest* divided_nest(const Nest& nest) {
    if (std::any_of(nest.loops.begin(), nest.loops.end(), [](const LoopTile& l) { return l.is_divided; }))
        return &nest;
    for (const auto& child : nest.children) {
        const auto* inner = std::get_if<Nest>(&child);
        if (const Nest* found = inner ? divided_nest(*inner) : nullptr) return found;
    }
    return nullptr;
}

const LoopTile* divided_loop(const Nest& nest) {
    const Nest* divided = divided_nest(nest);
    if (!divided) return nullptr;
    return &*std::find_if(divided->loops.begin(), divided->loops.end(),
                          [](const LoopTile& loop) { return loop.is_divided; });
}

std::vector<const Leaf*> leaves(const Nest& nest) {
    std::vector<const Leaf*> result;
    for (const auto& child : nest.children) {
        if (const auto* leaf = std::get_if<Leaf>(&child)) {
            result.push_back(leaf);
        } else {
            for (const Leaf* inner : leaves(std::get<Nest>(child))) result.push_back(inner);
        }
    }
    return result;
}

std::string print(const Nest& nest) {
    std::string out;
    for (const LoopTile& loop : nest.loops)
        out += fmt::format("{}:{}{} ", loop.iterator, loop.tile, loop.is_divided ? "@worker" : "");
    return nest.loops.empty() ? print_children(nest) : out + "{ " + print_children(nest) + " }";
}

Nest parse_nest(std::string_view text, const std::string& where, MicroKernels kernels) {
    return NestParser(text, where, kernels, false, nullptr).whole();
}

Nest parse_open_nest(std::string_view text, const std::string& where, MicroKernels kernels,
                     std::vector<Load>* loads) {
    return NestParser(text, where, kernels, true, loads).whole();
}

const MicroKernel& open_micro_kernel() {
    static const MicroKernel open{.name = "?"};
    return open;
}

}  // namespace tessera::plan
