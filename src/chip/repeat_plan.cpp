#include "chip/repeat_plan.h"

#include <algorithm>
#include <utility>

namespace tessera::chip {
namespace {

/// For each position of the problem, the one of the smaller problem whose choice it takes.
std::vector<size_t> sources(const ScheduleProblem& problem, const ScheduleProblem& fewer) {
    std::vector<size_t> source;
    size_t next = 0;  ///< of the smaller problem
    for (size_t r = 0; r <= problem.repeats.size(); ++r) {
        const size_t until = r < problem.repeats.size() ? problem.repeats[r].first : problem.size();
        while (source.size() < until) source.push_back(next++);
        if (r == problem.repeats.size()) break;
        const Repeat& repeat = problem.repeats[r];
        const size_t few = fewer.repeats[r].count;
        const size_t middle = few / 2;
        for (size_t c = 0; c < repeat.count; ++c) {
            size_t copy = middle;
            if (c < middle) copy = c;
            if (repeat.count - c < few - middle) copy = few - (repeat.count - c);
            for (size_t i = 0; i < repeat.length; ++i) source.push_back(next + copy * repeat.length + i);
        }
        next += few * repeat.length;
    }
    return source;
}

}  // namespace

ScheduleProblem with_fewer_copies(const ScheduleProblem& problem, size_t most_copies) {
    ScheduleProblem fewer = problem;
    fewer.sequence.clear();
    fewer.repeats.clear();
    size_t at = 0;
    for (const Repeat& repeat : problem.repeats) {
        for (; at < repeat.first; ++at) fewer.sequence.push_back(problem.sequence[at]);
        const size_t count = std::min(repeat.count, most_copies);
        fewer.repeats.push_back({fewer.sequence.size(), repeat.length, count});
        for (size_t i = 0; i < count * repeat.length; ++i) fewer.sequence.push_back(problem.sequence[at + i]);
        at += repeat.count * repeat.length;
    }
    for (; at < problem.size(); ++at) fewer.sequence.push_back(problem.sequence[at]);
    return fewer;
}

Choice expand_copies(const ScheduleProblem& problem, const ScheduleProblem& fewer, const Choice& few) {
    // How far each entry of the queue is from its place by execution.
    std::vector<int32_t> moved(fewer.size(), 0);
    std::vector<int32_t> in_order = few.queue;
    std::sort(in_order.begin(), in_order.end());
    for (size_t q = 0; q < in_order.size(); ++q)
        moved[static_cast<size_t>(in_order[q])] -= static_cast<int32_t>(q);
    for (size_t q = 0; q < few.queue.size(); ++q)
        moved[static_cast<size_t>(few.queue[q])] += static_cast<int32_t>(q);

    Choice all;
    const std::vector<size_t> source = sources(problem, fewer);
    for (const size_t s : source) {
        all.row.push_back(few.row[s]);
        all.lead.push_back(few.lead[s]);
    }
    const std::vector<int32_t> entries = carriers(problem);
    std::vector<std::pair<int32_t, int32_t>> keyed;
    for (size_t q = 0; q < entries.size(); ++q)
        keyed.emplace_back(static_cast<int32_t>(q) + moved[source[static_cast<size_t>(entries[q])]],
                           entries[q]);
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, position] : keyed) all.queue.push_back(position);
    return all;
}

}  // namespace tessera::chip
