#include <algorithm>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "nest/nests/random_nest.h"

namespace tessera::nests {
namespace {

class SpaceDrawer {
public:
    explicit SpaceDrawer(uint64_t seed) : engine_(seed) {}

    std::string run() {
        const int64_t multiple = from(1, 4);
        const auto extent = [&] { return from(1, 3 * multiple); };
        m_ = extent();
        n_ = extent();
        const bool has_batch = from(0, 1) == 1;
        batch_ = has_batch ? fmt::format("b: {}, ", from(1, 3)) : "";
        const std::string c = type();
        std::string text =
            fmt::format("op c({}m: {}, n: {}, k*: {})\nin A {}[{}], B {}[{}]\nout C {}[{}] = {}\n", batch_,
                        m_, n_, extent(), type(), axes({"m", "k"}), type(), axes({"k", "n"}), c, chain(),
                        one_of({"sum(A * B)", "max(A * B) + 1"}));
        std::string read = fmt::format("C {}[{}]", c, chain());
        for (int64_t i = from(0, 2); i > 0; --i) {
            const std::string r = fmt::format("R{} {}[{}]", i, type(), chain());
            text += fmt::format("op r{}({}m: {}, n: {})\nin {}, G{} {}[{}]\nout {} = max({}, 0) + G{}\n", i,
                                batch_, m_, n_, read, i, type(), axes({"n"}), r,
                                read.substr(0, read.find(' ')), i);
            read = r;
        }
        const std::string last = read.substr(0, read.find(' '));
        text += fmt::format("op e({}m: {}, h: {}, n*: {})\nin {}, D {}[{}]\n", batch_, m_, extent(), n_, read,
                            type(), axes({"n", "h"}));
        const std::string e = fmt::format("E {}[{}m, h]", type(), has_batch ? "b, " : "");
        const std::string rows = fmt::format("f32[{}m]", has_batch ? "b, " : "");
        text += from(0, 2) == 0
                    ? fmt::format("out M {}, L {}, {} = softmax_sum({} * 2, D)\n", rows, rows, e, last)
                    : fmt::format("out {} = sum({} * D){}\n", e, last, one_of({"", " * 2"}));
        if (has_batch) text += "batch b\n";
        return text + fmt::format("multiple {}\ncapacity {}\nmachine bandwidth {}e8 peak {}e9 units {}\n",
                                  multiple, from(20, 900), from(1, 40), from(1, 40), from(0, 8));
    }

private:
    int64_t from(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
    }
    std::string one_of(const std::vector<std::string>& all) {
        return all[static_cast<size_t>(from(0, static_cast<int64_t>(all.size()) - 1))];
    }
    std::string type() { return one_of({"f32", "f16", "i8"}); }

    /// In one order or the other, perhaps with the batch.
    std::string axes(std::vector<std::string> all) {
        if (from(0, 1) == 1) std::ranges::reverse(all);
        if (!batch_.empty() && from(0, 1) == 1) all.insert(all.begin(), one_of({"b", "b div 2"}));
        return fmt::format("{}", fmt::join(all, ", "));
    }
    std::string chain() const { return batch_.empty() ? "m, n" : "b, m, n"; }

    std::mt19937_64 engine_;
    int64_t m_ = 1;
    int64_t n_ = 1;
    std::string batch_;
};

}  // namespace

std::string random_space_text(uint64_t seed) {
    return SpaceDrawer(seed).run();
}

}  // namespace tessera::nests
