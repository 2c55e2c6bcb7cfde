#include "distribution/relaxation.h"

#include <algorithm>
#include <limits>

#include "support/error.h"

// The dual of the linear relaxation by sequential reweighted message passing (Kolmogorov 2015): every
// operator and every value has a table of numbers, whose sum over all tables is the cost of a plan. Numbers
// are moved between the tables of an operator and of the values that it reads and makes, which changes no
// plan's cost; the sum of the least numbers is a bound, and grows:
//
//   up [ theta(choice) ]  <-->  H [ trees(made, read) - messages ]  <-->  activate [ theta(choice) ]  <--> ..
//
// A sweep visits the operators in order. Each takes all that its values' tables say of its forms, and hands
// equal shares on to the values that reach further. On a chain one sweep back makes the bound exact, for
// every beginning of a plan too.
//
// The table of a value would hold all combinations of forms of its readers. It is never written out: the
// least numbers are those of trees that serve every reader at the price that it names (price_tables.h). Of
// many readers only some take part; the bound is then still one.

namespace tessera::distribution {
namespace {

// The tables of a value have 3^readers entries for each form.
constexpr size_t kMostReaders = 7;
constexpr int kMostSweeps = 60;
// A sweep that gains less ends tighten().
constexpr double kLeastSweepGain = 1e-4;

}  // namespace

Relaxation::Relaxation(const SearchGraph& graph, std::vector<FormSets>& sets, const std::vector<int>& order,
                       const Objective& objective)
    : objective_(objective), order_(order), of_(graph.operators.size()), least_(graph.operators.size(), 0) {
    std::vector<int> steps(order.size());
    for (size_t i = 0; i < order.size(); ++i) steps[size(order[i])] = static_cast<int>(i);
    for (const SearchOperator& op : graph.operators) {
        std::vector<double>& theta = theta_.emplace_back();
        for (const SearchChoice& choice : op.choices) theta.push_back(objective.of({choice.seconds, 0}));
        is_left_.emplace_back(op.choices.size(), true);
    }
    factors_.reserve(graph.values.size());
    for (size_t v = 0; v < graph.values.size(); ++v) add_factor(graph, sets[v], static_cast<int>(v), steps);
    remove_impossible();
    settle();
}

void Relaxation::add_factor(const SearchGraph& graph, FormSets& sets, int value,
                            const std::vector<int>& steps) {
    const Cluster& cluster = graph.values[size(value)];
    Factor& factor = factors_.emplace_back(Factor{PriceTables(cluster, objective_), &sets, 0, {}, 0, {}});
    if (cluster.wanted != kFree) factor.wanted = sets.with(0, cluster.wanted);
    const auto add = [&](int op, bool is_maker) {
        const SearchOperator& node = graph.operators[size(op)];
        const auto tensor = static_cast<size_t>(std::ranges::find(node.values, value) - node.values.begin());
        Argument argument{.op = op, .step = steps[size(op)], .is_maker = is_maker};
        argument.message.assign(cluster.forms.size(), -kInfinity);
        for (const SearchChoice& choice : node.choices) {
            argument.forms.push_back(choice.forms[tensor]);
            argument.message[size(choice.forms[tensor])] = 0;
        }
        of_[size(op)].emplace_back(value, static_cast<int>(factor.arguments.size()));
        factor.arguments.push_back(std::move(argument));
    };
    if (graph.makers[size(value)] >= 0) add(graph.makers[size(value)], true);
    for (const int reader : graph.readers[size(value)])
        if (factor.arguments.size() < kMostReaders) add(reader, false);
    factor.open.resize(factor.arguments.size() + 1);
}

// The price of serving the argument in each form, less what the operator pays.
Costs Relaxation::prices_of(const Argument& argument) {
    Costs prices;
    for (const double message : argument.message) prices.push_back(-message);
    return prices;
}

// The wanted form is one more reader, the last one.
std::vector<Costs> Relaxation::readers_of(const Factor& factor) {
    std::vector<Costs> readers;
    for (const Argument& argument : factor.arguments)
        if (!argument.is_maker) readers.push_back(prices_of(argument));
    if (factor.wanted != 0) {
        Costs& wanted = readers.emplace_back(factor.tables.cluster().forms.size(), kInfinity);
        wanted[size(factor.tables.cluster().wanted)] = 0;
    }
    return readers;
}

Costs Relaxation::roots_of(const Factor& factor) {
    if (!factor.arguments.empty() && factor.arguments[0].is_maker) return prices_of(factor.arguments[0]);
    const Cluster& cluster = factor.tables.cluster();
    Costs roots(cluster.forms.size(), kInfinity);
    if (cluster.given != kFree)
        roots[size(cluster.given)] = 0;
    else
        for (const FormId stored : cluster.storable) roots[size(stored)] = 0;
    return roots;
}

// The least number of the value's table.
double Relaxation::least_of(const Factor& factor) {
    const Costs below = factor.tables.inside(readers_of(factor)).back();
    const Costs roots = roots_of(factor);
    double least = kInfinity;
    for (size_t f = 0; f < roots.size(); ++f) {
        const auto form = static_cast<FormId>(f);
        if (roots[f] < kInfinity)
            least =
                std::min(least, roots[f] + factor.tables.alone(form) + below[size(factor.tables.root(form))]);
    }
    return least;
}

// For each form of the argument the least number of the value's table.
Costs Relaxation::marginal(const Factor& factor, size_t argument) {
    const PriceTables& tables = factor.tables;
    const std::vector<Costs> readers = readers_of(factor);
    const std::vector<Costs> inside = tables.inside(readers);
    Costs least = roots_of(factor);
    if (factor.arguments[argument].is_maker) {
        for (size_t f = 0; f < least.size(); ++f) {
            const auto form = static_cast<FormId>(f);
            if (least[f] < kInfinity) least[f] += tables.alone(form) + inside.back()[size(tables.root(form))];
        }
        return least;
    }
    const size_t reader = argument - (factor.arguments[0].is_maker ? 1 : 0);
    const std::vector<Costs> outside = tables.outside(inside, least);
    for (size_t f = 0; f < least.size(); ++f) least[f] = outside[size_t{1} << reader][f] + readers[reader][f];
    return least;
}

void Relaxation::remove(int op, int choice) {
    is_left_[size(op)][size(choice)] = false;
    for (const auto& [value, a] : of_[size(op)]) {
        Argument& argument = factors_[size(value)].arguments[size(a)];
        const FormId form = argument.forms[size(choice)];
        bool any = false;
        for (size_t x = 0; x < argument.forms.size(); ++x)
            any = any || (argument.forms[x] == form && is_left_[size(op)][x]);
        if (!any) argument.message[size(form)] = -kInfinity;
    }
}

// Choices with forms that no boxes join to any form of the others.
void Relaxation::remove_impossible() {
    for (bool any = true; any;) {
        any = false;
        for (size_t op = 0; op < of_.size(); ++op)
            for (const auto& [value, a] : of_[op]) {
                const Factor& factor = factors_[size(value)];
                const Costs least = marginal(factor, size(a));
                const Argument& argument = factor.arguments[size(a)];
                for (size_t x = 0; x < argument.forms.size(); ++x)
                    if (is_left_[op][x] && least[size(argument.forms[x])] == kInfinity) {
                        remove(static_cast<int>(op), static_cast<int>(x));
                        any = true;
                    }
            }
    }
}

void Relaxation::pass(bool forward) {
    for (size_t i = 0; i < order_.size(); ++i) {
        const int op = order_[forward ? i : order_.size() - 1 - i];
        const int step = static_cast<int>(forward ? i : order_.size() - 1 - i);
        std::vector<double>& theta = theta_[size(op)];
        std::vector<std::pair<int, int>> onward;
        size_t behind = 0;
        for (const auto& [value, a] : of_[size(op)]) {
            Factor& factor = factors_[size(value)];
            Argument& argument = factor.arguments[size(a)];
            const Costs least = marginal(factor, size(a));
            for (size_t f = 0; f < least.size(); ++f)
                if (least[f] < kInfinity) argument.message[f] += least[f];
            for (size_t x = 0; x < theta.size(); ++x)
                if (is_left_[size(op)][x]) theta[x] += least[size(argument.forms[x])];
            bool is_onward = false;
            bool is_behind = false;
            for (const Argument& other : factor.arguments) {
                is_onward = is_onward || (forward ? other.step > step : other.step < step);
                is_behind = is_behind || (forward ? other.step < step : other.step > step);
            }
            if (is_onward) onward.emplace_back(value, a);
            behind += is_behind ? 1 : 0;
        }
        if (onward.empty()) continue;
        const double share = 1.0 / static_cast<double>(std::max(onward.size(), behind));
        const std::vector<double> collected = theta;
        for (const auto& [value, a] : onward) {
            Argument& argument = factors_[size(value)].arguments[size(a)];
            Costs handed(argument.message.size(), kInfinity);
            for (size_t x = 0; x < theta.size(); ++x)
                if (is_left_[size(op)][x]) {
                    double& least = handed[size(argument.forms[x])];
                    least = std::min(least, share * collected[x]);
                }
            for (size_t x = 0; x < theta.size(); ++x)
                if (is_left_[size(op)][x]) theta[x] -= handed[size(argument.forms[x])];
            for (size_t f = 0; f < handed.size(); ++f)
                if (handed[f] < kInfinity) argument.message[f] -= handed[f];
        }
    }
}

void Relaxation::settle() {
    for (size_t op = 0; op < theta_.size(); ++op) {
        least_[op] = kInfinity;
        for (size_t x = 0; x < theta_[op].size(); ++x)
            if (is_left_[op][x]) least_[op] = std::min(least_[op], theta_[op][x]);
    }
    for (Factor& factor : factors_) {
        factor.least = least_of(factor);
        for (std::optional<OpenTables>& open : factor.open) open.reset();
    }
}

double Relaxation::bound() const {
    double sum = 0;
    for (const double least : least_) sum += least;
    for (const Factor& factor : factors_) sum += factor.least;
    return sum;
}

void Relaxation::tighten() {
    double before = bound();
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
        pass(true);
        pass(false);
        settle();
        const double after = bound();
        if (after - before <= kLeastSweepGain * std::abs(after) && sweep > 1) break;
        before = after;
    }
}

void Relaxation::remove_choices_above(double value) {
    const double whole = bound();
    if (whole == kInfinity) return;
    for (size_t op = 0; op < theta_.size(); ++op) {
        double rest = whole - least_[op];
        std::vector<double> numbers = theta_[op];
        for (const auto& [v, a] : of_[op]) {
            const Factor& factor = factors_[size(v)];
            rest -= factor.least;
            const Costs least = marginal(factor, size(a));
            for (size_t x = 0; x < numbers.size(); ++x)
                if (is_left_[op][x]) numbers[x] += least[size(factor.arguments[size(a)].forms[x])];
        }
        for (size_t x = 0; x < numbers.size(); ++x)
            if (is_left_[op][x] && rest + numbers[x] > value)
                remove(static_cast<int>(op), static_cast<int>(x));
    }
    settle();
}

double Relaxation::of_value(int value, int step, const ValueState& state) {
    Factor& factor = factors_[size(value)];
    size_t decided = 0;
    for (const Argument& argument : factor.arguments) decided += argument.step < step ? 1 : 0;
    std::optional<OpenTables>& open = factor.open[decided];
    if (!open) {
        std::vector<Costs> readers;
        for (const Argument& argument : factor.arguments)
            if (argument.step >= step && !argument.is_maker) readers.push_back(prices_of(argument));
        open.emplace(factor.tables, *factor.sets, std::move(readers));
    }
    const Costs& below = open->prices(state.asked);
    const auto from = [&](FormId first) {
        return factor.tables.alone(first) + below[size(factor.tables.root(first))];
    };
    if (state.made >= 0) return from(state.made);
    const Costs roots = roots_of(factor);
    double least = kInfinity;
    for (size_t f = 0; f < roots.size(); ++f)
        if (roots[f] < kInfinity) least = std::min(least, roots[f] + from(static_cast<FormId>(f)));
    return least;
}

}  // namespace tessera::distribution
