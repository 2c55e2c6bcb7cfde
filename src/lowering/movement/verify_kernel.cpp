#include "lowering/movement/verify_kernel.h"

#include <algorithm>
#include <optional>

#include "lowering/movement/print_value.h"
#include "support/error.h"

namespace tessera::movement {
namespace {

class KernelVerifier {
public:
    KernelVerifier(const Kernel& kernel, ProgramNames& names, std::vector<ProgramFault>& faults)
        : kernel_(kernel), names_(names), faults_(faults) {}

    void run() {
        if (kernel_.arithmetic != ElementType::kF32 && !is_wide())
            refuse(fmt::format("computes in {}, expected f32, f64 or i64", name(kernel_.arithmetic)));
        const size_t mark = names_.enter();
        for (const ProgramBuffer& buffer : kernel_.buffers) {
            check_name(buffer.name);
            if (!names_.add(buffer)) refuse(fmt::format("{} is declared already", buffer.name));
            check(buffer.repetition_stride);
        }
        body(kernel_.body);
        names_.leave(mark);
    }

private:
    bool is_wide() const {
        return kernel_.arithmetic == ElementType::kF64 || kernel_.arithmetic == ElementType::kI64;
    }

    void refuse(std::string problem) {
        std::string head = statement_ ? printed_head(*statement_) : "";
        ProgramFault fault{kernel_.name, std::move(head), std::move(problem)};
        if (std::find(faults_.begin(), faults_.end(), fault) == faults_.end())
            faults_.push_back(std::move(fault));
    }

    // ---- names and integers

    void check_name(const std::string& name) {
        if (!is_in_meaning_ && !is_identifier(name)) refuse(fmt::format("{} is no identifier", name));
    }

    void check_declaration(const Variable& variable) {
        check_name(variable.name);
        if (variable.multiple_of < 1) refuse(fmt::format("{} has no divisor", variable.name));
    }

    template <class Declared>
    void declare(const Declared& declared, const std::string& name) {
        if (!names_.add(declared)) refuse(fmt::format("{} is declared already", name));
    }

    /// Checks its names, and that it cannot leave 64 bits.
    void check(const Index& index) {
        for (const Index::Term& term : index.terms()) check(*term.atom);
        const Bounds bounds = index.bounds();
        if (bounds.low <= -kFar || bounds.high >= kFar)
            refuse(fmt::format("{} may exceed 64 bits", print(index)));
    }

    void check(const Index::Atom& atom) {
        if (atom.kind == Index::AtomKind::kVariable) {
            const Variable* declared = names_.variable(atom.variable.name);
            if (!declared) {
                refuse(fmt::format("{} is no variable here", atom.variable.name));
            } else if (!(*declared == atom.variable)) {
                refuse(fmt::format("{} is taken for a variable with other bounds", atom.variable.name));
            }
        }
        if (atom.kind == Index::AtomKind::kRead) {
            const ProgramNames::Storage* storage = names_.storage(atom.buffer);
            if (!storage || !is_integer(storage->element) || bits(storage->element) < 8) {
                refuse(fmt::format("{} is no buffer of integers here", atom.buffer));
            } else {
                check_inside(atom.buffer, *storage, atom.arguments[0]);
            }
        }
        for (const Index& argument : atom.arguments) check(argument);
    }

    void check_inside(const std::string& name, const ProgramNames::Storage& storage, const Index& offset) {
        if (is_unreachable_) return;
        const Bounds at = offset.bounds();
        const int64_t elements = storage.bytes / bits(storage.element) * 8 +
                                 storage.bytes % bits(storage.element) * 8 / bits(storage.element);
        if (at.high < 0 || at.low >= elements)
            refuse(fmt::format("{}[{}] lies outside of its {} elements", name, print(offset), elements));
    }

    void check(const Address& address, bool is_written, bool is_guarded) {
        const ProgramNames::Storage* storage = names_.storage(address.buffer);
        if (!storage) {
            refuse(fmt::format("`{}` is no buffer here", address.buffer));
            return;
        }
        if (is_written && !storage->is_written)
            refuse(fmt::format("{} is not written by this kernel", address.buffer));
        if (storage->element != address.element)
            refuse(fmt::format("{} is of {}, not of {}", address.buffer, name(storage->element),
                               name(address.element)));
        check(address.offset);
        if (!is_guarded) check_inside(address.buffer, *storage, address.offset);
    }

    // ---- values

    /// Checks the value. @return true if it has lanes
    bool check(const ValueExpr& value) {
        return std::visit([&](const auto& node) { return check_value(node); }, value.node);
    }
    bool check_value(const Number&) { return false; }
    bool check_value(const Infinity&) { return false; }
    bool check_value(const Integer& integer) {
        check(integer.value);
        return has_lanes(integer.lane_stride);
    }
    bool check_value(const Load& load) {
        check(load.from, false, !load.guards.empty());
        int64_t with_lanes = 0;
        for (const Load::Guard& guard : load.guards) {
            check(guard.coordinate);
            check(guard.extent);
            if (guard.lane_stride < 0 || (guard.lane_stride > 0 && !has_lanes(load.lane_stride)))
                refuse(fmt::format("{} is guarded by lanes that run backwards or do not exist",
                                   load.from.buffer));
            if (guard.lane_stride > 0) ++with_lanes;
        }
        if (with_lanes > 1) refuse(fmt::format("{} is guarded by lanes twice", load.from.buffer));
        if (!is_wide() && !fits_f32(load.from.element))
            refuse(fmt::format("{} holds integers, which a value is not computed of", load.from.buffer));
        return has_lanes(load.lane_stride);
    }
    bool check_value(const AccumulatorRef& reference) {
        const Declare* declared = names_.accumulator(reference.name);
        if (!declared) {
            refuse(fmt::format("{} is no accumulator here", reference.name));
            return false;
        }
        if (reference.fold_lanes && declared->lanes == 1)
            refuse(fmt::format("{} has no lanes to fold", reference.name));
        return declared->lanes > 1 && !reference.fold_lanes;
    }
    bool check_value(const ApplyValue& call) {
        if (std::ssize(call.arguments) != arity(call.function))
            refuse(fmt::format("{} has {} arguments", name(call.function), call.arguments.size()));
        if (!is_wide() && tessera::is_wide(call.function))
            refuse(fmt::format("{} is computed in numbers of 64 bits alone", name(call.function)));
        bool lanes = false;
        for (const ValuePtr& argument : call.arguments) lanes |= check(*argument);
        return lanes;
    }
    bool check_value(const RoundValue& rounded) { return check(*rounded.argument); }

    /// A value outside loops over lanes, or in one of a single lane, has no lanes, whatever its stride is.
    bool has_lanes(int64_t stride) const { return lanes_ > 1 && stride != 0; }

    // ---- statements

    void body(const Body& statements) {
        const size_t mark = names_.enter();
        for (const Statement& statement : statements) {
            const Statement* outer = statement_;
            if (!is_in_meaning_) statement_ = &statement;
            try {
                std::visit([&](const auto& node) { check_statement(node); }, statement.node);
            } catch (const IndexOverflow& overflow) {
                refuse(overflow.problem);
            }
            statement_ = outer;
        }
        names_.leave(mark);
    }

    void check_range(const Variable& variable, const Index& begin, const Index& end, int64_t step) {
        check_declaration(variable);
        check(begin);
        check(end);
        if (step < 1) refuse("the loop does not step forwards");
        if (end.bounds().high > kFar - std::max<int64_t>(step, 0))
            refuse(fmt::format("{} may exceed 64 bits", variable.name));
        int64_t last = end.bounds().high - 1;
        if (variable.multiple_of > 1 && last >= 0) last -= last % variable.multiple_of;
        if (begin.bounds().low < variable.bounds.low || last > variable.bounds.high)
            refuse(fmt::format("{} may leave its bounds", variable.name));
        if (variable.multiple_of > 1 &&
            (begin.divisor() % variable.multiple_of != 0 || step % variable.multiple_of != 0))
            refuse(fmt::format("{} may be no multiple of {}", variable.name, variable.multiple_of));
    }

    void loop_body(const Variable& variable, const Index& begin, const Index& end, const Body& statements) {
        const bool outer_is_unreachable = is_unreachable_;
        is_unreachable_ |= (end - begin).bounds().high <= 0;
        const size_t mark = names_.enter();
        declare(variable, variable.name);
        body(statements);
        names_.leave(mark);
        is_unreachable_ = outer_is_unreachable;
    }

    void check_statement(const For& loop) {
        check_range(loop.variable, loop.begin, loop.end, loop.step);
        loop_body(loop.variable, loop.begin, loop.end, loop.body);
    }
    void check_statement(const Let& let) {
        check_declaration(let.variable);
        check(let.value);
        const Bounds of_value = let.value.bounds();
        if (of_value.low < let.variable.bounds.low || of_value.high > let.variable.bounds.high)
            refuse(fmt::format("{} may leave its bounds", let.variable.name));
        if (let.variable.multiple_of > 1 && let.value.divisor() % let.variable.multiple_of != 0)
            refuse(fmt::format("{} may be no multiple of {}", let.variable.name, let.variable.multiple_of));
        declare(let.variable, let.variable.name);
    }
    void check_statement(const VectorFor& loop) {
        if (is_wide() && loop.lanes > 1) refuse("numbers of 64 bits have no lanes");
        if (!is_number_of_lanes(loop.lanes))
            refuse(fmt::format("{} lanes are no power of two up to {}", loop.lanes, kMostLanes));
        if (lanes_ != 1) refuse("a loop over lanes stands in another one");
        check_range(loop.variable, loop.begin, loop.end, loop.lanes);
        lanes_ = loop.lanes;
        loop_body(loop.variable, loop.begin, loop.end, loop.body);
        lanes_ = 1;
    }
    void check_statement(const If& branch) {
        if (check(*branch.condition)) refuse("the condition differs between lanes");
        const bool outer_is_unreachable = is_unreachable_;
        is_unreachable_ = true;  // whether it is depends on values
        body(branch.body);
        is_unreachable_ = outer_is_unreachable;
    }
    void check_statement(const Store& store) {
        check(store.to, true, false);
        if (check(*store.value) && store.lane_stride == 0)
            refuse("a value with lanes is stored in one element");
    }
    void check_statement(const Declare& declared) {
        check_name(declared.name);
        if (is_wide() && declared.lanes > 1) refuse("numbers of 64 bits have no lanes");
        if (!is_number_of_lanes(declared.lanes))
            refuse(fmt::format("{} lanes are no power of two up to {}", declared.lanes, kMostLanes));
        if (lanes_ > 1 && declared.lanes > 1 && declared.lanes != lanes_)
            refuse(fmt::format("{} has other lanes than the loop around it", declared.name));
        if (declared.monoid == Monoid::kNone || declared.monoid == Monoid::kSoftmaxSum)
            refuse(fmt::format("{} folds by no operation", declared.name));
        declare(declared, declared.name);
    }
    void check_statement(const Accumulate& fold) {
        const Declare* declared = names_.accumulator(fold.name);
        if (!declared) refuse(fmt::format("{} is no accumulator here", fold.name));
        const bool has_lanes = check(*fold.value);
        const bool is_by_lanes = fold.condition && check(*fold.condition);
        if (!declared) return;
        if (fold.monoid != declared->monoid)
            refuse(fmt::format("{} folds by {}", fold.name, name(declared->monoid)));
        if ((has_lanes || is_by_lanes) && declared->lanes == 1)
            refuse(fmt::format("a value with lanes is folded into {}, which has none", fold.name));
        if (lanes_ > 1 && declared->lanes > 1 && declared->lanes != lanes_)
            refuse(fmt::format("{} has other lanes than the loop around it", fold.name));
    }
    void check_statement(const Call& call) {
        if (is_in_meaning_) {
            refuse("the meaning of a call is a call");
            return;
        }
        if (is_wide()) refuse("a call computes in f32");
        if (lanes_ != 1) refuse("a call stands in a loop over lanes");
        if (const std::string problem = call.problem(); !problem.empty()) {
            refuse(problem);
            return;
        }
        is_in_meaning_ = true;
        body(call.meaning());
        is_in_meaning_ = false;
    }
    void check_statement(const LocalTile& tile) {
        check_name(tile.name);
        if (is_wide()) refuse("a tile holds numbers of 32 bits");
        if (tile.elements < 0 || tile.elements > kFar / 4) refuse("the tile has no size");
        declare(tile, tile.name);
    }
    void check_statement(const Fill& fill) {
        check(fill.to, true, false);
        check(fill.count);
    }

    const Kernel& kernel_;
    ProgramNames& names_;
    std::vector<ProgramFault>& faults_;
    const Statement* statement_ = nullptr;
    int64_t lanes_ = 1;
    bool is_in_meaning_ = false;
    bool is_unreachable_ = false;  ///< maybe; then an element may surely lie outside
};

}  // namespace

bool is_identifier(const std::string& name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_part);
}

void verify_kernel(const Kernel& kernel, ProgramNames& names, std::vector<ProgramFault>& faults) {
    KernelVerifier(kernel, names, faults).run();
}

}  // namespace tessera::movement
