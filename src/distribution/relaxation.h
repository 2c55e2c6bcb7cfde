#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "distribution/price_tables.h"

/// Lower bounds: the graph taken apart into operators and values, which agree on prices of forms instead of
/// on forms.
namespace tessera::distribution {

/// The decisions about one value so far: of its maker, and of its readers.
struct ValueState {
    static constexpr FormId kUnmade = -2;
    FormId made = kUnmade;  ///< kFree: any that may be stored
    SetId asked = 0;
    bool operator==(const ValueState&) const = default;
};

class Relaxation {
public:
    /// @param order in which operators will be decided; the bounds are best along it
    /// @param sets of each value
    /// @pre all of them outlive this
    Relaxation(const SearchGraph& graph, std::vector<FormSets>& sets, const std::vector<int>& order,
               const Objective& objective);

    /// Improves the bound by sweeps over the operators, until one gains little.
    void tighten();

    /// The bound on every plan.
    double bound() const;
    /// Takes out the choices that no plan of a lower value than this can have.
    void remove_choices_above(double value);
    bool is_left(int op, int choice) const { return is_left_[size(op)][size(choice)]; }

    /// The least value of this operator alone, and of a value that is wholly undecided.
    double of_operator(int op) const { return least_[size(op)]; }
    double of_value(int value) const { return factors_[size(value)].least; }
    /// The same for a value of which something is decided: `step` operators of the order. No less than what
    /// the value costs, less what undecided operators account for.
    double of_value(int value, int step, const ValueState& state);

    const Objective& objective() const { return objective_; }

private:
    static size_t size(int i) { return static_cast<size_t>(i); }

    /// An operator's part in a value: its maker, or a reader.
    struct Argument {
        int op = 0;
        int step = 0;               ///< at which the order decides it
        std::vector<FormId> forms;  ///< for each choice
        Costs message;  ///< what the value has handed to the operator; -infinity: no choice is left
        bool is_maker = false;
    };
    /// The trees of boxes of one value, less the messages.
    struct Factor {
        PriceTables tables;
        FormSets* sets;
        SetId wanted = 0;
        std::vector<Argument> arguments;  ///< the maker first, then readers
        double least = 0;
        /// For each number of decided arguments the tables of the others.
        std::vector<std::optional<OpenTables>> open;
    };

    void add_factor(const SearchGraph& graph, FormSets& sets, int value, const std::vector<int>& steps);
    static Costs prices_of(const Argument& argument);
    static std::vector<Costs> readers_of(const Factor& factor);
    static Costs roots_of(const Factor& factor);
    static double least_of(const Factor& factor);
    static Costs marginal(const Factor& factor, size_t argument);
    void remove(int op, int choice);
    void remove_impossible();
    void pass(bool forward);
    void settle();

    Objective objective_;
    std::vector<int> order_;
    std::vector<Factor> factors_;                       ///< of each value
    std::vector<std::vector<std::pair<int, int>>> of_;  ///< operator -> (value, argument)
    std::vector<std::vector<double>> theta_;            ///< operator, choice
    std::vector<std::vector<bool>> is_left_;
    std::vector<double> least_;
};

}  // namespace tessera::distribution
