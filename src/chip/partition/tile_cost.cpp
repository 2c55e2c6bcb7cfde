#include "chip/partition/tile_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera::partition {
namespace {

bool is_operand(const Definition& definition, const ExprPtr& factor) {
    const auto* read = std::get_if<Read>(&factor->node);
    return read && definition.tensors[static_cast<size_t>(read->tensor)].role == Role::kIn;
}

double iterations_along(const std::vector<int>& iterators, const TileSizes& sizes) {
    double product = 1;
    for (const int i : iterators) product *= static_cast<double>(sizes[static_cast<size_t>(i)]);
    return product;
}

double whole_blocks(double extent, int64_t block) {
    const auto size = static_cast<double>(block);
    return std::ceil(extent / size) * size;
}

}  // namespace

std::optional<facts::ProductRoles> matrix_roles(const Definition& definition) {
    const auto factors = facts::two_factors(definition);
    if (!factors || !is_operand(definition, factors->second) ||
        (definition.monoid == Monoid::kSum && !is_operand(definition, factors->first)))
        return std::nullopt;
    facts::ProductRoles roles =
        facts::product_roles(definition, iterators_in(factors->first), iterators_in(factors->second));
    // A sum of squares is no product of matrices.
    if (roles.summed.empty() || (roles.rows.empty() && roles.columns.empty())) return std::nullopt;
    return roles;
}

double product_flops(const facts::BoundDefinition& bound) {
    if (!matrix_roles(bound.definition)) return 0;
    double flops = 2;
    for (const int64_t extent : bound.extents.iterators) flops *= static_cast<double>(extent);
    return flops;
}

TileCost::TileCost(const facts::BoundDefinition& bound, const Footprints& footprints,
                   const chip::ChipDescription& chip)
    : bound_(bound), footprints_(footprints), chip_(chip), roles_(matrix_roles(bound.definition)) {
    const Definition& definition = bound.definition;
    body_ = facts::count_operations(definition.body[0]);
    post_ = facts::count_operations(definition.post);
    for (const machine::TileCosts& each : chip.tile_costs)
        if (each.kind == kind()) fitted_ = &each;
    is_scored_.assign(definition.iterators.size(), true);
    if (definition.monoid != Monoid::kSoftmaxSum) return;
    value_ = facts::count_operations(definition.body[1]);
    // Score and weight are computed once for the parallel iterators that the sum of the weights does not
    // have.
    const std::vector<int> held =
        iterators_in(definition.tensors[static_cast<size_t>(definition.results()[1])].map);
    for (size_t i = 0; i < is_scored_.size(); ++i)
        is_scored_[i] = definition.iterators[i].is_reduction ||
                        std::find(held.begin(), held.end(), static_cast<int>(i)) != held.end();
}

double TileCost::matrix_flops(const TileSizes& sizes) const {
    if (!uses_matrix_unit()) return 0;
    const auto& [m, n, k] = chip_.matrix->block;
    const double rows = iterations_along(roles_->rows, sizes),
                 columns = iterations_along(roles_->columns, sizes);
    const double outer = std::min(whole_blocks(rows, m) * whole_blocks(columns, n),
                                  whole_blocks(columns, m) * whole_blocks(rows, n));
    return 2 * outer * whole_blocks(iterations_along(roles_->summed, sizes), k) *
           iterations_along(roles_->batch, sizes);
}

double TileCost::vector_flops(const TileSizes& sizes) const {
    const double special = chip_.vector.special_flops;
    const auto flops = [&](const facts::OperationCount& count) {
        return static_cast<double>(count.flops) + special * static_cast<double>(count.special);
    };
    const Definition& definition = bound_.definition;
    double points = 1, scored = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
        points *= static_cast<double>(sizes[i]);
        if (is_scored_[i]) scored *= static_cast<double>(sizes[i]);
    }
    double sum = 0;
    if (definition.monoid == Monoid::kSoftmaxSum) {
        sum = scored * (flops(body_) + 3 + special);
        if (!uses_matrix_unit()) sum += points * (flops(value_) + 2);
    } else if (!uses_matrix_unit()) {
        // A move of elements costs as much as an operation on them.
        sum = points * std::max(1.0, flops(body_) + (definition.monoid != Monoid::kNone ? 1 : 0));
    }
    if (definition.post)
        sum += flops(post_) *
               static_cast<double>(footprints_.elements(static_cast<size_t>(definition.results()[0]), sizes));
    return sum;
}

double TileCost::sram_bytes(const TileSizes& sizes) const {
    double sum = 0;
    for (size_t t = 0; t < bound_.definition.tensors.size(); ++t)
        sum += static_cast<double>(footprints_.bytes(t, sizes));
    return sum;
}

machine::TileKind TileCost::kind() const {
    const Monoid monoid = bound_.definition.monoid;
    if (monoid == Monoid::kSoftmaxSum && roles_) return machine::TileKind::kAttention;
    if (roles_) return machine::TileKind::kProduct;
    return monoid == Monoid::kNone ? machine::TileKind::kElementwise : machine::TileKind::kReduction;
}

std::vector<double> TileCost::inputs(const TileSizes& sizes) const {
    const machine::TileKind own = kind();
    double iterations = 1;
    for (const int64_t size : sizes) iterations *= static_cast<double>(size);
    if (own == machine::TileKind::kProduct || own == machine::TileKind::kAttention)
        return {iterations_along(roles_->rows, sizes), iterations_along(roles_->columns, sizes),
                iterations_along(roles_->summed, sizes), iterations_along(roles_->batch, sizes), iterations};
    const double operations = iterations * static_cast<double>(body_.flops + value_.flops);
    const double special = iterations * static_cast<double>(body_.special + value_.special);
    if (own == machine::TileKind::kElementwise) return {iterations, operations, special};
    const auto result = static_cast<size_t>(bound_.definition.results()[0]);
    return {static_cast<double>(footprints_.elements(result, sizes)), iterations, operations, special};
}

double TileCost::cycles(const TileSizes& sizes) const {
    if (fitted_) return fitted_->cycles(inputs(sizes));
    double units = vector_flops(sizes) / chip_.vector.flops_per_cycle;
    if (uses_matrix_unit()) units += matrix_flops(sizes) / chip_.matrix->flops_per_cycle;
    return std::max(units, sram_bytes(sizes) / chip_.port_bytes_per_cycle) + chip_.tile_overhead;
}

}  // namespace tessera::partition
