// Statements are executed one after the other, each for all lanes of its group: as the emitted code does,
// and so that interpreting costs little for each element.
#include "lowering/movement/interpret/run_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/body_value.h"
#include "lowering/movement/interpret/index_value.h"
#include "lowering/movement/interpret/stored_element.h"
#include "support/error.h"

namespace tessera::movement {
namespace {

double folded(Monoid monoid, double a, double b) {
    switch (monoid) {
        case Monoid::kProd:
            return a * b;
        case Monoid::kMax:
            return largest(a, b);
        case Monoid::kMin:
            return smallest(a, b);
        default:
            return a + b;
    }
}

std::string worker_text(uint16_t worker) {
    return worker == Shadow::kSeveral ? "other workers" : fmt::format("worker {}", worker);
}

}  // namespace

KernelRun::KernelRun(const KernelCode& code, std::vector<StorageRun> storages, std::span<const int64_t> slots,
                     const Toucher& who, FaultList& faults)
    : code_(code),
      storages_(std::move(storages)),
      slots_(slots.begin(), slots.end()),
      accumulators_(code.accumulators.size()),
      who_(who),
      faults_(faults) {
    slots_.resize(code.variables);
    tiles_.reserve(code.tiles.size());  // storages point at them
    for (const LocalTile& tile : code.tiles) {
        const size_t bytes = static_cast<size_t>(tile.elements) * sizeof(float);
        tiles_.push_back({std::vector<std::byte>(bytes), Shadow(bytes, Shadow::kNobody)});
        storages_.push_back({tiles_.back().data.data(), tile.elements, ElementType::kF32,
                             &tiles_.back().shadow, 0, 1, false, &tile.name});
    }
}

// ---- integers

int64_t KernelRun::index(const IndexCode& code) {
    return index_value(code, slots_, [this](size_t number, int64_t element) {
        const StorageRun& storage = storages_[number];
        double value = 0;
        if (is_inside(storage, element, element, 0)) load(storage, element, 0, 1, &value);
        return static_cast<int64_t>(value);
    });
}

void KernelRun::check_bounds(const Variable& variable, int64_t value) {
    if (value >= variable.bounds.low && value <= variable.bounds.high && value % variable.multiple_of == 0)
        return;
    faults_.add(RunFault::Kind::kBounds, who_.kernel, variable.name,
                fmt::format("declared as {}..{} by {}", variable.bounds.low, variable.bounds.high,
                            variable.multiple_of),
                value);
}

// ---- memory

bool KernelRun::is_inside(const StorageRun& storage, int64_t first, int64_t last, int64_t stride) {
    const auto [low, high] = std::minmax(first, last);
    if (low >= 0 && high < storage.elements) return true;
    for (int64_t at = first, step = stride == 0 ? 1 : stride; step > 0 ? at <= last : at >= last;
         at += step) {
        if (at < 0 || at >= storage.elements)
            faults_.add(RunFault::Kind::kOutside, who_.kernel, *storage.name,
                        fmt::format("it has {} elements", storage.elements), at);
    }
    return false;
}

void KernelRun::note_read(const StorageRun& storage, int64_t element) {
    const auto size = static_cast<size_t>(bits(storage.element) / 8);
    const size_t begin = storage.shadow_begin + static_cast<size_t>(element) * size;
    const uint32_t owner = storage.shadow->owner(begin, size);
    if (owner == Shadow::kNobody) {
        const bool is_mixed = storage.shadow->first_owner(begin) != Shadow::kNobody;
        faults_.add(is_mixed ? RunFault::Kind::kForeign : RunFault::Kind::kUnwritten, who_.kernel,
                    *storage.name, "", element);
    } else if (storage.is_shared && owner != storage.owner && owner != Shadow::kGiven) {
        faults_.add(RunFault::Kind::kForeign, who_.kernel, *storage.name, "", element);
    }
    if (const auto conflict = storage.shadow->read(begin, size, who_)) {
        faults_.add(RunFault::Kind::kRace, who_.kernel, *storage.name,
                    fmt::format("read by {}, written by {} in kernel {}", worker_text(who_.worker),
                                worker_text(conflict->worker), faults_.kernel(conflict->kernel)),
                    element);
    }
}

void KernelRun::note_write(const StorageRun& storage, int64_t element) {
    const auto size = static_cast<size_t>(bits(storage.element) / 8);
    const size_t begin = storage.shadow_begin + static_cast<size_t>(element) * size;
    if (const auto conflict = storage.shadow->write(begin, size, who_, storage.owner)) {
        faults_.add(RunFault::Kind::kRace, who_.kernel, *storage.name,
                    fmt::format("written by {}, {} by {} in kernel {}", worker_text(who_.worker),
                                conflict->is_write ? "written" : "read", worker_text(conflict->worker),
                                faults_.kernel(conflict->kernel)),
                    element);
    }
}

void KernelRun::load(const StorageRun& storage, int64_t first, int64_t stride, int64_t count, double* values,
                     const double* used) {
    element_values(storage.data, storage.element, first, stride, count, values);
    if (!storage.shadow) return;
    for (int64_t i = 0; i < count; ++i)
        if (!used || used[i] != 0) note_read(storage, first + i * stride);
}

void KernelRun::store(const StorageRun& storage, int64_t element, double value) {
    set_element_value(storage.data, storage.element, element, value);
    note_write(storage, element);
}

// ---- values

double KernelRun::rounded(double number) const {
    return code_.kernel->arithmetic == ElementType::kF32 ? static_cast<float>(number) : number;
}

void KernelRun::value(const ValueCode& code, double* out) {
    std::visit([&](const auto& node) { value_of(node, code.has_lanes, out); }, code.node);
}

double KernelRun::scalar(const ValueCode& code) {
    double out[kWidth];
    value(code, out);
    return out[0];
}

void KernelRun::widened(const ValueCode& code, double* out, int64_t count) {
    value(code, out);
    if (!code.has_lanes) std::fill(out + 1, out + count, out[0]);
}

void KernelRun::value_of(const ConstantCode& code, bool, double* out) {
    out[0] = code.value;
}

void KernelRun::value_of(const IntegerCode& code, bool has_lanes, double* out) {
    const int64_t first = index(code.value);
    out[0] = static_cast<double>(first);
    if (!has_lanes) return;
    for (int64_t l = 1; l < valid_; ++l) out[l] = static_cast<double>(first + l * code.lane_stride);
}

void KernelRun::value_of(const LoadCode& code, bool has_lanes, double* out) {
    const int64_t count = has_lanes ? valid_ : 1;
    int64_t begin = 0, end = count;  // the lanes that are loaded
    for (const LoadCode::Guard& guard : code.guards) {
        const int64_t coordinate = index(guard.coordinate), extent = index(guard.extent);
        const auto is_outside = [&](int64_t lane) {
            const int64_t at = coordinate + lane * guard.lane_stride;
            return at < 0 || at >= extent;
        };
        while (begin < end && is_outside(begin)) ++begin;
        while (begin < end && is_outside(end - 1)) --end;
    }
    std::fill(out, out + count, code.outside);
    if (begin == end) return;
    const StorageRun& storage = storages_[code.from.storage];
    const int64_t stride = code.from.lane_stride, first = index(code.from.offset) + begin * stride;
    if (is_inside(storage, first, first + (end - 1 - begin) * stride, stride)) {
        load(storage, first, stride, end - begin, out + begin, has_lanes && used_ ? used_ + begin : nullptr);
    } else {
        std::fill(out + begin, out + end, std::numeric_limits<double>::quiet_NaN());
    }
}

void KernelRun::value_of(const AccumulatorCode& code, bool has_lanes, double* out) {
    const Lanes& lanes = accumulators_[code.accumulator];
    const Declare& declared = code_.accumulators[code.accumulator];
    if (code.fold_lanes) {
        double total = lanes[0];
        for (int64_t l = 1; l < declared.lanes; ++l)
            total = folded(declared.monoid, total, lanes[static_cast<size_t>(l)]);
        out[0] = rounded(total);
        return;
    }
    const int64_t count = has_lanes ? declared.lanes : 1;
    for (int64_t l = 0; l < count; ++l) out[l] = rounded(lanes[static_cast<size_t>(l)]);
}

void KernelRun::value_of(const ApplyCode& code, bool has_lanes, double* out) {
    const int64_t count = has_lanes ? valid_ : 1;
    double arguments[3][kWidth];
    size_t number = 0;
    const double* const used = used_;
    for (const ValueCode& argument : code.arguments) {
        double selected[kWidth];
        if (code.function == Function::kSelect && number > 0) {
            for (int64_t l = 0; l < count; ++l)
                selected[l] = (arguments[0][l] != 0) == (number == 1) && (!used || used[l] != 0) ? 1 : 0;
            // An argument that no lane selects is not even computed.
            if (std::all_of(selected, selected + count, [](double is) { return is == 0; })) {
                std::fill(arguments[number], arguments[number] + count, 0.0);
                ++number;
                continue;
            }
            used_ = selected;
        }
        value(argument, arguments[number]);
        used_ = used;
        if (has_lanes && !argument.has_lanes)
            std::fill(arguments[number] + 1, arguments[number] + count, arguments[number][0]);
        ++number;
    }
    // Integers are exact; an integer beside an f32 becomes one.
    if (!code.is_exact) {
        for (size_t a = 0; a < number; ++a) {
            if (code.arguments[a].kind != NumberKind::kInteger) continue;
            for (int64_t l = 0; l < count; ++l) arguments[a][l] = rounded(arguments[a][l]);
        }
    }
    for (int64_t l = 0; l < count; ++l) {
        const double a = arguments[0][l], b = number > 1 ? arguments[1][l] : 0;
        double result = 0;
        switch (code.function) {
            case Function::kAdd:
                result = a + b;
                break;
            case Function::kSub:
                result = a - b;
                break;
            case Function::kMul:
                result = a * b;
                break;
            default: {
                const double each[3] = {a, b, number > 2 ? arguments[2][l] : 0};
                result = apply_function(code.function, {each, number});
            }
        }
        out[l] = code.is_exact ? result : rounded(result);
    }
}

void KernelRun::value_of(const RoundCode& code, bool has_lanes, double* out) {
    value(code.argument.front(), out);
    const int64_t count = has_lanes ? valid_ : 1;
    for (int64_t l = 0; l < count; ++l) out[l] = rounded(round_to(code.to, out[l]));
}

// ---- statements

void KernelRun::run(const BodyCode& body) {
    for (const StatementCode& statement : body)
        std::visit([&](const auto& node) { run(node); }, statement.node);
}

void KernelRun::run(const ForCode& loop) {
    const int64_t begin = index(loop.begin), end = index(loop.end);
    for (int64_t at = begin; at < end; at += loop.step) {
        slots_[loop.slot] = at;
        check_bounds(loop.variable, at);
        if (loop.lanes > 0) {
            valid_ = std::min(loop.lanes, end - at);
            in_lanes_ = true;
        }
        run(loop.body);
    }
    if (loop.lanes > 0) {
        valid_ = 1;
        in_lanes_ = false;
    }
}

void KernelRun::run(const LetCode& let) {
    const int64_t value = index(let.value);
    slots_[let.slot] = value;
    check_bounds(let.variable, value);
}

void KernelRun::run(const IfCode& branch) {
    if (scalar(branch.condition) != 0) run(branch.body);
}

void KernelRun::run(const StoreCode& code) {
    double values[kWidth];
    const int64_t stride = code.to.lane_stride;
    const int64_t count = stride != 0 ? valid_ : 1;
    widened(code.value, values, count);
    const StorageRun& storage = storages_[code.to.storage];
    const int64_t first = index(code.to.offset);
    if (!is_inside(storage, first, first + (count - 1) * stride, stride)) return;
    for (int64_t l = 0; l < count; ++l) store(storage, first + l * stride, values[l]);
}

void KernelRun::run(const DeclareCode& declared) {
    accumulators_[declared.accumulator].fill(identity(code_.accumulators[declared.accumulator].monoid));
}

void KernelRun::run(const AccumulateCode& fold) {
    const Declare& declared = code_.accumulators[fold.accumulator];
    const int64_t count = declared.lanes == 1 ? 1 : in_lanes_ ? valid_ : declared.lanes;
    double values[kWidth], conditions[kWidth];
    if (!fold.condition.empty()) {
        widened(fold.condition.front(), conditions, count);
        // A value that no lane folds is not even computed.
        if (std::all_of(conditions, conditions + count, [](double holds) { return holds == 0; })) return;
        used_ = conditions;
    }
    // A product is added without being rounded.
    const auto* product = std::get_if<ApplyCode>(&fold.value.node);
    if (declared.monoid == Monoid::kSum && product && product->function == Function::kMul &&
        fold.value.kind == NumberKind::kFloat) {
        double factors[kWidth];
        widened(product->arguments[0], factors, count);
        widened(product->arguments[1], values, count);
        for (int64_t l = 0; l < count; ++l) values[l] = rounded(factors[l]) * rounded(values[l]);
    } else {
        widened(fold.value, values, count);
    }
    used_ = nullptr;
    Lanes& lanes = accumulators_[fold.accumulator];
    for (int64_t l = 0; l < count; ++l) {
        if (!fold.condition.empty() && conditions[l] == 0) continue;
        double& lane = lanes[static_cast<size_t>(l)];
        lane = folded(declared.monoid, lane, values[l]);
    }
}

void KernelRun::run(const TileCode& tile) {
    const StorageRun& storage = storages_[tile.storage];
    *storage.shadow = Shadow(storage.shadow->size(), Shadow::kNobody);
}

void KernelRun::run(const FillCode& fill) {
    const StorageRun& storage = storages_[fill.to.storage];
    const int64_t first = index(fill.to.offset), count = index(fill.count);
    if (count <= 0 || !is_inside(storage, first, first + count - 1, 1)) return;
    for (int64_t i = 0; i < count; ++i) store(storage, first + i, fill.value);
}

}  // namespace tessera::movement
