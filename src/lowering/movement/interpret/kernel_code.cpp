#include "lowering/movement/interpret/kernel_code.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/error.h"

namespace tessera::movement {
namespace {

class Compilation {
public:
    Compilation(const Program& program, const Kernel& kernel) : slots_(program_slots(program)) {
        code_.kernel = &kernel;
        code_.variables = slots_.size();
        for (const ProgramBuffer& buffer : kernel.buffers) storages_[buffer.name] = storages_.size();
        for (const ProgramBuffer& buffer : kernel.buffers)
            code_.repetition_strides.push_back(index(buffer.repetition_stride));
        code_.body = body(kernel.body);
    }

    KernelCode take() { return std::move(code_); }

private:
    // ---- integers

    IndexCode index(const Index& index) const {
        IndexCode code{index.constant(), {}, {}};
        for (const Index::Term& term : index.terms()) {
            const Index::Atom& atom = *term.atom;
            if (atom.kind == Index::AtomKind::kVariable) {
                code.linear.push_back({slots_.at(atom.variable.name), term.coefficient});
                continue;
            }
            IndexCode::Operation operation{atom.kind, term.coefficient, atom.modulus, 0, {}};
            if (atom.kind == Index::AtomKind::kRead) operation.storage = storages_.at(atom.buffer);
            for (const Index& argument : atom.arguments) operation.arguments.push_back(this->index(argument));
            code.operations.push_back(std::move(operation));
        }
        return code;
    }

    ElementCode element(const Address& address, int64_t lane_stride) const {
        return {storages_.at(address.buffer), index(address.offset), lanes_ > 1 ? lane_stride : 0};
    }

    // ---- values

    double rounded(double number) const {
        return code_.kernel->arithmetic == ElementType::kF32 ? static_cast<float>(number) : number;
    }

    ValueCode value(const ValuePtr& value) const {
        return std::visit([&](const auto& node) { return value_of(node); }, value->node);
    }
    ValueCode value_of(const Number& number) const { return {ConstantCode{rounded(number.value)}}; }
    ValueCode value_of(const Infinity&) const { return {ConstantCode{INFINITY}}; }
    ValueCode value_of(const Integer& integer) const {
        const int64_t stride = lanes_ > 1 ? integer.lane_stride : 0;
        return {IntegerCode{index(integer.value), stride}, NumberKind::kInteger, stride != 0};
    }
    ValueCode value_of(const Load& load) const {
        LoadCode code{element(load.from, load.lane_stride), {}, rounded(load.outside)};
        for (const Load::Guard& guard : load.guards)
            code.guards.push_back(
                {index(guard.coordinate), index(guard.extent), lanes_ > 1 ? guard.lane_stride : 0});
        const bool has_lanes = code.from.lane_stride != 0;
        return {std::move(code), NumberKind::kFloat, has_lanes};
    }
    ValueCode value_of(const AccumulatorRef& reference) const {
        const size_t number = accumulators_.at(reference.name);
        const bool has_lanes = code_.accumulators[number].lanes > 1 && !reference.fold_lanes;
        return {AccumulatorCode{number, reference.fold_lanes}, NumberKind::kFloat, has_lanes};
    }
    ValueCode value_of(const ApplyValue& call) const {
        ApplyCode code{call.function, has_integer_arguments(call), {}};
        for (const ValuePtr& argument : call.arguments) {
            const auto* number = std::get_if<Number>(&argument->node);
            if (number && code.is_exact) {
                code.arguments.push_back({ConstantCode{number->value}, NumberKind::kInteger});
            } else {
                code.arguments.push_back(value(argument));
            }
        }
        const bool has_lanes = std::any_of(code.arguments.begin(), code.arguments.end(),
                                           [](const ValueCode& argument) { return argument.has_lanes; });
        return {std::move(code), number_kind({call}), has_lanes};
    }
    ValueCode value_of(const RoundValue& rounded) const {
        RoundCode code{rounded.to, {value(rounded.argument)}};
        const bool has_lanes = code.argument.front().has_lanes;
        return {std::move(code), NumberKind::kFloat, has_lanes};
    }

    // ---- statements

    size_t declare(const Variable& variable) { return slots_[variable.name] = code_.variables++; }

    BodyCode body(const Body& statements) {
        BodyCode code;
        for (const Statement& statement : statements)
            std::visit([&](const auto& node) { add(node, code); }, statement.node);
        return code;
    }

    void add(const For& loop, BodyCode& out) {
        ForCode code{0, loop.variable, index(loop.begin), index(loop.end), loop.step, 0, {}};
        code.slot = declare(loop.variable);
        code.body = body(loop.body);
        out.push_back({std::move(code)});
    }
    void add(const VectorFor& loop, BodyCode& out) {
        ForCode code{0, loop.variable, index(loop.begin), index(loop.end), loop.lanes, loop.lanes, {}};
        code.slot = declare(loop.variable);
        lanes_ = loop.lanes;
        code.body = body(loop.body);
        lanes_ = 1;
        out.push_back({std::move(code)});
    }
    void add(const Let& let, BodyCode& out) {
        LetCode code{0, let.variable, index(let.value)};
        code.slot = declare(let.variable);
        out.push_back({std::move(code)});
    }
    void add(const If& branch, BodyCode& out) {
        out.push_back({IfCode{value(branch.condition), body(branch.body)}});
    }
    void add(const Store& store, BodyCode& out) {
        out.push_back({StoreCode{element(store.to, store.lane_stride), value(store.value)}});
    }
    void add(const Declare& declared, BodyCode& out) {
        accumulators_[declared.name] = code_.accumulators.size();
        code_.accumulators.push_back(declared);
        out.push_back({DeclareCode{code_.accumulators.size() - 1}});
    }
    void add(const Accumulate& fold, BodyCode& out) {
        AccumulateCode code{accumulators_.at(fold.name), value(fold.value), {}};
        if (fold.condition) code.condition.push_back(value(fold.condition));
        out.push_back({std::move(code)});
    }
    void add(const Call& call, BodyCode& out) {
        for (StatementCode& statement : body(call.meaning())) out.push_back(std::move(statement));
    }
    void add(const LocalTile& tile, BodyCode& out) {
        const size_t number = code_.kernel->buffers.size() + code_.tiles.size();
        storages_[tile.name] = number;
        code_.tiles.push_back(tile);
        out.push_back({TileCode{number}});
    }
    void add(const Fill& fill, BodyCode& out) {
        out.push_back({FillCode{element(fill.to, 0), index(fill.count), rounded(fill.value)}});
    }

    KernelCode code_;
    // Names that are out of scope stay, and are replaced where they are declared anew.
    std::map<std::string, size_t> slots_, storages_, accumulators_;
    int64_t lanes_ = 1;
};

}  // namespace

std::map<std::string, size_t> program_slots(const Program& program) {
    std::map<std::string, size_t> slots = {{kWorker, 0}};
    for (const Variable& symbol : program.symbols) slots.emplace(symbol.name, slots.size());
    return slots;
}

KernelCode kernel_code(const Program& program, const Kernel& kernel) {
    return Compilation(program, kernel).take();
}

}  // namespace tessera::movement
