#include <algorithm>
#include <cmath>
#include <set>

#include "ir/characters.h"
#include "ir/definition_parser.h"
#include "ir/integer_form.h"
#include "ir/lexer.h"
#include "ir/recurrence.h"
#include "ir/recurrence_verifier.h"
#include "support/error.h"

/// The rules of the notation that hold whatever the dims are. A parsed definition keeps those on names and
/// reads by construction; definitions that a program builds are checked in full.
namespace tessera {
namespace {

bool is_name(std::string_view text) {
    return !text.empty() && starts_name(text[0]) && std::ranges::all_of(text, continues_name);
}

class Verifier {
public:
    Verifier(const Definition& definition, const std::string& source, const DefinitionLines& lines)
        : d_(definition), source_(source), lines_(lines) {}

    void run() const {
        check_names();
        check_dims();
        check_structure();
        for (const Iterator& iterator : d_.iterators) {
            check_references(iterator.extent, lines_.op);
            verify_integer_form(d_, iterator.extent, false, {place(source_, lines_.op), iterator.name});
        }
        for (size_t i = 0; i < d_.tensors.size(); ++i)
            check_tensor(d_.tensors[i], line_at(lines_.tensors, i));
        d_.is_recurrence() ? check_recurrence() : check_body();
        check_operands_are_read();
        check_results();
        if (d_.monoid == Monoid::kSoftmaxSum) check_softmax();
    }

private:
    [[noreturn]] void fail(int line, const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(place(source_, line), entity, problem, advice);
    }

    void check_names() const {
        std::set<std::string> taken;
        const auto check = [&](const std::string& fresh, int line) {
            if (!is_name(fresh))
                fail(line, fresh, "is not a name, expected letters, digits and `_`, no digit first");
            if (is_reserved(fresh))
                fail(line, fresh, "is a keyword, function or type and names nothing else");
            if (!taken.insert(fresh).second)
                fail(line, fresh, "is declared twice; names are unique in a definition");
        };
        check(d_.name, lines_.op);
        for (const Iterator& iterator : d_.iterators) check(iterator.name, lines_.op);
        for (size_t i = 0; i < d_.dims.size(); ++i) check(d_.dims[i].name, line_at(lines_.dims, i));
        for (size_t i = 0; i < d_.tensors.size(); ++i) check(d_.tensors[i].name, line_at(lines_.tensors, i));
    }

    void check_dims() const {
        for (size_t i = 0; i < d_.dims.size(); ++i) {
            const DimSymbol& dim = d_.dims[i];
            const int line = line_at(lines_.dims, i);
            if (dim.low < 0 || dim.low > dim.high) {
                fail(line, dim.name,
                     fmt::format("has the bounds {}..{}, expected an ascending range from 0 or above",
                                 dim.low, dim.high));
            }
            if (dim.multiple_of < 1)
                fail(line, dim.name,
                     fmt::format("is a multiple of {}, expected at least 1", dim.multiple_of));
            if (dim.high / dim.multiple_of * dim.multiple_of < dim.low) {
                fail(line, dim.name,
                     fmt::format("has no multiple of {} in {}..{}", dim.multiple_of, dim.low, dim.high));
            }
        }
    }

    void check_structure() const {
        if (d_.iterators.empty()) fail(lines_.op, d_.name, "has no iterator, expected at least one");
        Role last = Role::kIndex;
        for (size_t i = 0; i < d_.tensors.size(); ++i) {
            const TensorDecl& tensor = d_.tensors[i];
            // The first result is what is carried.
            const bool is_behind_carried =
                d_.is_recurrence() && i > 0 && tensor.role == Role::kOut && d_.tensors[i - 1].is_result();
            if (tensor.role < last && !is_behind_carried)
                fail(line_at(lines_.tensors, i), tensor.name,
                     "is declared too late: index operands come first, then operands, then results");
            last = tensor.role;
        }
        const std::vector<int> results = d_.results();
        check_order_of_iterators();
        const size_t expected = d_.monoid == Monoid::kSoftmaxSum ? 3 : 1;
        if (results.size() != expected && !d_.is_recurrence()) {
            fail(lines_.body, d_.name, fmt::format("has {} results, expected {}", results.size(), expected),
                 "softmax_sum has three results, every other body one");
        }
        if (d_.accumulator != ElementType::kF32 && d_.accumulator != ElementType::kI32 && !d_.is_wide()) {
            fail(lines_.body, d_.name,
                 fmt::format("has the accumulator type {}, expected f32, f64, i32 or i64",
                             name(d_.accumulator)));
        }
        if (d_.is_wide() && (d_.is_recurrence() || d_.monoid == Monoid::kSoftmaxSum))
            fail(lines_.body, d_.name,
                 fmt::format("computes in {}, which a recurrence or softmax_sum does not",
                             name(d_.accumulator)));
        if (d_.weights != ElementType::kF32 && d_.weights != ElementType::kBF16) {
            fail(lines_.body, d_.name,
                 fmt::format("has weights of {}, expected f32 or bf16", name(d_.weights)));
        }
        if (d_.weights != ElementType::kF32 && d_.monoid != Monoid::kSoftmaxSum)
            fail(lines_.body, d_.name, "rounds weights, which softmax_sum alone has");
        if (d_.may_regroup && !d_.is_recurrence())
            fail(lines_.body, d_.name, "is regrouped, which recurrences alone are");
        if (d_.is_recurrence()) return;
        const bool is_update = d_.tensors[static_cast<size_t>(results[0])].role == Role::kUpdate;
        if (d_.monoid == Monoid::kSoftmaxSum && is_update)
            fail(lines_.body, d_.name, "updates by softmax_sum, which needs `out`");
        if (d_.post && is_update) fail(lines_.body, d_.name, "has a post-expression, but `update` has none");
        if (d_.post && d_.monoid == Monoid::kSoftmaxSum)
            fail(lines_.body, d_.name, "has a post-expression, but softmax_sum has none");
        if (d_.post && d_.monoid == Monoid::kNone)
            fail(lines_.body, d_.name, "has a post-expression, but no monoid");
    }

    void check_order_of_iterators() const {
        const auto ordered = std::ranges::count(d_.iterators, true, &Iterator::is_ordered);
        if (ordered != (d_.is_recurrence() ? 1 : 0))
            fail(lines_.op, d_.name, fmt::format("has {} ordered iterators", ordered),
                 "a recurrence has one, `i>`, and a line `carry`; others have none");
        const auto carried = std::ranges::count(d_.tensors, Role::kUpdate, &TensorDecl::role);
        if (!d_.is_recurrence()) return;
        if (carried != 1)
            fail(lines_.body, d_.name, fmt::format("carries {} results, expected one", carried));
        if (d_.results().front() != carried_tensor(d_))
            fail(lines_.body, d_.name, "has a result before what is carried");
    }

    void check_tensor(const TensorDecl& tensor, int line) const {
        const ExprPlace at{place(source_, line), tensor.name};
        if (tensor.map.empty()) fail(line, tensor.name, "has no axis, expected at least one");
        if (tensor.role == Role::kIndex && !is_integer(tensor.type)) {
            fail(line, tensor.name,
                 fmt::format("is an index operand of type {}, expected an integer type", name(tensor.type)));
        }
        bool has_indirect = false;
        for (const ExprPtr& component : tensor.map) {
            check_references(component, line);
            verify_component(d_, component, tensor.role != Role::kIndex, at);
            has_indirect |= is_indirect(component);
            if (tensor.is_result() && !is_indirect(component) && !d_.is_recurrence()) {
                for (int iterator : iterators_in(component)) {
                    const Iterator& used = d_.iterators[static_cast<size_t>(iterator)];
                    if (used.is_reduction) {
                        fail(line, tensor.name,
                             fmt::format("uses the reduction iterator `{}` in the direct component `{}`",
                                         used.name, print(d_, component)));
                    }
                }
            }
        }
        if (!tensor.shape) {
            if (has_indirect)
                fail(line, tensor.name, "has an indirect map, which needs a shape", "add `of [...]`");
            return;
        }
        if (tensor.shape->size() != tensor.map.size()) {
            fail(line, tensor.name,
                 fmt::format("has a shape of {} axes, expected {} as in its map", tensor.shape->size(),
                             tensor.map.size()));
        }
        for (const ExprPtr& extent : *tensor.shape) {
            check_references(extent, line);
            verify_integer_form(d_, extent, false, at);
        }
    }

    /// Positions, arities and numbers of a tree that a program has built.
    void check_references(const ExprPtr& expr, int line) const {
        if (!expr) fail(line, d_.name, "lacks an expression");
        const auto within = [](int index, size_t size) {
            return index >= 0 && static_cast<size_t>(index) < size;
        };
        walk(expr, [&](const Expr& node) {
            if (const auto* iterator = std::get_if<IteratorRef>(&node.node)) {
                if (!within(iterator->index, d_.iterators.size()))
                    fail(line, d_.name, "uses an iterator that it does not have");
            } else if (const auto* dim = std::get_if<DimRef>(&node.node)) {
                if (!within(dim->index, d_.dims.size()))
                    fail(line, d_.name, "uses a dim that it does not have");
            } else if (const auto* number = std::get_if<Number>(&node.node)) {
                const bool is_exact =
                    !number->is_integer || std::fabs(number->value) <= static_cast<double>(kLargestInteger);
                if (!std::isfinite(number->value) || !is_exact)
                    fail(line, d_.name, "holds a number that the notation cannot write");
            } else if (const auto* apply = std::get_if<Apply>(&node.node)) {
                if (d_.accumulator == ElementType::kI64 &&
                    (is_special(apply->function) || apply->function == Function::kPow ||
                     apply->function == Function::kDivide))
                    fail(line, d_.name,
                         fmt::format("applies `{}` in integers of 64 bits", name(apply->function)),
                         "`acc f64` computes it in floats");
                if (apply->arguments.size() != static_cast<size_t>(arity(apply->function))) {
                    fail(line, d_.name,
                         fmt::format("applies `{}` to {} arguments", name(apply->function),
                                     apply->arguments.size()));
                }
            } else if (const auto* read = std::get_if<Read>(&node.node)) {
                if (!within(read->tensor, d_.tensors.size()))
                    fail(line, d_.name, "reads a tensor that it does not have");
                const TensorDecl& decl = d_.tensors[static_cast<size_t>(read->tensor)];
                if (decl.is_result() && !d_.is_recurrence())
                    fail(line, decl.name, "is a result and cannot be read");
                if (read->coordinates.size() != decl.map.size()) {
                    fail(line, decl.name,
                         fmt::format("is read with {} coordinates, but has {} axes", read->coordinates.size(),
                                     decl.map.size()));
                }
            }
            return true;
        });
    }

    int count_folded(const ExprPtr& expr) const {
        int count = 0;
        walk(expr, [&](const Expr& node) {
            count += std::holds_alternative<Folded>(node.node);
            return true;
        });
        return count;
    }

    /// Reads, their coordinates, and where the monoid may stand.
    void check_value(const ExprPtr& expr, int line, int expected_folded) const {
        check_references(expr, line);
        if (count_folded(expr) != expected_folded) fail(line, d_.name, "holds the monoid in the wrong place");
        walk(expr, [&](const Expr& node) {
            if (std::holds_alternative<FillPosition>(node.node))
                fail(line, d_.name, "uses the position of a fill");
            const auto* read = std::get_if<Read>(&node.node);
            if (!read) return true;
            const TensorDecl& decl = d_.tensors[static_cast<size_t>(read->tensor)];
            for (const ExprPtr& coordinate : read->coordinates) {
                verify_component(d_, coordinate, true, {place(source_, line), decl.name});
            }
            return false;
        });
    }

    void check_body() const {
        const size_t expected = d_.monoid == Monoid::kSoftmaxSum ? 2 : 1;
        if (d_.body.size() != expected)
            fail(lines_.body, d_.name, fmt::format("has {} bodies, expected {}", d_.body.size(), expected));
        for (const ExprPtr& expr : d_.body) check_value(expr, lines_.body, 0);
        if (d_.where) check_value(d_.where, lines_.where, 0);
        if (!d_.post) return;
        check_value(d_.post, lines_.body, 1);
        for (int iterator : iterators_in(d_.post)) {
            if (d_.iterators[static_cast<size_t>(iterator)].is_reduction) {
                fail(lines_.body, d_.iterators[static_cast<size_t>(iterator)].name,
                     "is a reduction iterator and cannot stand in the post-expression");
            }
        }
    }

    void check_recurrence() const {
        if (d_.body.size() != d_.lines.size() || d_.post)
            fail(lines_.body, d_.name, "has a line without a body, or a body without a line");
        for (size_t line = 0; line < d_.lines.size(); ++line) {
            check_value(d_.body[line], lines_.body, 0);
            if (d_.lines[line].post) check_value(d_.lines[line].post, lines_.body, 1);
        }
        if (d_.where) check_value(d_.where, lines_.where, 0);
        verify_lines(d_, source_, lines_);
    }

    void check_operands_are_read() const {
        std::set<int> used;
        for (const Read& read : reads_in(read_roots(d_))) used.insert(read.tensor);
        for (size_t i = 0; i < d_.tensors.size(); ++i) {
            const TensorDecl& tensor = d_.tensors[i];
            if (!tensor.is_result() && !used.contains(static_cast<int>(i))) {
                fail(line_at(lines_.tensors, i), tensor.name, "is never read", "remove it");
            }
        }
    }

    void check_results() const {
        if (d_.is_recurrence()) return;  // by line
        const TensorDecl& last = d_.tensors[static_cast<size_t>(d_.results().back())];
        const std::vector<int> used = iterators_in(last.map);
        for (size_t i = 0; i < d_.iterators.size(); ++i) {
            if (!d_.iterators[i].is_reduction && !std::ranges::binary_search(used, static_cast<int>(i))) {
                fail(
                    lines_.body, last.name,
                    fmt::format("does not use the parallel iterator `{}`", d_.iterators[i].name),
                    fmt::format("use it in the map, or mark it as a reduction: `{}*`", d_.iterators[i].name));
            }
        }
    }

    void check_softmax() const {
        const std::vector<int> results = d_.results();
        const TensorDecl& maximum = d_.tensors[static_cast<size_t>(results[0])];
        const TensorDecl& sum = d_.tensors[static_cast<size_t>(results[1])];
        const std::vector<int> used = iterators_in(maximum.map);
        if (used != iterators_in(sum.map)) {
            fail(lines_.body, sum.name, fmt::format("does not use the same iterators as `{}`", maximum.name));
        }
        for (int iterator : iterators_in(d_.body[0])) {
            const Iterator& in_score = d_.iterators[static_cast<size_t>(iterator)];
            if (!in_score.is_reduction && !std::ranges::binary_search(used, iterator)) {
                fail(lines_.body, in_score.name,
                     fmt::format("stands in the score, but `{}` and `{}` do not use it", maximum.name,
                                 sum.name));
            }
        }
    }

    const Definition& d_;
    const std::string& source_;
    const DefinitionLines& lines_;
};

}  // namespace

std::string place(const std::string& source, int line) {
    return line > 0 ? fmt::format("{}:{}", source, line) : source;
}

int line_at(const std::vector<int>& lines, size_t position) {
    return position < lines.size() ? lines[position] : 0;
}

void verify_at(const Definition& definition, const std::string& where, const DefinitionLines& lines) {
    Verifier(definition, where, lines).run();
}

void verify(const Definition& definition, const std::string& where) {
    verify_at(definition, where, DefinitionLines{});
}

void verify(const DefinitionFile& file, const std::string& where) {
    verify_at(file.definition, where, file.lines);
    verify_test_at(file, where);
}

}  // namespace tessera
