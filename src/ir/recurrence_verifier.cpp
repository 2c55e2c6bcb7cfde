#include "ir/recurrence_verifier.h"

#include <algorithm>
#include <span>

#include "ir/definition_parser.h"
#include "ir/recurrence.h"
#include "support/error.h"

namespace tessera {
namespace {

class LineVerifier {
public:
    LineVerifier(const Definition& definition, const std::string& source, const DefinitionLines& lines)
        : d_(definition), source_(source), lines_(lines) {}

    void run() const {
        const std::vector<int> results = d_.results();
        for (const int result : results)
            if (std::ranges::count(d_.lines, result, &RecurrenceLine::result) != 1)
                fail(lines_.body, d_.tensors[static_cast<size_t>(result)].name, "is not made by one line");
        if (d_.lines.size() != results.size()) fail(lines_.body, d_.name, "has lines that make no result");
        for (size_t line = 0; line < d_.lines.size(); ++line) check_line(line);
        if (!d_.where) return;
        for (const int x : iterators_in(d_.where))
            if (is_folded(x))
                fail(lines_.where, d_.iterators[static_cast<size_t>(x)].name,
                     "is no iterator of every line, so no predicate of a recurrence uses it");
        for (const Read& read : reads_in({d_.where}))
            if (d_.tensors[static_cast<size_t>(read.tensor)].role != Role::kIndex)
                fail(lines_.where, d_.tensors[static_cast<size_t>(read.tensor)].name,
                     "is read by the predicate of a recurrence, which reads index operands alone");
    }

private:
    [[noreturn]] void fail(int line, const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(place(source_, line), entity, problem, advice);
    }

    /// An iterator that some lines fold and others keep.
    bool is_folded(int iterator) const {
        const Iterator& own = d_.iterators[static_cast<size_t>(iterator)];
        return own.is_reduction && !own.is_ordered;
    }

    void check_line(size_t number) const {
        const RecurrenceLine& line = d_.lines[number];
        const TensorDecl& result = d_.tensors[static_cast<size_t>(line.result)];
        if (result.type != ElementType::kF32)
            fail(lines_.body, result.name, "is a result of a recurrence, which has the type f32");
        if (line.fold == Monoid::kSoftmaxSum || line.fold == Monoid::kInOrder ||
            (line.post && line.fold == Monoid::kNone))
            fail(lines_.body, result.name, "has another fold than sum, prod, max or min");
        check_map_of_line(result);
        const int ordered = ordered_iterator(d_);
        const std::vector<int> kept = line_iterators(d_, number).kept;
        for (const int x : iterators_in(line.fold == Monoid::kNone ? d_.body[number] : line.post))
            if (x != ordered && !std::ranges::binary_search(kept, x))
                fail(lines_.body, d_.iterators[static_cast<size_t>(x)].name,
                     fmt::format("is neither an iterator of {} nor folded", result.name));
        for (const Read& read : reads_in({d_.body[number], line.post}))
            if (d_.tensors[static_cast<size_t>(read.tensor)].is_result()) check_read_of_line(number, read);
    }

    /// No two iterations of a line may make one element, and none makes an element of another parallel
    /// iteration.
    void check_map_of_line(const TensorDecl& result) const {
        const int ordered = ordered_iterator(d_);
        const std::vector<int> used = iterators_in(result.map);
        if (std::ranges::binary_search(used, ordered) == (result.role == Role::kUpdate))
            fail(lines_.body, result.name,
                 result.role == Role::kUpdate ? "is carried, so its map does not use the ordered iterator"
                                              : "does not use the ordered iterator");
        for (size_t x = 0; x < d_.iterators.size(); ++x) {
            const auto own = static_cast<int>(x);
            const bool is_used = std::ranges::binary_search(used, own);
            if (!is_used && !d_.iterators[x].is_reduction)
                fail(lines_.body, result.name,
                     fmt::format("does not use the parallel iterator `{}`", d_.iterators[x].name),
                     "mark it by `*` where a line folds it");
            const bool is_alone = std::ranges::any_of(result.map, [&](const ExprPtr& component) {
                const auto* lone = std::get_if<IteratorRef>(&component->node);
                if (lone) return lone->index == own;
                const std::vector<int> in = iterators_in(component);
                return is_indirect(component) && std::ranges::binary_search(in, own);
            });
            if (is_used && !is_alone)
                fail(lines_.body, d_.iterators[x].name,
                     fmt::format("is no component of {} by itself", result.name));
        }
    }

    bool is_of_folded_alone(const ExprPtr& component) const {
        return !is_indirect(component) &&
               std::ranges::all_of(iterators_in(component), [&](int x) { return is_folded(x); });
    }

    /// Other results are read of the same parallel iteration, and of lines that have been taken.
    void check_read_of_line(size_t number, const Read& read) const {
        const TensorDecl& read_from = d_.tensors[static_cast<size_t>(read.tensor)];
        const bool is_own = read.tensor == d_.lines[number].result;
        const auto earlier = std::span(d_.lines).first(number);
        const bool is_made = std::ranges::count(earlier, read.tensor, &RecurrenceLine::result) > 0;
        if (read_from.role == Role::kOut && !is_made)
            fail(lines_.body, read_from.name, "is read before the line that makes it");
        for (size_t axis = 0; axis < read_from.map.size(); ++axis) {
            const ExprPtr &at = read.coordinates[axis], &made = read_from.map[axis];
            if (same(at, made)) continue;
            const bool is_elsewhere = is_of_folded_alone(at) && is_of_folded_alone(made);
            if (!is_elsewhere || (is_own && !is_behind(at, made)))
                fail(lines_.body, read_from.name,
                     fmt::format("is read at {} along axis {}, which the line may have changed or not",
                                 print(d_, at), axis));
        }
    }

    /// x + 2 of x: what a line that goes upwards has not reached yet.
    static bool is_behind(const ExprPtr& at, const ExprPtr& made) {
        const auto* call = std::get_if<Apply>(&at->node);
        if (!call || call->function != Function::kAdd || !std::holds_alternative<IteratorRef>(made->node))
            return false;
        const auto* offset = std::get_if<Number>(&call->arguments[1]->node);
        return same(call->arguments[0], made) && offset && offset->is_integer && offset->value >= 0;
    }

    const Definition& d_;
    const std::string& source_;
    const DefinitionLines& lines_;
};

}  // namespace

void verify_lines(const Definition& recurrence, const std::string& source, const DefinitionLines& lines) {
    LineVerifier(recurrence, source, lines).run();
}

}  // namespace tessera
