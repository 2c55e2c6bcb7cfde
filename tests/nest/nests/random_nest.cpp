#include "nest/nests/random_nest.h"

#include <algorithm>
#include <random>
#include <vector>

#include <fmt/format.h>

namespace tessera::nests {
namespace {

class Dice {
public:
    explicit Dice(uint64_t seed) : engine_(seed) {}
    int64_t from(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
    }
    bool chance(int percent) { return from(1, 100) <= percent; }
    template <class T>
    const T& one_of(const std::vector<T>& all) {
        return all[static_cast<size_t>(from(0, static_cast<int64_t>(all.size()) - 1))];
    }
    template <class T>
    std::vector<T> shuffled(std::vector<T> all) {
        for (size_t i = all.size(); i > 1; --i)
            std::swap(all[i - 1], all[static_cast<size_t>(from(0, static_cast<int64_t>(i) - 1))]);
        return all;
    }

private:
    std::mt19937_64 engine_;
};

struct DrawnIterator {
    std::string name;
    int64_t extent;
    bool is_reduction;
};

struct DrawnTensor {
    std::string name;
    std::string type;
    std::vector<int64_t> shape;
    bool is_read = false;
};

struct DrawnOperator {
    std::string name;
    std::vector<DrawnIterator> iterators;
    std::vector<std::string> operands;  ///< declarations
    std::vector<std::string> terms;     ///< in the body
    std::vector<std::string> reads;     ///< outside tensors
    std::string indices;
    std::string fills;
};

std::string list(const std::vector<std::string>& parts) {
    return fmt::format("{}", fmt::join(parts, ", "));
}

class KernelDrawer {
public:
    explicit KernelDrawer(uint64_t seed) : dice_(seed) {}

    std::string run() {
        const int64_t count = dice_.from(1, 4);
        for (int64_t i = 0; i < count; ++i) add_operator(i + 1 == count);
        std::string others;
        if (made_.size() > last_results_ && dice_.chance(35))
            others = fmt::format("visible {}\n",
                                 made_[static_cast<size_t>(dice_.from(
                                           0, static_cast<int64_t>(made_.size() - last_results_) - 1))]
                                     .name);
        return text_ + others + "nest\n" + brace(0, operators_.size(), true, 0) + "\n";
    }

private:
    std::string fresh(const char* letter) { return fmt::format("{}{}", letter, ++names_); }

    DrawnIterator& iterator(DrawnOperator& op, int64_t extent, bool may_reduce) {
        op.iterators.push_back(
            {fmt::format("a{}", op.iterators.size()), extent, may_reduce && dice_.chance(45)});
        return op.iterators.back();
    }

    /// One coordinate into an axis of this extent; iterators are made as needed.
    std::string coordinate(DrawnOperator& op, int64_t extent, std::vector<std::string>& used) {
        std::vector<DrawnIterator> fitting;
        for (const DrawnIterator& x : op.iterators)
            if (x.extent <= extent + 2 && std::ranges::find(used, x.name) == used.end()) fitting.push_back(x);
        if (fitting.empty() || dice_.chance(45)) {
            const std::string name =
                iterator(op, dice_.chance(80) ? extent : dice_.from(1, extent), true).name;
            used.push_back(name);
            return name;
        }
        const DrawnIterator x = dice_.one_of(fitting);
        used.push_back(x.name);
        switch (dice_.from(0, 7)) {
            case 0:
                return fmt::format("{} + {}", x.name, dice_.from(-1, 2));
            case 1:
                return fmt::format("{} - {}", extent - 1, x.name);
            case 2:
                return fmt::format("{} + {} - {}", x.name, iterator(op, dice_.from(2, 3), true).name,
                                   dice_.from(0, 1));
            case 3:
                return fmt::format("2 * {}", x.name);
            case 4:
                return fmt::format("{} div 2", x.name);
            case 5: {
                const std::string index = fresh("p");
                op.indices += fmt::format("index {} i32[{}]\n", index, x.name);
                op.fills += fmt::format("fill {}[i] = ({} * i + {}) mod {}\n", index, dice_.from(1, 7),
                                        dice_.from(0, 5), extent);
                op.reads.push_back(index);
                return fmt::format("{}[{}]", index, x.name);
            }
            default:
                return x.name;
        }
    }

    void read_made(DrawnOperator& op, DrawnTensor& tensor) {
        std::vector<std::string> used;
        std::vector<std::string> at;
        for (const int64_t extent : tensor.shape) at.push_back(coordinate(op, extent, used));
        op.operands.push_back(declaration(tensor, at));
        op.terms.push_back(tensor.name);
        tensor.is_read = true;
        if (dice_.chance(15)) {  // the same once more, beside it
            for (std::string& one : at) one += fmt::format(" + {}", dice_.from(0, 2));
            if (op.indices.empty()) op.terms.push_back(fmt::format("{}[{}]", tensor.name, list(at)));
        }
    }

    static std::string declaration(const DrawnTensor& tensor, const std::vector<std::string>& at) {
        return fmt::format("{} {}[{}] of [{}]", tensor.name, tensor.type, list(at),
                           fmt::join(tensor.shape, ", "));
    }

    void read_outside(DrawnOperator& op) {
        if (!outside_.empty() && dice_.chance(35)) {
            const DrawnTensor tensor = dice_.one_of(outside_);
            if (std::ranges::find(op.reads, tensor.name) != op.reads.end()) return;
            std::vector<std::string> used;
            std::vector<std::string> at;
            for (const int64_t extent : tensor.shape) at.push_back(coordinate(op, extent, used));
            op.operands.push_back(declaration(tensor, at));
            op.terms.push_back(tensor.name);
            op.reads.push_back(tensor.name);
            return;
        }
        DrawnTensor tensor{fresh("X"), dice_.one_of<std::string>({"f32", "f16", "i8", "u4"}), {}};
        std::vector<std::string> at;
        for (const DrawnIterator& x : dice_.shuffled(op.iterators)) {
            if (at.size() == 3 || dice_.chance(30)) continue;
            switch (dice_.from(0, 6)) {
                case 0:
                    at.push_back(fmt::format("{} div 2", x.name));
                    tensor.shape.push_back((x.extent + 1) / 2);
                    break;
                case 1:
                    at.push_back(fmt::format("{} mod 3", x.name));
                    tensor.shape.push_back(3);
                    break;
                case 2:
                    at.push_back(fmt::format("{} - 1", x.name));
                    tensor.shape.push_back(x.extent);
                    break;
                default:
                    at.push_back(x.name);
                    tensor.shape.push_back(x.extent);
            }
        }
        if (at.empty()) return;
        op.operands.push_back(declaration(tensor, at));
        op.terms.push_back(tensor.name);
        op.reads.push_back(tensor.name);
        outside_.push_back(tensor);
    }

    void add_operator(bool is_last) {
        DrawnOperator op{.name = fmt::format("o{}", operators_.size())};
        for (DrawnTensor& tensor : made_)
            if (is_last ? !was_made_read(tensor) : dice_.chance(operators_.empty() ? 0 : 40))
                read_made(op, tensor);
        while (op.iterators.size() < 2 || (op.iterators.size() < 3 && dice_.chance(25)))
            iterator(op, dice_.from(1, 7), true);
        if (std::ranges::all_of(op.iterators, &DrawnIterator::is_reduction))
            iterator(op, dice_.from(1, 6), false);
        for (int64_t i = dice_.from(op.terms.empty() ? 1 : 0, 2); i > 0 || op.terms.empty(); --i)
            read_outside(op);
        write(op);
        operators_.push_back(std::move(op));
    }

    /// By any operator: of softmax_sum, one result is enough.
    bool was_made_read(const DrawnTensor& tensor) const { return tensor.is_read; }

    void write(const DrawnOperator& op) {
        std::vector<std::string> axes;
        std::vector<int64_t> shape;
        bool reduces = false;
        for (const DrawnIterator& x : dice_.shuffled(op.iterators)) {
            reduces = reduces || x.is_reduction;
            if (x.is_reduction) continue;
            const int64_t constant = dice_.chance(10) ? dice_.from(1, 2) : 0;
            axes.push_back(constant == 0 ? x.name : fmt::format("{} + {}", x.name, constant));
            shape.push_back(x.extent + constant);
        }
        const size_t before = made_.size();
        std::string body;
        if (reduces && dice_.chance(30)) {
            // The score is a number, so that its maximum may use any of the iterators.
            const size_t used = static_cast<size_t>(dice_.from(1, static_cast<int64_t>(axes.size())));
            for (const char* letter : {"M", "L", "A"}) {
                const size_t count = *letter == 'A' ? axes.size() : used;
                made_.push_back({fresh(letter),
                                 "f32",
                                 {shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(count)}});
            }
            body = fmt::format("softmax_sum(0.5, {})", fmt::join(op.terms, " + "));
        } else {
            made_.push_back({fresh("T"), dice_.one_of<std::string>({"f32", "bf16"}), shape});
            body = fmt::format(
                fmt::runtime(reduces ? dice_.one_of<std::string>({"sum({})", "max({}) * 2", "sum({}) + 1"})
                                     : dice_.one_of<std::string>({"{}", "exp({})"})),
                fmt::format("{}", fmt::join(op.terms, " * ")));
        }
        last_results_ = made_.size() - before;
        std::vector<std::string> results;
        for (size_t i = before; i < made_.size(); ++i)
            results.push_back(declaration(
                made_[i], {axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(made_[i].shape.size())}));
        std::vector<std::string> iterators;
        for (const DrawnIterator& x : op.iterators)
            iterators.push_back(fmt::format("{}{}: {}", x.name, x.is_reduction ? "*" : "", x.extent));
        text_ += fmt::format("op {}({})\n{}in {}\nout {} = {}\n", op.name, list(iterators), op.indices,
                             list(op.operands), list(results), body);
        if (!op.fills.empty()) text_ += "test\n" + op.fills;
        // It is enough that one of several results is read; the others count as read.
        if (last_results_ > 1)
            for (size_t i = before; i + 1 < made_.size(); ++i) made_[i].is_read = true;
    }

    std::string loops(const DrawnOperator& root, bool is_top) {
        std::string text;
        bool is_unit = is_top && dice_.chance(70);
        for (const DrawnIterator& x : dice_.shuffled(root.iterators)) {
            if (dice_.chance(45)) continue;
            is_unit = is_unit && !x.is_reduction && dice_.chance(85);
            text += fmt::format("{}:{}{} ", x.name, dice_.from(1, x.extent + 1), is_unit ? "@unit" : "");
        }
        return text;
    }

    /// A brace of the operators [first, last).
    std::string brace(size_t first, size_t last, bool is_top, int depth) {
        std::string items;
        for (const DrawnTensor& tensor : outside_) {
            const auto reads = [&](const DrawnOperator& op) {
                return std::ranges::find(op.reads, tensor.name) != op.reads.end();
            };
            const auto begin = operators_.begin() + static_cast<std::ptrdiff_t>(first);
            const auto end = operators_.begin() + static_cast<std::ptrdiff_t>(last);
            const bool holds_all = std::none_of(operators_.begin(), begin, reads) &&
                                   std::none_of(end, operators_.end(), reads) &&
                                   std::any_of(begin, end, reads);
            if (!holds_all || std::ranges::find(loaded_, tensor.name) != loaded_.end() || !dice_.chance(25))
                continue;
            loaded_.push_back(tensor.name);
            items += fmt::format("load {} ", tensor.name);
        }
        const std::string around = loops(operators_[last - 1], is_top);
        for (size_t at = first; at < last;) {
            const auto end =
                static_cast<size_t>(dice_.from(static_cast<int64_t>(at) + 1, static_cast<int64_t>(last)));
            if (depth < 3 && dice_.chance(50)) {
                items += brace(at, end, false, depth + 1) + " ";
                at = end;
            } else {
                items += operators_[at++].name + " ";
            }
        }
        return fmt::format("{}{{ {}}}", around, items);
    }

    Dice dice_;
    int names_ = 0;
    std::string text_;
    std::vector<DrawnOperator> operators_;
    std::vector<DrawnTensor> made_;
    std::vector<DrawnTensor> outside_;
    std::vector<std::string> loaded_;
    size_t last_results_ = 0;
};

}  // namespace

std::string random_nest_text(uint64_t seed) {
    return KernelDrawer(seed).run();
}

}  // namespace tessera::nests
