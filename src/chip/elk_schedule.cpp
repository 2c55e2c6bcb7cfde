#include "chip/elk_schedule.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "chip/repeat_plan.h"
#include "chip/schedule_by_induction.h"
#include "chip/timeline.h"

namespace tessera::chip {
namespace {

/// Prices of a cycle of the link that are tried. 1: the link's time counts as that of the cores. Less: the
/// cores are what limits the chip. More: the link is.
constexpr double kLinkPrices[] = {1, 0.5, 0.25, 2, 4};
/// Every order is tried with these of them: the best for the order of the sequence.
constexpr size_t kTriedPrices = 2;
/// Orders of the few copies that are confirmed on all copies.
constexpr size_t kConfirmed = 8;

struct Priced {
    double total;  ///< infinite if there is no valid schedule
    size_t order;  ///< index into PreloadOrders::orders
    double link_price;
};

class Elk {
public:
    Elk(const ScheduleProblem& problem, const ElkOptions& options)
        : problem_(problem), options_(options), orders_(preload_orders(problem, options.orders)) {}

    std::optional<ElkResult> run() {
        result_.orders = orders_.orders.size();
        const ScheduleProblem few = with_fewer_copies(problem_, kFewCopies);
        std::vector<Priced> in_order;
        for (const double price : kLinkPrices) in_order.push_back(price_order(few, 0, price));
        keep_best(in_order, kTriedPrices);
        std::vector<Priced> priced;
        for (size_t k = 1; k < orders_.orders.size() && !stops(); ++k)
            for (const Priced& each : in_order) priced.push_back(price_order(few, k, each.link_price));
        keep_best(priced, kConfirmed);
        // The order of the sequence comes first, so another one is better.
        for (const Priced& each : in_order) confirm(each);
        for (const Priced& each : priced) confirm(each);
        if (result_.schedule.rows.empty()) return std::nullopt;
        return std::move(result_);
    }

private:
    std::optional<std::pair<Schedule, double>> schedule(const ScheduleProblem& problem, size_t order,
                                                        double link_price) {
        result_.work += problem.size();
        auto found = schedule_by_induction(
            problem, positions_by_order(problem, orders_, orders_.orders[order]), {.link_price = link_price});
        if (!found) return std::nullopt;
        const Timeline timeline = run_schedule(problem, found->schedule);
        if (timeline.excess) return std::nullopt;
        return std::pair(std::move(found->schedule), timeline.total);
    }

    Priced price_order(const ScheduleProblem& few, size_t order, double link_price) {
        const auto found = schedule(few, order, link_price);
        return {found ? found->second : std::numeric_limits<double>::infinity(), order, link_price};
    }

    static void keep_best(std::vector<Priced>& priced, size_t most) {
        std::stable_sort(priced.begin(), priced.end(),
                         [](const Priced& a, const Priced& b) { return a.total < b.total; });
        if (priced.size() > most) priced.resize(most);
    }

    void confirm(const Priced& each) {
        auto found = schedule(problem_, each.order, each.link_price);
        if (!found || (!result_.schedule.rows.empty() && found->second >= result_.total)) return;
        result_.schedule = std::move(found->first);
        result_.total = found->second;
        result_.edit_distance = edit_distance(orders_.orders[each.order]);
    }

    bool stops() const { return options_.must_stop && options_.must_stop(); }

    const ScheduleProblem& problem_;
    const ElkOptions& options_;
    const PreloadOrders orders_;
    ElkResult result_;
};

}  // namespace

std::optional<ElkResult> elk_schedule(const ScheduleProblem& problem, const ElkOptions& options) {
    return Elk(problem, options).run();
}

}  // namespace tessera::chip
