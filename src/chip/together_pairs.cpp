#include "chip/together_pairs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "chip/progress_weights.h"
#include "chip/repeat_plan.h"
#include "chip/timeline.h"

namespace tessera::chip {
namespace {

/// Two copies with a whole one between them are like any two farther apart.
constexpr size_t kTellingCopies = 3;

/// Positions that are the same one of the copies of a repeat are of one class.
std::vector<size_t> classes_of(const ScheduleProblem& problem) {
    std::vector<size_t> classes(problem.size());
    size_t next = 0, repeat = 0;
    for (size_t i = 0; i < problem.size();) {
        if (repeat == problem.repeats.size() || i < problem.repeats[repeat].first) {
            classes[i++] = next++;
            continue;
        }
        const Repeat& of = problem.repeats[repeat++];
        for (size_t c = 0; c < of.count * of.length; ++c) classes[i + c] = next + c % of.length;
        i += of.count * of.length;
        next += of.length;
    }
    return classes;
}

/// As a part of the SRAM.
double space(const ScheduleProblem& problem, int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(problem.sram_bytes);
}

void add_rows(const ScheduleProblem& problem, TogetherPairs& to) {
    to.class_of = classes_of(problem);
    const size_t count = *std::max_element(to.class_of.begin(), to.class_of.end()) + 1;
    std::vector<double> positions(count, 0);
    std::vector<size_t> member(count, 0);
    for (size_t i = 0; i < problem.size(); ++i) {
        ++positions[to.class_of[i]];
        member[to.class_of[i]] = i;
    }
    double all = 0;
    for (size_t c = 0; c < count; ++c) {
        to.first.push_back(to.rows.size());
        const Operator& op = problem.at(member[c]);
        double least = std::numeric_limits<double>::infinity();
        for (size_t r = 0; r < op.rows.size(); ++r) {
            const Row& row = op.rows[r];
            if (!problem.is_usable(row)) continue;
            to.rows.push_back({&row, r, positions[c] * row.execute(), positions[c] * row.preload(),
                               space(problem, row.exec_bytes)});
            least = std::min(least, positions[c] * row.execute());
        }
        std::stable_sort(to.rows.begin() + static_cast<ptrdiff_t>(to.first.back()), to.rows.end(),
                         [](const ClassRow& a, const ClassRow& b) { return a.space < b.space; });
        all += least;
        to.has_price.push_back(has_space_limit(problem, op));
    }
    to.first.push_back(to.rows.size());
    for (const double each : positions) to.positions.push_back(each / all);
    for (ClassRow& row : to.rows) {
        row.execute /= all;
        row.preload /= all;
    }
}

/// The pairs of two classes whose preload may hold `held` bytes across what lies between them.
void add_pairs(const ScheduleProblem& problem, size_t execute, size_t preload, int64_t held,
               double least_preload, TogetherPairs& to) {
    for (size_t p = to.first[preload]; p < to.first[preload + 1]; ++p) {
        const Row& preloaded = *to.rows[p].row;
        if (to.rows[p].preload < least_preload || preloaded.preload_bytes > held) continue;
        Beside beside{.preload = p,
                      .execute = to.first[execute],
                      .pair = to.execute_speed.size(),
                      .pairs = 0,
                      .span = to.spans.size() - 1,
                      .rent = space(problem, preloaded.preload_bytes) / preloaded.preload()};
        for (size_t e = to.first[execute]; e < to.first[execute + 1]; ++e) {
            const Row& executed = *to.rows[e].row;
            if (executed.exec_bytes + preloaded.preload_bytes > problem.sram_bytes) break;
            const Speeds speed = speeds(problem.share, executed.execute_use(), preloaded.preload_use());
            to.execute_speed.push_back(speed.execute);
            to.preload_speed.push_back(speed.preload);
        }
        beside.pairs = to.execute_speed.size() - beside.pair;
        if (beside.pairs == 0) continue;
        to.count += beside.pairs;
        beside.pairs = (beside.pairs + kPairLanes - 1) / kPairLanes * kPairLanes;
        to.execute_speed.resize(beside.pair + beside.pairs, 0);
        to.preload_speed.resize(beside.pair + beside.pairs, 0);
        to.besides.push_back(beside);
    }
}

}  // namespace

TogetherPairs together_pairs(const ScheduleProblem& problem, double least_preload, size_t most) {
    TogetherPairs to;
    add_rows(problem, to);
    const ScheduleProblem fewer = with_fewer_copies(problem, kTellingCopies);
    to.few = classes_of(fewer);
    std::vector<int64_t> room;
    for (const Operator& op : fewer.operators) room.push_back(room_across(fewer, op));
    struct Held {
        int64_t bytes = 0;
        HeldSpan span{0, 0};
    };
    // The nearest copies have the most room, and pay for the fewest positions.
    std::map<std::pair<size_t, size_t>, Held> most_held;
    for (size_t k = 0; k < fewer.size(); ++k) {
        int64_t held = fewer.sram_bytes;
        for (size_t j = k + 1; j < fewer.size() && held > 0; ++j) {
            Held& at = most_held[{to.few[k], to.few[j]}];
            if (at.bytes == 0 || j - k < at.span.last - at.span.first) at.span = {k, j};
            at.bytes = std::max(at.bytes, held);
            held = std::min(held, room[fewer.sequence[j]]);
        }
        if (most_held.size() > most) break;
    }
    for (const auto& [classes, held] : most_held) {
        to.spans.push_back(held.span);
        add_pairs(problem, classes.first, classes.second, held.bytes, least_preload, to);
        if (to.count > most) break;
    }
    return to;
}

}  // namespace tessera::chip
