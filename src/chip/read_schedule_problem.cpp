#include "chip/read_schedule_problem.h"

#include <limits>
#include <utility>

#include <fmt/core.h>

#include "support/error.h"
#include "support/json.h"
#include "support/shown.h"

namespace tessera::chip {
namespace {

constexpr JsonBounds kProblemBounds{
    .bytes = size_t{64} << 20, .values = 4'000'000, .depth = 32, .word = 1 << 16};
/// Sums over all positions stay within 64 bits.
constexpr int64_t kMostBytes = int64_t{1} << 45;
constexpr double kMostCycles = 1e15;
/// Larger counts of a repeat are refused by kMostPositions, unless it repeats nothing.
constexpr int64_t kMostRepeats = std::numeric_limits<int32_t>::max();

struct Rates {
    long double hbm_cycles_per_byte;  ///< a byte of every core
    long double link_cycles_per_byte;
    double hbm_latency = 0;
};

int64_t positive(const JsonCursor& file, std::string_view key, int64_t most) {
    return file.at(key).integer(1, most);
}

Share share_of(const JsonCursor& at) {
    const std::string text = at.string();
    for (const Share each : kShares)
        if (text == name(each)) return each;
    at.fail(fmt::format("is \"{}\", expected \"fair\", \"execute\" or \"preload\"", shown(text)));
}

double cycles(const JsonCursor& row, std::string_view key) {
    return row.at(key).real(0, kMostCycles);
}

Row row_of(const JsonCursor& at, int64_t least_bytes, const Rates& rates) {
    Row row;
    row.preload_bytes = at.at("preload_bytes").integer(0, kMostBytes);
    if (row.preload_bytes < least_bytes)
        at.at("preload_bytes")
            .fail(fmt::format("is {}, expected at least the operator's min_preload_bytes, {}",
                              row.preload_bytes, least_bytes));
    row.exec_bytes = at.at("exec_bytes").integer(0, kMostBytes);
    row.compute = cycles(at, "compute");
    if (row.compute <= 0)
        at.at("compute").fail(fmt::format("is {}, expected cycles above 0", at.at("compute").shown()));
    row.shift = cycles(at, "shift");
    row.distribute = cycles(at, "distribute");
    row.hbm = static_cast<double>(static_cast<long double>(least_bytes) * rates.hbm_cycles_per_byte);
    if (least_bytes > 0) row.latency = rates.hbm_latency;
    row.link_in =
        static_cast<double>(static_cast<long double>(row.preload_bytes) * rates.link_cycles_per_byte);
    return row;
}

Operator operator_of(const JsonCursor& at, const Rates& rates) {
    Operator result{.name = at.at("name").string(), .rows = {}};
    const int64_t least_bytes = at.at("min_preload_bytes").integer(0, kMostBytes);
    for (const JsonCursor& row : at.at("rows").items())
        result.rows.push_back(row_of(row, least_bytes, rates));
    if (result.rows.empty()) at.at("rows").fail("is [], expected at least one row");
    return result;
}

/// Expands `sequence` and keeps the repeats: the outermost ones of three or more copies, and what lies within
/// those of fewer.
class SequenceReader {
public:
    explicit SequenceReader(ScheduleProblem& problem) : problem_(problem) {}

    void add(const JsonCursor& entries) {
        for (const JsonCursor& entry : entries.items()) {
            if (entry.is_object())
                add_repeat(entry);
            else
                add_index(entry);
        }
    }

private:
    void add_index(const JsonCursor& entry) {
        const auto most = static_cast<int64_t>(problem_.operators.size()) - 1;
        if (!entry.is_integer()) entry.fail_expected("an index of `operators` or a repeat");
        check_positions(entry, problem_.sequence.size() + 1);
        problem_.sequence.push_back(static_cast<size_t>(
            entry.integer(0, most, fmt::format("an index of `operators`, 0 to {}", most))));
    }

    void add_repeat(const JsonCursor& entry) {
        for (const std::string& key : entry.keys())
            if (key != "repeat" && key != "of")
                entry.fail(
                    fmt::format("has the unknown key `{}`, a repeat has `repeat` and `of`", shown(key)));
        const auto count = static_cast<size_t>(entry.at("repeat").integer(1, kMostRepeats));
        const size_t first = problem_.sequence.size();
        const size_t known_repeats = problem_.repeats.size();
        add(entry.at("of"));
        const size_t length = problem_.sequence.size() - first;
        if (length == 0) return;
        check_positions(entry, first + std::min(count, kMostPositions + 1) * length);
        const std::vector<Repeat> inner(problem_.repeats.begin() + static_cast<ptrdiff_t>(known_repeats),
                                        problem_.repeats.end());
        for (size_t c = 1; c < count; ++c)
            for (size_t i = 0; i < length; ++i) problem_.sequence.push_back(problem_.sequence[first + i]);
        if (count >= 3 || (count == 2 && inner.empty())) {
            problem_.repeats.resize(known_repeats);
            problem_.repeats.push_back({first, length, count});
        } else if (count == 2) {
            for (Repeat repeat : inner) {
                repeat.first += length;
                problem_.repeats.push_back(repeat);
            }
        }
    }

    static void check_positions(const JsonCursor& entry, size_t positions) {
        if (positions > kMostPositions)
            entry.fail(
                fmt::format("makes more than {} positions, which is the most that is read", kMostPositions));
    }

    ScheduleProblem& problem_;
};

}  // namespace

ScheduleProblem read_schedule_problem(std::string_view json, const std::string& where) {
    const JsonCursor file = parse_json(json, where, kProblemBounds);
    if (!file.is_object()) file.fail_expected("an object");
    constexpr int64_t kMostRate = std::numeric_limits<int64_t>::max();
    const auto cores = static_cast<long double>(positive(file, "cores", kMostRate));
    ScheduleProblem problem;
    problem.sram_bytes = positive(file, "sram_bytes", kMostBytes);
    const auto clock = static_cast<long double>(positive(file, "clock_hz", kMostRate));
    problem.clock_hz = static_cast<double>(clock);
    const Rates rates{
        .hbm_cycles_per_byte =
            cores * clock / static_cast<long double>(positive(file, "hbm_bytes_per_second", kMostRate)),
        .link_cycles_per_byte =
            clock / static_cast<long double>(positive(file, "link_bytes_per_second", kMostRate)),
        .hbm_latency = file.find("hbm_latency_cycles") ? cycles(file, "hbm_latency_cycles") : 0};
    problem.share = share_of(file.at("share"));
    for (const JsonCursor& each : file.at("operators").items())
        problem.operators.push_back(operator_of(each, rates));
    if (problem.operators.empty()) file.at("operators").fail("is [], expected at least one operator");
    SequenceReader(problem).add(file.at("sequence"));
    if (problem.sequence.empty()) file.at("sequence").fail("is empty, expected at least one operator");
    return problem;
}

}  // namespace tessera::chip
