#include <random>

#include <fmt/format.h>

#include "nest/nests/nest.h"
#include "nest/nests/random_nest.h"

namespace tessera::nests {
namespace {

class TierDrawer {
public:
    explicit TierDrawer(uint64_t seed) : nest_text_(random_nest_text(seed)), engine_(seed) {}

    std::string run() {
        const std::string operators = operators_of(nest_text_);
        const std::string machine = draw_machine();
        const KernelFile file = read_kernel_file(operators + machine, "random");
        const Kernel kernel = make_kernel(file);
        nest_ = nest_of(nest_text_);
        for (int i = 0; i < 14; ++i) place_one(kernel, *file.levels);
        return operators + machine + "nest\n" + nest_ + "\n";
    }

private:
    size_t below(size_t count) { return static_cast<size_t>(engine_() % count); }

    /// The lines above those that only nests of one level have.
    static std::string operators_of(const std::string& text) {
        size_t end = text.find("\nnest");
        for (const char* word : {"\nvisible", "\nmachine"}) end = std::min(end, text.find(word));
        return text.substr(0, end + 1);
    }

    static std::string nest_of(const std::string& text) {
        std::string nest = text.substr(text.find("\nnest") + 5);
        for (size_t load = nest.find("load "); load != std::string::npos; load = nest.find("load ")) {
            size_t end = nest.find_first_of(" ;}\n", load + 5);
            if (nest[end] == ';') ++end;
            nest.erase(load, end - load);
        }
        return nest;
    }

    std::string draw_machine() {
        const size_t depth = 1 + below(3);
        const size_t per_unit = 1 + below(depth + 1);
        std::string lines = "level memory\n";
        for (size_t level = 1; level <= depth; ++level)
            lines += fmt::format("level L{}{} bandwidth {}e9{}\n", depth + 1 - level,
                                 below(4) == 0 ? "" : fmt::format(" capacity {}", 10 << (3 * below(4))),
                                 1 + below(9), level >= per_unit ? " per unit" : "");
        return lines + fmt::format("peak {}e9 units {}\n", 1 + below(9), 1 + below(6));
    }

    /// Puts a load, store or keep somewhere, if it keeps the rules there.
    void place_one(const Kernel& kernel, const LevelMachine& machine) {
        constexpr const char* kKinds[] = {"load", "load", "store", "keep"};
        std::vector<size_t> gaps;
        for (size_t at = 0; at < nest_.size(); ++at)
            if (nest_[at] == '{' || (nest_[at] == ' ' && nest_[at - 1] != ':')) gaps.push_back(at + 1);
        std::string placed = nest_;
        placed.insert(
            gaps[below(gaps.size())],
            fmt::format(" {} {} @{}; ", kKinds[below(4)], kernel.tensors[below(kernel.tensors.size())].name,
                        machine.levels[below(machine.levels.size())].name));
        if (std::holds_alternative<Nest>(parse_nest(kernel, placed, machine))) nest_ = std::move(placed);
    }

    std::string nest_text_;
    std::string nest_;
    std::mt19937_64 engine_;
};

}  // namespace

std::string random_tier_text(uint64_t seed) {
    return TierDrawer(seed).run();
}

}  // namespace tessera::nests
