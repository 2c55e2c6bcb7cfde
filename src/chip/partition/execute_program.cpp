// A tile reads operands that have been preloaded or sent, and values that lie on its own core. When it ends,
// its results are added to the partial ones of the core. Complete results lie there as values of the graph.

#include "chip/partition/execute_program.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "chip/partition/chip_memory.h"
#include "chip/partition/program_events.h"
#include "chip/partition/tile_arithmetic.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

using chip::Transfer;
using chip::TransferKind;
using Kind = ProgramEvent::Kind;

class Execution {
public:
    Execution(const Graph& graph, const ExecutableProgram& program, const ChipTables& tables,
              const chip::ChipDescription& chip, const GraphCall& call)
        : graph_(graph),
          program_(program),
          tables_(tables),
          call_(call),
          memory_(chip, program.program.name),
          far_(graph, call),
          arithmetic_(tables.operators.size()),
          shifts_left_(program.operators.size()),
          last_uses_(program.operators.size()) {
        for (size_t i = 0; i < program.operators.size(); ++i)
            for (const Transfer& shift : program.program.at(i).of(TransferKind::kShift))
                ++shifts_left_[i][{shift.from, shift.step}];
        for (size_t v = 0; v < program.values.size(); ++v)
            if (program.values[v].last_use < last_uses_.size())
                last_uses_[program.values[v].last_use].push_back(static_cast<int32_t>(v));
        for (const auto& [name, value] : program.inputs) put_input(name, value);
    }

    ExecutedProgram run(const std::vector<ProgramEvent>& events) {
        for (const ProgramEvent& event : events) {
            now_ = event.time;
            memory_.set_time(now_);
            switch (event.kind) {
                case Kind::kSend:
                    send(event);
                    break;
                case Kind::kArrival:
                    arrive(event);
                    break;
                case Kind::kTileBegin:
                    begin_tile(event);
                    break;
                case Kind::kTileEnd:
                    end_tile(event);
                    break;
                case Kind::kExecuteEnd:
                    end_execute(event.op);
            }
        }
        ExecutedProgram executed;
        for (size_t o = 0; o < graph_.outputs.size(); ++o)
            executed.result.outputs.push_back(output(graph_.outputs[o], program_.outputs[o]));
        executed.result.states = far_.states();
        executed.sram_peak = memory_.peaks();
        return executed;
    }

private:
    const facts::BoundDefinition& bound(size_t op) const {
        return tables_.operators[program_.operators[op].op].op.bound;
    }
    const TensorPlace& from(size_t op, size_t tensor) const { return program_.operators[op].from[tensor]; }
    const TensorPlace& to(size_t op, size_t tensor) const { return program_.operators[op].to[tensor]; }
    static NumbersKey value_key(int32_t value) {
        return {NumbersKey::Use::kValue, 0, static_cast<size_t>(value)};
    }
    static NumbersKey operand_key(size_t op, size_t tensor) {
        return {NumbersKey::Use::kOperand, op, tensor};
    }
    static NumbersKey partial_key(size_t op, size_t tensor) {
        return {NumbersKey::Use::kPartial, op, tensor};
    }
    int64_t bits_of(size_t op, size_t tensor) const {
        return bits(bound(op).tensor(static_cast<int>(tensor)).type);
    }

    std::string name_of(size_t op) const {
        return fmt::format("operator {} ({})", op, program_.program.at(op).name);
    }
    [[noreturn]] void fail(size_t op, const std::string& problem) const {
        throw Error(program_.program.name, name_of(op), fmt::format("{} at cycle {:.3f}", problem, now_));
    }
    [[noreturn]] void fail_missing(size_t op, size_t tensor, int32_t on, const Elements& missing,
                                   std::string_view what) const {
        fail(op,
             fmt::format("{} {} elements of {} from {} on, which core {} does not hold", what, missing.size(),
                         bound(op).tensor(static_cast<int>(tensor)).name, missing.min(), on));
    }

    const TileArithmetic& arithmetic(size_t op) {
        auto& known = arithmetic_[program_.operators[op].op];
        if (!known) known = std::make_unique<TileArithmetic>(bound(op));
        return *known;
    }

    void put_input(const std::string& name, int32_t value) {
        const auto found = call_.inputs.find(name);
        if (found == call_.inputs.end()) throw Error(graph_.name, name, "is an input without contents");
        const ChipValue& own = program_.values[static_cast<size_t>(value)];
        check_shape(graph_, call_, graph_[own.value], found->second);
        for (const Home& home : program_.input_homes.at(name))
            memory_.put(home.core, value_key(value), own.bits, home.elements,
                        numbers_of(found->second, home.elements));
    }

    // Transfers.

    /// The numbers of an operand on a core: sent to it, or lying there.
    std::vector<double> operand(size_t op, size_t tensor, int32_t on, const Elements& elements) {
        HeldNumbers all;
        for (const NumbersKey& key : {operand_key(op, tensor), value_key(from(op, tensor).on_chip)}) {
            const HeldNumbers& some = memory_.at(on, key);
            const Elements own = common(all.missing(elements), some.elements());
            all.put(own, some.numbers(own));
        }
        if (const Elements missing = all.missing(elements); !missing.empty())
            fail_missing(op, tensor, on, missing, "takes");
        return all.numbers(elements);
    }

    std::vector<double> result(size_t op, size_t tensor, int32_t on, const NumbersKey& key,
                               const Elements& elements, std::string_view what) {
        const HeldNumbers& held = memory_.at(on, key);
        if (const Elements missing = held.missing(elements); !missing.empty())
            fail_missing(op, tensor, on, missing, what);
        return held.numbers(elements);
    }

    std::vector<double> sent_numbers(const ProgramEvent& event, int32_t on, const Piece& piece) {
        const auto& [tensor, elements] = piece;
        switch (event.transfer) {
            case TransferKind::kPreload:
                return far_.numbers(from(event.op, tensor).far.value(), elements);
            case TransferKind::kReduce:
                return result(event.op, tensor, on, partial_key(event.op, tensor), elements, "adds");
            case TransferKind::kStore:
                return result(event.op, tensor, on, value_key(to(event.op, tensor).on_chip), elements,
                              "stores");
            default:
                return operand(event.op, tensor, on, elements);
        }
    }

    const std::vector<Piece>& pieces_of(const ProgramEvent& event) const {
        return program_.operators[event.op].contents.of(event.transfer).at(event.item);
    }
    const Transfer& transfer_of(const ProgramEvent& event) const {
        return program_.program.at(event.op).of(event.transfer).at(event.item);
    }

    void send(const ProgramEvent& event) {
        std::vector<std::vector<double>>& numbers = under_way_[{event.op, event.transfer, event.item}];
        for (const Piece& piece : pieces_of(event))
            numbers.push_back(sent_numbers(event, transfer_of(event).from, piece));
    }

    void arrive(const ProgramEvent& event) {
        const Transfer& transfer = transfer_of(event);
        const std::vector<Piece>& pieces = pieces_of(event);
        const auto sent = under_way_.extract({event.op, event.transfer, event.item});
        const std::vector<std::vector<double>>& numbers = sent.mapped();
        for (size_t p = 0; p < pieces.size(); ++p) {
            const auto& [tensor, elements] = pieces[p];
            if (event.transfer == TransferKind::kStore) {
                far_.store(to(event.op, tensor).far.value(), elements, numbers[p]);
                not_stored_[tensor] = without(not_stored_[tensor], elements);
                continue;
            }
            if (event.transfer == TransferKind::kReduce) continue;
            for (const int32_t on : transfer.to)
                memory_.put(on, operand_key(event.op, tensor), bits_of(event.op, tensor), elements,
                            numbers[p]);
        }
        if (event.transfer == TransferKind::kReduce)
            for (const int32_t on : transfer.to) {
                add_parts(event.op, on, pieces, numbers);
                adders_[{event.op, on}].insert(transfer.from);
            }
        if (event.transfer != TransferKind::kShift) return;
        --shifts_left_[event.op][{transfer.from, transfer.step}];
        release(event.op, transfer.from, transfer.step);
    }

    void add_parts(size_t op, int32_t on, const std::vector<Piece>& pieces,
                   const std::vector<std::vector<double>>& numbers) {
        const std::vector<int> results = bound(op).definition.results();
        PartialResults parts(results.size());
        for (size_t p = 0; p < pieces.size(); ++p)
            for (size_t r = 0; r < results.size(); ++r)
                if (static_cast<size_t>(results[r]) == pieces[p].tensor)
                    parts[r].put(pieces[p].elements, numbers[p]);
        fold(op, on, parts);
    }

    PartialResults partial(size_t op, int32_t on) const {
        PartialResults results;
        for (const int result : bound(op).definition.results())
            results.push_back(memory_.at(on, partial_key(op, static_cast<size_t>(result))));
        return results;
    }

    void fold(size_t op, int32_t on, const PartialResults& next) {
        PartialResults into = partial(op, on);
        arithmetic(op).fold(into, next);
        const std::vector<int> results = bound(op).definition.results();
        for (size_t r = 0; r < into.size(); ++r) {
            const Elements changed = next[r].elements();
            const auto tensor = static_cast<size_t>(results[r]);
            memory_.put(on, partial_key(op, tensor), bits_of(op, tensor), changed, into[r].numbers(changed));
        }
    }

    // Tiles.

    TileOperands operands_of(size_t op, int32_t on) {
        const facts::BoundDefinition& definition = bound(op);
        TileOperands operands;
        for (size_t t = 0; t < definition.definition.tensors.size(); ++t) {
            const std::vector<int64_t>& shape = definition.shape(static_cast<int>(t));
            const auto elements = static_cast<size_t>(element_count(shape));
            // Sums begin with the identity, even if they are added to previous contents.
            operands.numbers.push_back(
                {shape, std::vector<double>(elements, identity(definition.definition.monoid))});
            operands.held.emplace_back(elements, false);
            if (definition.is_result(static_cast<int>(t))) continue;
            for (const NumbersKey& key : {value_key(from(op, t).on_chip), operand_key(op, t)})
                memory_.at(on, key).copy_to(operands.numbers[t].values, operands.held[t]);
        }
        return operands;
    }

    const TileContents& contents_of(const ProgramEvent& event) const {
        return program_.operators[event.op].contents.tiles.at(event.item);
    }
    const chip::Tile& tile_of(const ProgramEvent& event) const {
        return program_.program.at(event.op).tiles.at(event.item);
    }
    std::string where(size_t op, int32_t on) const {
        return fmt::format("{}, {} on core {} at cycle {:.3f}", program_.program.name, name_of(op), on, now_);
    }

    void begin_tile(const ProgramEvent& event) {
        const TileContents& contents = contents_of(event);
        if (!contents.adders.empty() || std::any_of(contents.box.begin(), contents.box.end(),
                                                    [](const facts::Range& range) { return range.empty(); }))
            return;
        const int32_t on = tile_of(event).core;
        running_[{event.op, event.item}] =
            arithmetic(event.op).execute(contents.box, operands_of(event.op, on), where(event.op, on));
    }

    void end_tile(const ProgramEvent& event) {
        const size_t op = event.op;
        const TileContents& contents = contents_of(event);
        const chip::Tile& tile = tile_of(event);
        if (const auto computed = running_.extract({op, event.item})) fold(op, tile.core, computed.mapped());
        if (!contents.adders.empty()) check_adders(op, tile.core, contents.adders);
        finish(op, tile.core, contents);
        for (const Piece& piece : contents.untouched)
            keep(op, tile.core, piece,
                 std::vector<double>(static_cast<size_t>(piece.elements.size()),
                                     arithmetic(op).untouched(piece.tensor)));
        if (contents.released.empty()) return;
        to_release_[{op, tile.core, tile.step}] = contents.released;
        release(op, tile.core, tile.step);
    }

    void check_adders(size_t op, int32_t on, const std::vector<int32_t>& adders) {
        const std::multiset<int32_t> expected(adders.begin(), adders.end());
        if (adders_[{op, on}] == expected) return;
        fail(op, fmt::format("adds parts of cores [{}] on core {}, expected those of [{}]",
                             fmt::join(adders_[{op, on}], ", "), on, fmt::join(expected, ", ")));
    }

    void finish(size_t op, int32_t on, const TileContents& contents) {
        if (contents.finished.empty()) return;
        const PartialResults complete = partial(op, on);
        const TileOperands operands = bound(op).definition.post ? operands_of(op, on) : TileOperands{};
        for (const Piece& piece : contents.finished) {
            if (piece.elements.empty()) continue;
            (void)result(op, piece.tensor, on, partial_key(op, piece.tensor), piece.elements, "completes");
            std::vector<double> before;
            if (folds_into_previous(bound(op).definition))
                before = operand(op, piece.tensor, on, piece.elements);
            keep(op, on, piece,
                 arithmetic(op).finish(piece, contents.writing, complete, before, operands, where(op, on)));
        }
    }

    /// Stores the complete elements on the core, in the room of the partial ones.
    void keep(size_t op, int32_t on, const Piece& piece, const std::vector<double>& numbers) {
        memory_.drop(on, partial_key(op, piece.tensor), piece.elements);
        memory_.put(on, value_key(to(op, piece.tensor).on_chip), bits_of(op, piece.tensor), piece.elements,
                    numbers);
        if (to(op, piece.tensor).far)
            not_stored_[piece.tensor] = unite(not_stored_[piece.tensor], piece.elements);
    }

    /// Drops rotated parts when the core has computed with them, and they have been passed on.
    void release(size_t op, int32_t on, int64_t step) {
        const auto found = to_release_.find({op, on, step});
        if (found == to_release_.end() || shifts_left_[op][{on, step}] > 0) return;
        for (const Piece& piece : found->second)
            memory_.drop(on, operand_key(op, piece.tensor), piece.elements);
        to_release_.erase(found);
    }

    void end_execute(size_t op) {
        for (const KeptElements& kept : program_.operators[op].kept) {
            const std::vector<double> numbers =
                memory_.at(kept.home.core, value_key(kept.from)).numbers(kept.home.elements);
            memory_.put(kept.home.core, value_key(kept.to),
                        program_.values[static_cast<size_t>(kept.to)].bits, kept.home.elements, numbers);
        }
        for (size_t t = 0; t < program_.operators[op].from.size(); ++t) {
            check_result(op, t);
            memory_.drop(operand_key(op, t));
            memory_.drop(partial_key(op, t));
        }
        for (const int32_t value : last_uses_[op]) memory_.drop(value_key(value));
    }

    /// Checks that a result is in its place, and that new contents of a state are in the HBM.
    void check_result(size_t op, size_t tensor) {
        const int32_t value = to(op, tensor).on_chip;
        if (value < 0) return;
        for (const Home& home : program_.values[static_cast<size_t>(value)].homes)
            if (const Elements missing = memory_.at(home.core, value_key(value)).missing(home.elements);
                !missing.empty())
                fail_missing(op, tensor, home.core, missing, "ends without");
        if (!not_stored_[tensor].empty())
            fail(op, fmt::format("ends without a store of {} elements of {}", not_stored_[tensor].size(),
                                 bound(op).tensor(static_cast<int>(tensor)).name));
    }

    TensorData output(ValueId id, const TensorPlace& at) {
        TensorData data{evaluate(graph_[id].type.shape, call_.symbols), {}};
        if (at.far) data = far_.at(*at.far);
        data.values.resize(static_cast<size_t>(element_count(data.shape)));
        if (at.on_chip < 0) return data;
        std::vector<bool> is_there(data.values.size());
        for (const Home& home : program_.values[static_cast<size_t>(at.on_chip)].homes) {
            HeldNumbers there;
            there.put(home.elements, memory_.at(home.core, value_key(at.on_chip)).numbers(home.elements));
            there.copy_to(data.values, is_there);
        }
        return data;
    }

    const Graph& graph_;
    const ExecutableProgram& program_;
    const ChipTables& tables_;
    const GraphCall& call_;
    ChipMemory memory_;
    FarMemory far_;
    double now_ = 0;
    std::vector<std::unique_ptr<TileArithmetic>> arithmetic_;  ///< of each operator of the tables
    std::map<std::tuple<size_t, TransferKind, size_t>, std::vector<std::vector<double>>> under_way_;
    std::map<std::pair<size_t, size_t>, PartialResults> running_;  ///< by position and tile
    /// Cores whose parts have arrived at a core, by position.
    std::map<std::pair<size_t, int32_t>, std::multiset<int32_t>> adders_;
    /// For each position: shifts of a step that have not left a core, and the parts to drop after them.
    std::vector<std::map<std::pair<int32_t, int64_t>, int64_t>> shifts_left_;
    std::map<std::tuple<size_t, int32_t, int64_t>, std::vector<Piece>> to_release_;
    std::map<size_t, Elements> not_stored_;        ///< new contents, by tensor of the running execute
    std::vector<std::vector<int32_t>> last_uses_;  ///< values, by the position of their last use
};

}  // namespace

ExecutedProgram execute_program(const Graph& graph, const ExecutableProgram& program,
                                const ChipTables& tables, const chip::ChipDescription& chip,
                                const chip::Simulation& simulation, const GraphCall& call) {
    return Execution(graph, program, tables, chip, call).run(events_of(simulation));
}

}  // namespace tessera::partition
