#include <iterator>

#include <fmt/format.h>

#include "ir/definition.h"
#include "ir/recurrence.h"
#include "support/error.h"

/// The textual form. Parentheses are printed where the notation's precedence needs them and nowhere else, so
/// that reading the text gives the same tree.
namespace tessera {
namespace {

/// From loose to tight; a binary operator groups to the left.
enum Level : int {
    kOrLevel = 1,
    kAndLevel,
    kNotLevel,
    kCompareLevel,
    kSumLevel,
    kTermLevel,
    kUnaryLevel,
    kPrimaryLevel
};

Level level_of(Function function) {
    switch (function) {
        case Function::kOr:
            return kOrLevel;
        case Function::kAnd:
            return kAndLevel;
        case Function::kNot:
            return kNotLevel;
        case Function::kLess:
        case Function::kLessEqual:
        case Function::kGreater:
        case Function::kGreaterEqual:
        case Function::kEqual:
        case Function::kNotEqual:
            return kCompareLevel;
        case Function::kAdd:
        case Function::kSub:
            return kSumLevel;
        case Function::kMul:
        case Function::kDivide:
        case Function::kFloorDiv:
        case Function::kMod:
            return kTermLevel;
        case Function::kNegate:
            return kUnaryLevel;
        default:
            return kPrimaryLevel;
    }
}

class ExprPrinter {
public:
    explicit ExprPrinter(const Definition& definition, int line = -1)
        : definition_(definition), line_(line) {}

    std::string print(const ExprPtr& expr) {
        write(expr, kOrLevel);
        return std::move(out_);
    }

private:
    /// Writes the expression where the context binds as tightly as `context`.
    void write(const ExprPtr& expr, int context) {
        std::visit([&](const auto& node) { write_node(node, context); }, expr->node);
    }

    void write_node(const Number& number, int context) {
        std::string text = number.is_integer ? fmt::format("{}", static_cast<int64_t>(number.value))
                                             : fmt::format("{}", number.value);
        if (!number.is_integer && text.find_first_of(".e") == std::string::npos) text += ".0";
        parenthesized(context > kUnaryLevel && text.front() == '-', [&] { out_ += text; });
    }
    void write_node(const Infinity&, int) { out_ += "inf"; }
    void write_node(const IteratorRef& iterator, int) {
        out_ += definition_.iterators.at(index(iterator.index)).name;
    }
    void write_node(const DimRef& dim, int) { out_ += definition_.dims.at(index(dim.index)).name; }
    void write_node(const FillPosition&, int) { out_ += 'i'; }
    void write_node(const Folded&, int) {
        out_ += name(line_ < 0 ? definition_.monoid : definition_.lines[index(line_)].fold);
        write_list(line_ < 0 ? definition_.body : std::vector{definition_.body[index(line_)]}, '(', ')');
    }
    void write_node(const Read& read, int) {
        out_ += definition_.tensors.at(index(read.tensor)).name;
        if (!read.declared_map) write_list(read.coordinates, '[', ']');
    }
    void write_node(const Cast& cast, int) {
        out_ += name(cast.to);
        write_list({cast.argument}, '(', ')');
    }
    void write_node(const Apply& apply, int context) {
        const Level level = level_of(apply.function);
        if (level == kPrimaryLevel) {
            out_ += name(apply.function);
            return write_list(apply.arguments, '(', ')');
        }
        parenthesized(context > level, [&] {
            if (apply.arguments.size() == 1) {
                out_ += name(apply.function);
                if (apply.function == Function::kNot) out_ += ' ';
                return write(apply.arguments[0], level);
            }
            // Comparisons do not chain: both operands bind tighter.
            write(apply.arguments[0], level == kCompareLevel ? level + 1 : level);
            fmt::format_to(std::back_inserter(out_), " {} ", name(apply.function));
            write(apply.arguments[1], level + 1);
        });
    }

    template <typename Inner>
    void parenthesized(bool is_needed, Inner&& inner) {
        if (is_needed) out_ += '(';
        inner();
        if (is_needed) out_ += ')';
    }

    void write_list(const std::vector<ExprPtr>& list, char open, char close) {
        out_ += open;
        for (size_t i = 0; i < list.size(); ++i) {
            if (i > 0) out_ += ", ";
            write(list[i], kOrLevel);
        }
        out_ += close;
    }

    static size_t index(int position) { return static_cast<size_t>(position); }

    const Definition& definition_;
    const int line_;  ///< of a recurrence, in which the expression stands; -1: none
    std::string out_;
};

/// Joins the texts that `each` gives for the entries.
template <typename List, typename Each>
std::string joined(const List& list, Each&& each) {
    std::string out;
    for (const auto& entry : list) {
        if (!out.empty()) out += ", ";
        out += each(entry);
    }
    return out;
}

std::string print_tensor(const Definition& d, const TensorDecl& tensor) {
    const auto expr = [&](const ExprPtr& e) { return print(d, e); };
    std::string out = fmt::format("{} {}[{}]", tensor.name, name(tensor.type), joined(tensor.map, expr));
    if (tensor.shape) out += fmt::format(" of [{}]", joined(*tensor.shape, expr));
    return out;
}

std::string print_iterator(const Definition& d, const Iterator& iterator) {
    const char* mark = iterator.is_ordered ? ">" : iterator.is_reduction ? "*" : "";
    return fmt::format("{}{}: {}", iterator.name, mark, print(d, iterator.extent));
}

std::string print_dim(const DimSymbol& dim) {
    const std::string divisor = dim.multiple_of == 1 ? "" : fmt::format(" multiple of {}", dim.multiple_of);
    return fmt::format("{} in {}..{}{}", dim.name, dim.low, dim.high, divisor);
}

std::string print_lines(const Definition& d) {
    const TensorDecl& carried = d.tensors[static_cast<size_t>(carried_tensor(d))];
    std::string out = fmt::format("carry {}\n", print_tensor(d, carried));
    for (size_t i = 0; i < d.lines.size(); ++i) {
        const RecurrenceLine& line = d.lines[i];
        const TensorDecl& result = d.tensors[static_cast<size_t>(line.result)];
        const ExprPtr body = line.fold == Monoid::kNone ? d.body[i] : line.post ? line.post : folded();
        out += fmt::format(
            "{} = {}\n",
            result.role == Role::kUpdate ? "carry " + result.name : "out " + print_tensor(d, result),
            ExprPrinter(d, static_cast<int>(i)).print(body));
    }
    return out;
}

std::string print_results(const Definition& d) {
    if (d.is_recurrence()) return print_lines(d);
    std::vector<TensorDecl> results;
    for (int result : d.results()) results.push_back(d.tensors[static_cast<size_t>(result)]);
    const bool is_update = !results.empty() && results.front().role == Role::kUpdate;
    const ExprPtr body = d.monoid == Monoid::kNone ? d.body.front() : d.post ? d.post : folded();
    return fmt::format("{} {} = {}\n", is_update ? "update" : "out",
                       joined(results, [&](const TensorDecl& t) { return print_tensor(d, t); }),
                       print(d, body));
}

std::string print_unit(const std::vector<UnitOperand>& unit) {
    std::string out = "unit";
    for (const UnitOperand& operand : unit) {
        std::string lanes;
        for (const auto& [axis, count] : operand.lanes) {
            lanes += fmt::format("{}{}{}", lanes.empty() ? "" : ",", axis, count);
        }
        out += fmt::format(" {}<{}>", operand.role, lanes);
    }
    return out + "\n";
}

}  // namespace

std::string print(const Definition& definition, const ExprPtr& expr) {
    return ExprPrinter(definition).print(expr);
}

std::string print(const Definition& d) {
    std::string out = fmt::format(
        "op {}({})\n", d.name, joined(d.iterators, [&](const Iterator& i) { return print_iterator(d, i); }));
    if (!d.dims.empty()) out += fmt::format("dim {}\n", joined(d.dims, print_dim));
    for (const TensorDecl& tensor : d.tensors) {
        if (tensor.role == Role::kIndex) out += fmt::format("index {}\n", print_tensor(d, tensor));
        if (tensor.role == Role::kIn) out += fmt::format("in {}\n", print_tensor(d, tensor));
    }
    out += print_results(d);
    if (d.where) out += fmt::format("where {}\n", print(d, d.where));
    if (d.accumulator != ElementType::kF32) out += fmt::format("acc {}\n", name(d.accumulator));
    if (d.weights != ElementType::kF32) out += fmt::format("weights {}\n", name(d.weights));
    if (d.may_regroup) out += "regrouped\n";
    return out;
}

std::string print(const Definition& d, const TestSetup& test) {
    std::string out = print(d) + "\ntest\n";
    // In the order of declaration, as a person would write it.
    std::vector<std::string> bindings;
    for (const DimSymbol& dim : d.dims) {
        if (test.bind.contains(dim.name))
            bindings.push_back(fmt::format("{} = {}", dim.name, test.bind.at(dim.name)));
    }
    if (!bindings.empty()) out += fmt::format("bind {}\n", fmt::join(bindings, ", "));
    for (const TensorDecl& tensor : d.tensors) {
        if (!test.fill.contains(tensor.name)) continue;
        out += fmt::format("fill {}[i] = {}\n", tensor.name, print(d, test.fill.at(tensor.name)));
    }
    std::vector<std::string> tiles;
    for (const Iterator& iterator : d.iterators) {
        const auto tile = test.tile.find(iterator.name);
        if (tile == test.tile.end()) continue;
        tiles.push_back(fmt::format("{} {} at {}", iterator.name, tile->second.size, tile->second.origin));
    }
    if (!tiles.empty()) out += fmt::format("tile {}\n", fmt::join(tiles, ", "));
    if (test.lanes != kDefaultLanes) out += fmt::format("lanes {}\n", test.lanes);
    if (!test.unit.empty()) out += print_unit(test.unit);
    return out;
}

}  // namespace tessera
