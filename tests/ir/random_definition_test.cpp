#include "ir/random_definition.h"

#include <map>

#include <gtest/gtest.h>

#include "ir/fixtures.h"
#include "ir/quasi_affine.h"

namespace tessera {
namespace {

TEST(RandomDefinition, IsTheSameForTheSameSeed) {
    EXPECT_EQ(random_definition_text(3), random_definition_text(3));
    EXPECT_NE(random_definition_text(3), random_definition_text(4));
}

TEST(RandomDefinition, RunsWithinItsBox) {
    for (uint64_t seed = 0; seed < 300; ++seed) {
        const InterpretedFile run = interpret_text(random_definition_text(seed, {.largest_box = 5000}));
        int64_t box = 1;
        for (int64_t extent : run.extents.iterators) box *= extent;
        EXPECT_LE(box, 5000);
        verify(run.file, "random");
    }
}

bool holds(const ExprPtr& expr, Function function) {
    bool found = false;
    walk(expr, [&](const Expr& node) {
        const auto* apply = std::get_if<Apply>(&node.node);
        found |= apply && apply->function == function;
        return true;
    });
    return found;
}

void count_features(const DefinitionFile& file, std::map<std::string, int>& seen) {
    const Definition& d = file.definition;
    seen["monoid " + std::string(name(d.monoid))]++;
    if (d.post) seen["post"]++;
    if (d.where) seen["where"]++;
    if (d.where && !reads_in({d.where}).empty()) seen["where that reads"]++;
    if (d.accumulator == ElementType::kI32) seen["acc i32"]++;
    if (!file.test.unit.empty()) seen["unit"]++;
    if (!file.test.tile.empty()) seen["tile"]++;
    if (file.test.lanes != kDefaultLanes) seen["lanes"]++;
    for (const DimSymbol& dim : d.dims) seen[dim.multiple_of > 1 ? "dim with divisor" : "dim"]++;
    for (size_t t = 0; t < d.tensors.size(); ++t) {
        const TensorDecl& tensor = d.tensors[t];
        const std::string role = tensor.role == Role::kIndex ? "index"
                                 : tensor.role == Role::kIn  ? "in"
                                 : tensor.role == Role::kOut ? "out"
                                                             : "update";
        seen[role]++;
        seen["type " + std::string(name(tensor.type))]++;
        if (accesses(d, static_cast<int>(t)).size() > 1) seen["several reads"]++;
        for (const ExprPtr& component : tensor.map) {
            if (is_indirect(component)) seen["indirect " + role]++;
            for (Function f : {Function::kFloorDiv, Function::kMod, Function::kSub, Function::kMul}) {
                if (holds(component, f)) seen[role + " map with " + std::string(name(f))]++;
            }
        }
    }
    for (const ExprPtr& body : d.body) {
        walk(body, [&](const Expr& node) {
            if (std::holds_alternative<Cast>(node.node)) seen["cast"]++;
            if (std::holds_alternative<IteratorRef>(node.node)) seen["iterator in a body"]++;
            if (const auto* apply = std::get_if<Apply>(&node.node))
                seen[is_special(apply->function) ? "special" : std::string(name(apply->function))]++;
            return true;
        });
    }
}

// The purpose of the generator; a feature that it stops drawing is no longer tested anywhere.
TEST(RandomDefinition, DrawsEveryFeature) {
    std::map<std::string, int> seen;
    for (uint64_t seed = 0; seed < 600; ++seed) count_features(random_definition(seed), seen);
    for (const char* feature : {"monoid ",
                                "monoid sum",
                                "monoid prod",
                                "monoid max",
                                "monoid min",
                                "monoid softmax_sum",
                                "post",
                                "where",
                                "where that reads",
                                "acc i32",
                                "unit",
                                "tile",
                                "lanes",
                                "dim",
                                "dim with divisor",
                                "index",
                                "in",
                                "out",
                                "update",
                                "several reads",
                                "indirect in",
                                "indirect out",
                                "indirect update",
                                "in map with div",
                                "in map with mod",
                                "in map with -",
                                "in map with *",
                                "out map with div",
                                "out map with mod",
                                "out map with *",
                                "update map with div",
                                "index map with div",
                                "cast",
                                "iterator in a body",
                                "special",
                                "+",
                                "-",
                                "*",
                                "/",
                                "div",
                                "mod",
                                "min",
                                "max",
                                "abs",
                                "round",
                                "select",
                                "type f32",
                                "type f16",
                                "type bf16",
                                "type i32",
                                "type i8",
                                "type u8",
                                "type u6",
                                "type i4",
                                "type u4"}) {
        EXPECT_GE(seen[feature], 5) << feature;
    }
}

}  // namespace
}  // namespace tessera
