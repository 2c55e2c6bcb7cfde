#include "cost/cost_model.h"

#include <algorithm>

#include "cost/linear_model.h"
#include "cost/typical_blocks.h"
#include "cost/typical_rates.h"
#include "ir/facts/work.h"
#include "ir/iterator_use.h"
#include "lowering/kernels/block_contraction.h"
#include "lowering/kernels/contraction.h"
#include "lowering/kernels/parameters.h"
#include "support/error.h"

namespace tessera::cost {
namespace {

std::vector<Observation> observations(const machine::Machine& machine) {
    std::vector<Observation> found;
    for (const machine::MicroKernelTime& time : machine.micro_kernels) {
        if (time.work.empty()) continue;
        const auto each = counts(vector_work_of(time.work));
        found.push_back({{each.begin(), each.end()}, time.seconds});
    }
    return found;
}

/// The weights that fit the table best, except that an element alone takes as long as a group of them: if
/// fitted to the few gathers in the table, its weight might come out as nothing.
std::vector<double> fitted_weights(const machine::Machine& machine) {
    std::vector<double> weights = fit(observations(machine));
    const auto at = [&](double VectorWork::*count) -> double& {
        const auto found = std::ranges::find(kVectorWorkCounts, count, &VectorWorkCount::member);
        return weights[static_cast<size_t>(found - kVectorWorkCounts.begin())];
    };
    at(&VectorWork::gathers) = std::max(at(&VectorWork::gathers), at(&VectorWork::loads));
    return weights;
}

std::vector<double> typical_weights(const machine::Machine& machine) {
    std::vector<double> weights;
    for (const double operations : counts(kTypicalOperations))
        weights.push_back(operations * seconds_of_an_operation(machine));
    return weights;
}

machine::Machine roofs_of(machine::Machine machine) {
    machine.micro_kernels.clear();
    return with_typical_rates(std::move(machine));
}

/// The work of a streaming softmax for each score: its share of the maximum, the difference, the sum and exp.
constexpr facts::OperationCount kSoftmaxOfScore{.flops = 3, .special = 1};
/// Its work for each row of a tile, in groups of scores: the maximum and the sum over the lanes, and the
/// factor of what was summed before. On a Zen 5, tiles of 96 positions take 3 to 7 ns a row longer than their
/// scores.
constexpr double kSoftmaxOfRow = 2;

/// One pass over so many groups of lanes that are read and written.
VectorWork one_pass(double groups, const facts::OperationCount& each) {
    return {.steps = groups,
            .flops = groups * static_cast<double>(each.flops),
            .special = groups * static_cast<double>(each.special),
            .loads = 2 * groups};
}

/// Instructions that make a register of B in blocks from numbers of so many bits: bytes are there, two of
/// four bits share a byte, and those of five or six are put together.
double decoding_of_blocks(int bits) {
    return bits >= 8 ? 0 : bits == 4 ? 2 : 8;
}

/// Instructions that make a register of the product's B: conversions of what is stored to f32, and the
/// expression that B is. Units that take factors as they are stored need none.
double decoding_of(const Definition& definition, const plan::Leaf& leaf, const plan::KernelTypes& types) {
    const plan::MicroKernel& kernel = *leaf.kernel;
    if (!kernel.factors) {
        const int n = plan::iterator_of(definition, leaf, *kernel.product.n);
        for (const kernels::BlockContraction& product : kernels::block_contractions_of(definition))
            if (contains(product.n, n))
                return decoding_of_blocks(
                    bits(definition.tensors[static_cast<size_t>(product.b.tensor)].type));
        return 0;
    }
    if (kernel.factors(leaf, types).b != "f32") return 0;
    ExprPtr b;
    if (definition.monoid == Monoid::kSoftmaxSum) {
        b = definition.body[1];
    } else {
        const int m = plan::iterator_of(definition, leaf, *kernel.product.m),
                  n = plan::iterator_of(definition, leaf, *kernel.product.n),
                  k = plan::iterator_of(definition, leaf, *kernel.product.k);
        const std::optional<kernels::Contraction> product = kernels::contraction_by(definition, m, n, k);
        if (!product) return 0;
        b = product->b;
    }
    const facts::OperationCount operations = facts::count_operations(b);
    VectorWork work{.flops = static_cast<double>(operations.flops),
                    .special = static_cast<double>(operations.special),
                    .loads = -1};  // the product itself loads a register of it
    for (const Read& read : reads_in({b})) {
        ++work.loads;
        if (definition.tensors[static_cast<size_t>(read.tensor)].type != ElementType::kF32)
            ++work.conversions;
    }
    return std::max(0.0, typical_operations(work));
}

}  // namespace

bool is_measured(const machine::Machine& machine) {
    return !machine.memory.back().read_bandwidth.empty() && !observations(machine).empty();
}

CostModel::CostModel(const machine::Machine& machine)
    : is_measured_(tessera::cost::is_measured(machine)),
      machine_(is_measured_ ? machine : roofs_of(machine)),
      times_(machine_),
      weights_(is_measured_ ? fitted_weights(machine_) : typical_weights(machine_)),
      near_level_(tessera::machine::near_level(machine)) {}

LeafCost CostModel::leaf(const Definition& definition, const plan::Leaf& leaf,
                         const std::vector<int64_t>& extents, const std::vector<Layout>& layouts) const {
    return priced(definition, leaf, layouts)(extents);
}

CostModel::PricedLeaf CostModel::priced(const Definition& definition, const plan::Leaf& leaf,
                                        const std::vector<Layout>& layouts) const {
    return {*this, definition, leaf, layouts};
}

CostModel::PricedLeaf::PricedLeaf(const CostModel& model, const Definition& definition,
                                  const plan::Leaf& leaf, std::vector<Layout> layouts)
    : model_(model), definition_(definition), leaf_(leaf), layouts_(std::move(layouts)) {
    const plan::MicroKernel& kernel = *leaf.kernel;
    if (const std::string why = kernel.why_not(definition); !why.empty()) {
        why_infinite_ = fmt::format("{} does not implement it: {}", kernel.name, why);
        return;
    }
    is_product_ = kernel.product.n && leaf.is_given(*kernel.product.n);
    if (!is_product_) return;
    types_ = kernel.types(definition, leaf);
    if (types_.empty()) {
        why_infinite_ = fmt::format("{} finds no product in it by these iterators", kernel.name);
        return;
    }
    const plan::ProductParameters& names = kernel.product;
    m_ = plan::iterator_of(definition, leaf, *names.m);
    n_ = plan::iterator_of(definition, leaf, *names.n);
    sums_ = plan::sums_of_call(definition, leaf);
    if (names.k) k_ = plan::iterator_of(definition, leaf, *names.k);
    bits_of_b_ = bits_of_type(types_.at("B"));
    unit_ = unit_of(model.machine_, leaf, types_);
    if (unit_) unit_->decoding = decoding_of(definition, leaf, types_);
    times_.emplace(model.times_.of_calls(
        {.micro_kernel = std::string(kernel.name), .types = types_, .parameters = leaf.numbers()}));
}

LeafCost CostModel::PricedLeaf::operator()(const std::vector<int64_t>& extents) {
    TESSERA_CHECK(extents.size() == definition_.iterators.size(), "{}", extents.size());
    if (!why_infinite_.empty()) return {.why_infinite = why_infinite_};
    return is_product_ ? product(extents) : vector_loops(extents);
}

LeafCost CostModel::PricedLeaf::product(const std::vector<int64_t>& extents) {
    int64_t m = 1, n = 1, k = 1, runs = 1;
    double calls = 1;
    for (int x = 0; x < static_cast<int>(extents.size()); ++x) {
        const int64_t extent = extents[static_cast<size_t>(x)];
        if (x == m_) {
            m = extent;
        } else if (x == n_) {
            n = extent;
        } else if (contains(sums_, x)) {
            k *= extent;
            if (x != k_ && sums_.size() > 1) runs *= std::max<int64_t>(1, extent);
        } else {
            calls *= static_cast<double>(extent);
        }
    }
    const auto lanes = static_cast<double>(leaf_.number(kernels::parameter::kLanes));
    const double rows = calls * static_cast<double>(m);
    double passes = 0;
    if (definition_.monoid == Monoid::kSoftmaxSum && definition_.where)
        passes += model_.seconds_of(
            one_pass(rows * static_cast<double>(k) / lanes, facts::count_operations(definition_.where)));
    if (definition_.post)
        passes += model_.seconds_of(
            one_pass(rows * static_cast<double>(n) / lanes, facts::count_operations(definition_.post)));
    const double streamed = calls * static_cast<double>(n * k) * bits_of_b_ / 8;
    if (const auto time = (*times_)(m, n, k)) {
        const Longer longer = longer_than_listed(m, n, k, runs, time->least_k);
        const double seconds = calls * time->near_seconds;
        return {.near_seconds = longer.all * seconds + passes,
                .least_seconds = longer.least * seconds + passes,
                .stall_per_byte = time->stall_per_byte,
                .streamed_bytes = streamed,
                .calls = calls};
    }
    if (!unit_)
        return {.why_infinite = fmt::format("the machine has neither a time of {} nor a peak of {} by {}",
                                            leaf_.kernel->name, types_.at("A"), types_.at("B"))};
    if (definition_.monoid == Monoid::kSoftmaxSum)
        passes += model_.seconds_of(
            one_pass(rows * (static_cast<double>(k) / lanes + kSoftmaxOfRow), kSoftmaxOfScore));
    const TypicalProduct typical = typical_product(*unit_, leaf_, m, n, k, runs);
    return {.near_seconds = calls * typical.all + passes,
            .least_seconds = calls * least_product_seconds(*unit_, leaf_, m, n, k) + passes,
            .first_seconds = calls * typical.first,
            .ahead_seconds = static_cast<double>(leaf_.number(kernels::parameter::kPrefetch)) * 8 /
                             (lanes * unit_->depth * bits_of_b_) * typical.step,
            .streamed_bytes = streamed,
            .calls = calls};
}

CostModel::PricedLeaf::Longer CostModel::PricedLeaf::longer_than_listed(int64_t m, int64_t n, int64_t k,
                                                                        int64_t runs, int64_t least_k) const {
    const bool is_listed = k >= least_k && runs == 1;
    if (is_listed || std::min({m, n, k}) < 1 || k_ < 0 || !unit_ ||
        leaf_.kernel->unit == machine::UnitKind::kMatrix)
        return {};
    const int64_t listed = std::max(k, least_k);
    const double more = static_cast<double>(listed) / static_cast<double>(k);
    const double all = more * typical_product(*unit_, leaf_, m, n, k, runs).all /
                       typical_product(*unit_, leaf_, m, n, listed, 1).all;
    const double least = more * least_product_seconds(*unit_, leaf_, m, n, k) /
                         least_product_seconds(*unit_, leaf_, m, n, listed);
    return {.all = std::max(1.0, all), .least = std::max(1.0, std::min(all, least))};
}

LeafCost CostModel::PricedLeaf::vector_loops(const std::vector<int64_t>& extents) const {
    const double seconds = model_.seconds_of(
        vector_work(definition_, extents, leaf_, machine::vector_lanes(model_.machine_), layouts_));
    return {.near_seconds = seconds, .least_seconds = seconds};
}

double CostModel::seconds_of(const VectorWork& work) const {
    const auto each = counts(work);
    double seconds = 0;
    for (size_t i = 0; i < weights_.size(); ++i) seconds += weights_[i] * each[i];
    return seconds;
}

double CostModel::seconds_per_byte(size_t level, int64_t workers) const {
    for (; level < machine_.memory.size(); ++level) {
        if (const machine::ReadBandwidth* rate = machine::find_bandwidth(machine_.memory[level], workers))
            return static_cast<double>(rate->threads) / rate->bytes_per_second;
    }
    return 0;
}

double CostModel::stall_per_byte(double stall, size_t level, int64_t workers) const {
    if (level <= near_level_) return 0;
    const double near = seconds_per_byte(near_level_, 1);
    const double far = seconds_per_byte(machine_.memory.size() - 1, 1);
    return far > near ? stall * std::max(0.0, seconds_per_byte(level, workers) - near) / (far - near) : stall;
}

int64_t CostModel::capacity(size_t level, int64_t workers) const {
    const machine::MemoryLevel& memory = machine_.memory[level];
    return memory.capacity_bytes / std::max<int64_t>(1, std::min(memory.shared_by_cores, workers));
}

double CostModel::barrier_seconds(int64_t workers) const {
    double seconds = 0;
    for (const machine::BarrierCost& barrier : machine_.barriers) {
        if (barrier.threads <= workers || seconds == 0) seconds = barrier.seconds;
    }
    return workers > 1 ? seconds : 0;
}

}  // namespace tessera::cost
