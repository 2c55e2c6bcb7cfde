// Published models inside the evaluator: what it counts, beside the exact walk of the same nest (nests/), and
// bounds that no nest goes below.
#include "cost/published.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cost/evaluated.h"
#include "nest/nests/nest_facts.h"
#include "nest/nests/published_price.h"

namespace tessera::cost {
namespace {

using machine::PublishedModel;

constexpr PublishedModel kModels[] = {PublishedModel::kNncase, PublishedModel::kMcfuser,
                                      PublishedModel::kRoofline};

/// A chain of two products with a nest of it, in the notations of graphs and of nests/.
class RandomChain {
public:
    explicit RandomChain(uint64_t seed) : random_(seed) {
        for (int64_t& extent : extents_) extent = 3 + static_cast<int64_t>(below(30));
        has_inner_ = below(2) == 0;
        is_visible_ = below(3) == 0;
        std::vector<char> outer{'m', 'n', 'h'};
        std::ranges::shuffle(outer, random_);
        outer.resize(below(4));
        for (const char x : outer) add(x);
        is_block_.resize(loops_.size());
        bool is_leading = true;
        for (size_t l = 0; l < loops_.size(); ++l)
            is_block_[l] = is_leading = is_leading && loops_[l].first != 'n';
        outer_ = loops_.size();
        if (has_inner_)
            for (const char x : {'k', 'm'})
                if (below(2) == 0 && within(x) == extent(x))
                    add(x);  // a tile of a tile would have to divide it
    }

    std::string graph() const {
        return fmt::format(R"(graph "chain"
input A: f32[{0}, {3}]
input B: f32[{3}, {1}]
input D: f32[{1}, {2}]
value C: f32[{0}, {1}]
value E: f32[{0}, {2}]

block main
  node c(A, B) -> C
    op c(m: {0}, n: {1}, k*: {3})
    in A f32[m, k]
    in B f32[k, n]
    out C f32[m, n] = sum(A * B)
  node e(C, D) -> E
    op e(m: {0}, h: {2}, n*: {1})
    in C f32[m, n]
    in D f32[n, h]
    out E f32[m, h] = sum(C * D)

output E{4}
)",
                           extent('m'), extent('n'), extent('h'), extent('k'), is_visible_ ? ", C" : "");
    }

    std::string nest() const { return text("[loops]", "; ", false); }

    nests::KernelFile file() const {
        return nests::read_kernel_file(fmt::format(R"(op c(m: {0}, n: {1}, k*: {3})
in  A f32[m, k], B f32[k, n]
out C f32[m, n] = sum(A * B)
op e(m: {0}, h: {2}, n*: {1})
in  C f32[m, n], D f32[n, h]
out E f32[m, h] = sum(C * D)
{4}nest
{5}
)",
                                                   extent('m'), extent('n'), extent('h'), extent('k'),
                                                   is_visible_ ? "visible C\n" : "", text("", " ", true)),
                                       "test.nest");
    }

    std::vector<bool> is_tile() const { return {!is_visible_, false}; }
    std::vector<std::string> visible() const {
        return is_visible_ ? std::vector<std::string>{"C"} : std::vector<std::string>{};
    }

private:
    size_t below(size_t end) { return static_cast<size_t>(random_() % end); }
    int64_t extent(char x) const { return extents_[std::string_view("mnhk").find(x)]; }
    /// The values of an iterator inside the loops so far.
    int64_t within(char x) const {
        int64_t left = extent(x);
        for (const auto& [iterator, tile] : loops_)
            if (iterator == x) left = tile;
        return left;
    }
    void add(char x) {
        const int64_t around = within(x);
        if (around > 1)
            loops_.emplace_back(x, 1 + static_cast<int64_t>(below(static_cast<size_t>(around) - 1)));
    }

    std::string text(const std::string& leaf, const std::string& separator, bool has_units) const {
        std::string outer, inner;
        for (size_t l = 0; l < loops_.size(); ++l)
            (l < outer_ ? outer : inner) +=
                fmt::format("{}:{}{} ", loops_[l].first, loops_[l].second,
                            has_units && l < outer_ && is_block_[l] ? "@unit" : "");
        const std::string first = inner.empty() ? "c" + leaf : inner + "{ c" + leaf + " }";
        return fmt::format("{}{{ {}{}e{} }}", outer, first, separator, leaf);
    }

    std::mt19937_64 random_;
    int64_t extents_[4] = {};
    std::vector<std::pair<char, int64_t>> loops_;
    std::vector<bool> is_block_;
    size_t outer_ = 0;
    bool has_inner_ = false, is_visible_ = false;
};

TEST(PublishedModels, CountAsTheExactWalkDoes) {
    int legal = 0;
    for (uint64_t seed = 0; seed < 400; ++seed) {
        const RandomChain chain(seed);
        SCOPED_TRACE(chain.graph() + chain.nest());
        Evaluated mcfuser(chain.graph(), PublishedModel::kMcfuser),
            roofline(chain.graph(), PublishedModel::kRoofline);
        const nests::KernelFile file = chain.file();
        const nests::Kernel kernel = nests::make_kernel(file);
        const auto verdict = nests::derive_facts(kernel, *file.nest, chain.visible(), mcfuser.rates());
        const Evaluation found = mcfuser(chain.nest(), chain.is_tile());
        const auto* facts = std::get_if<nests::NestFacts>(&verdict);
        ASSERT_EQ(facts != nullptr, found.why_infinite.empty()) << found.why_infinite;
        if (!facts) continue;
        ++legal;
        const nests::LeastWork least = nests::least_work(kernel, chain.visible());
        for (auto& [model, evaluation] :
             {std::pair(PublishedModel::kMcfuser, found),
              std::pair(PublishedModel::kRoofline, roofline(chain.nest(), chain.is_tile()))}) {
            const machine::PublishedPrice price =
                nests::price_published(model, *facts, least, mcfuser.rates());
            EXPECT_NEAR(evaluation.seconds, price.seconds, 1e-9 * price.seconds) << name(model);
            EXPECT_NEAR(evaluation.compute, price.compute, 1e-9 * price.compute) << name(model);
            EXPECT_NEAR(evaluation.levels.back(), price.memory, 1e-9 * price.memory) << name(model);
        }
    }
    EXPECT_GT(legal, 200);
}

TEST(PublishedModels, NncaseHasTheLargerOfAllTransfersAndAllCalls) {
    const RandomChain chain(1);
    const Evaluation own = Evaluated(chain.graph())(chain.nest(), chain.is_tile());
    const Evaluation found = Evaluated(chain.graph(), PublishedModel::kNncase)(chain.nest(), chain.is_tile());
    EXPECT_EQ(found.compute, own.compute);
    EXPECT_EQ(found.levels, own.levels);
    EXPECT_EQ(found.stalls, 0);
    EXPECT_EQ(found.seconds,
              std::max(found.compute, std::accumulate(found.levels.begin(), found.levels.end(), 0.0)));
}

/// All published models, and the evaluator's own price.
std::vector<std::optional<PublishedModel>> all_prices() {
    std::vector<std::optional<PublishedModel>> prices(std::begin(kModels), std::end(kModels));
    prices.emplace_back();
    return prices;
}

TEST(Evaluator, NoNestIsBelowTheBoundOfItsOperators) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        const RandomChain chain(seed);
        SCOPED_TRACE(chain.graph() + chain.nest());
        for (const std::optional<PublishedModel>& published : all_prices()) {
            Evaluated kernel(chain.graph(), published);
            const Evaluation found = kernel(chain.nest(), chain.is_tile());
            if (!found.why_infinite.empty()) continue;
            const double least = kernel.least_seconds({"c[loops]", "e[loops]"}, chain.is_tile());
            EXPECT_GT(least, 0);
            EXPECT_LE(least, found.seconds * (1 + 1e-9)) << (published ? name(*published) : "own");
        }
    }
}

/// The reader needs half of the rows.
TEST(Evaluator, TheBoundLeavesOutAProducerOfWhichAPartIsRead) {
    const std::string text = R"(graph "part"
input X: f32[512, 512]
value P: f32[512, 512]
value Y: f32[256]

block main
  node p(X) -> P
    op double(t: 512, s: 512)
    in A f32[t, s]
    out B f32[t, s] = exp(A) + exp(2 * A)
  node y(P) -> Y
    op total(t: 256, s*: 512)
    in B f32[t, s] of [512, 512]
    out C f32[t] = sum(B)

output Y
)";
    for (const std::optional<PublishedModel>& published : all_prices())
        for (const char* nest : {"t:1 s:16 { p[loops lanes=16 x=s]; y[loops lanes=16 x=s] }",
                                 "t:16 { p[loops lanes=16 x=s]; y[loops lanes=16 x=s] }"}) {
            SCOPED_TRACE(nest + (published ? std::string(name(*published)) : ", own"));
            Evaluated kernel(text, published);
            const Evaluation found = kernel(nest, {true, false});
            ASSERT_EQ(found.why_infinite, "");
            EXPECT_LE(kernel.least_seconds({"p[loops lanes=16 x=s]", "y[loops lanes=16 x=s]"}, {true, false}),
                      found.seconds);
        }
}

}  // namespace
}  // namespace tessera::cost
