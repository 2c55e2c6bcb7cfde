#include <functional>

#include <gtest/gtest.h>

#include "ir/fixtures.h"
#include "ir/random_definition.h"
#include "support/error.h"

// Definitions that a program builds go through the same rules; here each rule is broken in a sound
// definition.
namespace tessera {
namespace {

Definition sound() {
    return parse_definition(
        "op f(t: T, s*: 8)\ndim T in 1..8 multiple of 2\nindex id i32[t]\nin X f32[id[t], s] of [9, 8]\nin Z "
        "f32[t]\n"
        "out Y f32[t] = sum(X) * Z\nwhere s <= t\n",
        "sound");
}

/// The message that this change gives, without its place.
std::string broken(const std::function<void(Definition&)>& change) {
    Definition d = sound();
    change(d);
    try {
        verify(d, "built");
    } catch (const Error& error) {
        EXPECT_EQ(error.where, "built");
        return error.what();
    }
    return "";
}

TEST(DefinitionVerifier, AcceptsWhatIsSound) {
    EXPECT_EQ(broken([](Definition&) {}), "");
    for (uint64_t seed = 0; seed < 100; ++seed)
        EXPECT_NO_THROW(verify(random_definition(seed).definition, "random"));
}

TEST(DefinitionVerifier, RefusesWhatNoTextCouldSay) {
    EXPECT_NE(broken([](Definition& d) { d.name = "two words"; }), "");
    EXPECT_NE(broken([](Definition& d) { d.name = ""; }), "");
    EXPECT_NE(broken([](Definition& d) { d.iterators[0].name = "mod"; }), "");
    EXPECT_NE(broken([](Definition& d) { d.iterators[1].name = "t"; }), "");
    EXPECT_NE(broken([](Definition& d) { d.tensors[1].name = "T"; }), "");
    EXPECT_NE(broken([](Definition& d) { d.iterators.clear(); }), "");
    EXPECT_NE(broken([](Definition& d) { d.iterators[0].extent = nullptr; }), "");
    EXPECT_NE(broken([](Definition& d) { d.iterators[0].extent = dim_ref(1); }), "");
    EXPECT_NE(broken([](Definition& d) { d.iterators[0].extent = iterator_ref(1); }), "");
    EXPECT_NE(broken([](Definition& d) { d.iterators[0].extent = fill_position(); }), "");
    EXPECT_NE(broken([](Definition& d) { d.dims[0].multiple_of = 0; }), "");
    EXPECT_NE(broken([](Definition& d) { d.dims[0].low = -2; }), "");
    EXPECT_NE(broken([](Definition& d) { d.dims[0].multiple_of = 16; }), "");
    EXPECT_NE(broken([](Definition& d) { std::swap(d.tensors[0], d.tensors[1]); }), "");
    EXPECT_NE(broken([](Definition& d) { d.tensors.pop_back(); }), "");
    EXPECT_NE(broken([](Definition& d) { d.tensors[3].map = {iterator_ref(7)}; }), "");
    EXPECT_NE(broken([](Definition& d) { d.tensors[3].map = {iterator_ref(-1)}; }), "");
    EXPECT_NE(broken([](Definition& d) { d.tensors[3].map = {}; }), "");
    EXPECT_NE(broken([](Definition& d) { d.tensors[1].shape.reset(); }), "");
    EXPECT_NE(broken([](Definition& d) { d.accumulator = ElementType::kF16; }), "");
    EXPECT_NE(broken([](Definition& d) { d.weights = ElementType::kBF16; }), "");
    EXPECT_NE(broken([](Definition& d) { d.body.clear(); }), "");
    EXPECT_NE(broken([](Definition& d) { d.body.push_back(number(1)); }), "");
    EXPECT_NE(broken([](Definition& d) { d.body[0] = nullptr; }), "");
    EXPECT_NE(broken([](Definition& d) { d.body[0] = apply(Function::kAdd, {d.body[0], folded()}); }), "");
    EXPECT_NE(broken([](Definition& d) {
                  d.body[0] = apply(Function::kAdd, {d.body[0], fill_position()});
              }),
              "");
    EXPECT_NE(broken([](Definition& d) { d.body[0] = apply(Function::kAdd, {d.body[0]}); }), "");
    EXPECT_NE(broken([](Definition& d) {
                  d.body[0] = apply(Function::kAdd, {d.body[0], real(1e300 * 1e300)});
              }),
              "");
    EXPECT_NE(broken([](Definition& d) {
                  d.body[0] = apply(Function::kAdd, {d.body[0], number(int64_t{1} << 60)});
              }),
              "");
    EXPECT_NE(broken([](Definition& d) {
                  d.body[0] = apply(Function::kAdd, {d.body[0], read(3, {iterator_ref(0)}, false)});
              }),
              "");
    EXPECT_NE(broken([](Definition& d) {
                  d.body[0] = apply(Function::kAdd, {d.body[0], read(2, {}, false)});
              }),
              "");
    EXPECT_NE(broken([](Definition& d) {
                  d.body[0] = apply(Function::kAdd, {d.body[0], read(9, {iterator_ref(0)}, false)});
              }),
              "");
    EXPECT_NE(broken([](Definition& d) { d.body[0] = number(1); }), "");
    EXPECT_NE(broken([](Definition& d) { d.post = number(1); }), "");
    EXPECT_NE(broken([](Definition& d) { d.post = apply(Function::kAdd, {d.post, folded()}); }), "");
    EXPECT_NE(broken([](Definition& d) { d.where = folded(); }), "");
    EXPECT_NE(broken([](Definition& d) { d.monoid = Monoid::kSoftmaxSum; }), "");
    EXPECT_NE(broken([](Definition& d) { d.monoid = Monoid::kNone; }), "");
    EXPECT_NE(broken([](Definition& d) { d.tensors[3].role = Role::kUpdate; }), "");
    // A declared map that is not the declared one is checked like coordinates of its own.
    EXPECT_NE(broken([](Definition& d) {
                  d.post = apply(
                      Function::kMul,
                      {folded(), read(2, {apply(Function::kMul, {iterator_ref(0), iterator_ref(0)})}, true)});
              }),
              "");
}

TEST(DefinitionVerifier, ChecksATestPartThatIsBuilt) {
    DefinitionFile file =
        parse_definition_file(print(sound()) + "test\nbind T = 4\nfill id[i] = i\n", "sound");
    EXPECT_NO_THROW(verify(file, "sound"));
    const auto refuses = [&](const std::function<void(TestSetup&)>& change) {
        DefinitionFile changed = file;
        change(changed.test);
        EXPECT_THROW(verify(changed, "built"), Error);
    };
    refuses([](TestSetup& test) { test.bind.clear(); });
    refuses([](TestSetup& test) { test.bind["T"] = 3; });
    refuses([](TestSetup& test) { test.bind["S"] = 3; });
    refuses([](TestSetup& test) { test.fill.clear(); });
    refuses([](TestSetup& test) { test.fill["Z"] = number(1); });
    refuses([](TestSetup& test) { test.fill["id"] = real(0.5); });
    refuses([](TestSetup& test) { test.tile["u"] = {1, 0}; });
    refuses([](TestSetup& test) { test.tile["t"] = {2, 1}; });
    refuses([](TestSetup& test) { test.tile["t"] = {2, -2}; });
    refuses([](TestSetup& test) { test.lanes = 0; });
    refuses([](TestSetup& test) { test.unit = {{"A", {{"m", 4}}}}; });
}

}  // namespace
}  // namespace tessera
