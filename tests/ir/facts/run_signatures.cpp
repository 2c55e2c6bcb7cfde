#include "ir/facts/run_signatures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "ir/facts/enumerated.h"
#include "ir/facts/exact_casts.h"
#include "ir/facts/linear.h"
#include "ir/facts/sbp.h"
#include "support/error.h"

namespace tessera::facts {
namespace {

using facts::Range;
using facts::Sbp;
using facts::Signature;
using Tensors = std::vector<TensorData>;

constexpr int kContents = 4;
constexpr double kGarbage = std::numeric_limits<double>::quiet_NaN();

class SignatureRunner {
public:
    SignatureRunner(const DefinitionFile& file, const std::string& where)
        : run_(file, where),
          where_(where),
          definition_(without_exact_casts(file.definition)),
          contents_(test_contents(file, run_.extents(), where)) {}

    SignatureRun all() {
        const facts::BoundDefinition bound{run_.definition(), run_.extents(), index_contents(), where_};
        const auto sbp = facts::derive_sbp(bound);
        const auto linear = facts::derive_linear(bound);
        for (int round = 0; round < kContents; ++round) {
            if (round > 0) draw_contents();
            for (size_t i = 0; i < sbp.size(); ++i)
                if (sbp[i]) check_halves(static_cast<int>(i), *sbp[i]);
            for (size_t t = 0; t < linear.size(); ++t)
                if (linear[t]) check_parts(static_cast<int>(t), *linear[t]);
        }
        return result_;
    }

private:
    std::vector<std::vector<double>> index_contents() const {
        std::vector<std::vector<double>> found(definition_.tensors.size());
        for (size_t t = 0; t < found.size(); ++t)
            if (definition_.tensors[t].role == Role::kIndex) found[t] = contents_[t].values;
        return found;
    }

    // Small numbers, so that no product of many overflows; every sign that the type has.
    void draw_contents() {
        for (size_t t = 0; t < contents_.size(); ++t) {
            const TensorDecl& tensor = definition_.tensors[t];
            if (tensor.role == Role::kIndex) continue;
            for (double& value : contents_[t].values) {
                value = std::uniform_real_distribution<double>(-1.6, 1.6)(random_);
                if (!is_integer(tensor.type)) continue;
                const IntegerRange r = range(tensor.type);
                value = static_cast<double>(std::uniform_int_distribution<int64_t>(
                    std::max<int64_t>(r.low, -4), std::min<int64_t>(r.high, 4))(random_));
            }
        }
    }

    Tensors interpret_with(const Definition& d, const Tensors& data) const {
        return interpret(d, run_.extents(), data, where_, false);
    }

    static Range half(int64_t extent, int device) {
        const int64_t middle = (extent + 1) / 2;
        return device == 0 ? Range{0, middle} : Range{middle, extent};
    }
    static bool in_half(const TensorData& tensor, size_t position, int axis, int device) {
        size_t stride = 1;
        for (size_t a = tensor.shape.size() - 1; a > static_cast<size_t>(axis); --a)
            stride *= static_cast<size_t>(tensor.shape[a]);
        const int64_t extent = tensor.shape[static_cast<size_t>(axis)];
        const auto at = static_cast<int64_t>(position / stride) % extent;
        const Range mine = half(extent, device);
        return mine.first <= at && at < mine.last;
    }

    Tensors share(int iterator, const Signature& signature, int device) const {
        Definition d = definition_;
        const Range mine = half(run_.extents().iterators[static_cast<size_t>(iterator)], device);
        const ExprPtr x = iterator_ref(iterator);
        const ExprPtr inside = apply(Function::kAnd, {apply(Function::kGreaterEqual, {x, number(mine.first)}),
                                                      apply(Function::kLess, {x, number(mine.last)})});
        d.where = d.where ? apply(Function::kAnd, {inside, d.where}) : inside;
        Tensors data = contents_;
        for (size_t t = 0; t < data.size(); ++t) {
            const Role role = definition_.tensors[t].role;
            if (role == Role::kIndex || role == Role::kOut)
                continue;  // the interpreter refuses garbage indices
            for (size_t i = 0; i < data[t].values.size(); ++i) {
                if (signature[t].kind == Sbp::Kind::kSplit && !in_half(data[t], i, signature[t].axis, device))
                    data[t].values[i] = kGarbage;
                if (signature[t].kind == Sbp::Kind::kPartial && device == 1)
                    data[t].values[i] = identity(definition_.monoid);
            }
        }
        return interpret_with(d, data);
    }

    static double fold(Monoid monoid, double a, double b) {
        switch (monoid) {
            case Monoid::kSum:
                return a + b;
            case Monoid::kProd:
                return a * b;
            case Monoid::kMax:
                return largest(a, b);
            case Monoid::kMin:
                return smallest(a, b);
            default:
                TESSERA_CHECK(false, "no fold");
                return 0;
        }
    }

    // M, L, A of both devices, rescaled to the common maximum.
    Tensors fold_weights(const Tensors& a, const Tensors& b) const {
        const std::vector<int> results = definition_.results();
        const auto position = [&](size_t r, const Point& point) {
            const auto t = static_cast<size_t>(results[r]);
            int64_t at = 0;
            const Point coordinates = run_.coordinates(definition_.tensors[t].map, point);
            for (size_t axis = 0; axis < coordinates.size(); ++axis)
                at = at * run_.extents().shapes[t][axis] + coordinates[axis];
            return static_cast<size_t>(at);
        };
        Tensors folded = a;
        for (double& value : folded[1].values) value = 0;
        for (double& value : folded[2].values) value = 0;
        for (size_t i = 0; i < folded[0].values.size(); ++i)
            folded[0].values[i] = largest(a[0].values[i], b[0].values[i]);
        const auto rescaled = [&](const Tensors& part, size_t m, double value) {
            return std::isinf(part[0].values[m]) ? 0
                                                 : std::exp(part[0].values[m] - folded[0].values[m]) * value;
        };
        for (const Point& point : run_.box()) {
            const size_t m = position(0, point);
            for (size_t r = 1; r < 3; ++r) {
                const size_t at = position(r, point);
                folded[r].values[at] = rescaled(a, m, a[r].values[at]) + rescaled(b, m, b[r].values[at]);
            }
        }
        return folded;
    }

    void expect(bool holds, const std::string& what) {
        if (!holds) result_.broken.push_back(what);
    }

    // Elements of the whole that are no finite numbers say nothing here.
    static bool near(const std::vector<double>& got, const std::vector<double>& want) {
        double largest_number = 1e-30;
        for (const double value : want)
            if (std::isfinite(value)) largest_number = std::max(largest_number, std::abs(value));
        for (size_t i = 0; i < want.size(); ++i)
            if (std::isfinite(want[i]) && !(std::abs(got[i] - want[i]) <= 1e-9 * largest_number))
                return false;
        return true;
    }

    void check_halves(int iterator, const Signature& signature) {
        ++result_.checked;
        const Tensors whole = interpret_with(definition_, contents_);
        const Tensors shares[] = {share(iterator, signature, 0), share(iterator, signature, 1)};
        const std::vector<int> results = definition_.results();
        const std::string& x = definition_.iterators[static_cast<size_t>(iterator)].name;
        for (size_t r = 0; r < results.size(); ++r) {
            const Sbp& placed = signature[static_cast<size_t>(results[r])];
            const std::string what =
                fmt::format("sbp of {}, {} {}", x, definition_.tensors[static_cast<size_t>(results[r])].name,
                            text(placed));
            std::vector<double> joined = shares[0][r].values;
            if (placed.kind == Sbp::Kind::kSplit) {
                for (size_t i = 0; i < joined.size(); ++i)
                    if (!in_half(whole[r], i, placed.axis, 0)) joined[i] = shares[1][r].values[i];
            } else if (placed.kind == Sbp::Kind::kBroadcast) {
                expect(near(shares[1][r].values, whole[r].values), what + " on the second device");
            } else if (placed.monoid == Monoid::kSoftmaxSum) {
                joined = fold_weights(shares[0], shares[1])[r].values;
            } else {
                for (size_t i = 0; i < joined.size(); ++i)
                    joined[i] = fold(placed.monoid, joined[i], shares[1][r].values[i]);
            }
            expect(near(joined, whole[r].values), what);
        }
    }

    void check_parts(int tensor, const Signature& signature) {
        ++result_.checked;
        const Tensors whole = interpret_with(definition_, contents_);
        Tensors parts[] = {contents_, contents_};
        for (size_t t = 0; t < contents_.size(); ++t) {
            if (static_cast<int>(t) != tensor && definition_.tensors[t].role != Role::kUpdate) continue;
            for (size_t i = 0; i < contents_[t].values.size(); ++i) {
                parts[0][t].values[i] = std::uniform_real_distribution<double>(-3, 3)(random_);
                parts[1][t].values[i] = contents_[t].values[i] - parts[0][t].values[i];
            }
        }
        const Tensors first = interpret_with(definition_, parts[0]);
        const Tensors second = interpret_with(definition_, parts[1]);
        const std::vector<int> results = definition_.results();
        for (size_t r = 0; r < results.size(); ++r) {
            const bool adds = signature[static_cast<size_t>(results[r])].kind == Sbp::Kind::kPartial;
            std::vector<double> sum = first[r].values;
            for (size_t i = 0; i < sum.size() && adds; ++i) sum[i] += second[r].values[i];
            const std::string what =
                fmt::format("linear in {}", definition_.tensors[static_cast<size_t>(tensor)].name);
            expect(near(sum, whole[r].values), what);
            if (!adds) expect(near(second[r].values, whole[r].values), what + ", the second copy");
        }
    }

    Enumerated run_;
    std::string where_;
    Definition definition_;
    Tensors contents_;
    std::mt19937_64 random_{7};
    SignatureRun result_;
};

}  // namespace

SignatureRun run_signatures(const DefinitionFile& file, const std::string& where) {
    return SignatureRunner(file, where).all();
}

}  // namespace tessera::facts
