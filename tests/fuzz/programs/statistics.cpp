#include "fuzz/programs/statistics.h"

#include <algorithm>

#include <fmt/format.h>

#include "fuzz/programs/draft.h"

namespace tessera::fuzz {
namespace {

/// The least share of elements that must be equal bit by bit, and the largest share that may be anything.
constexpr double kLeastExact = 0.2, kMostOpen = 0.1;

/// A message without what stands in quotes and without numbers, so that equal reasons are equal.
std::string reason_of(const std::string& what) {
    std::string reason;
    bool is_quoted = false;
    for (const char c : what) {
        if (c == '`') is_quoted = !is_quoted;
        if (is_quoted) continue;
        if (std::isdigit(static_cast<unsigned char>(c)) == 0)
            reason += c;
        else if (!reason.ends_with('#'))
            reason += '#';
    }
    return reason.substr(0, 160);
}

std::vector<std::string> required_coverage() {
    std::vector<std::string> all = {
        "type f32",          "type f16",        "type bf16",          "type i8",
        "type u8",           "type i32",        "value input",        "value constant",
        "value state",       "contents nan",    "contents infinity",  "contents -0",
        "contents denormal", "monoid none",     "monoid sum",         "monoid prod",
        "monoid max",        "monoid min",      "monoid softmax_sum", "predicate",
        "post-expression",   "several outputs", "extent symbolic"};
    for (const auto* families :
         {&movement_families(), &arithmetic_families(), &folding_families(), &indexed_families()})
        for (const NamedFamily& family : *families) all.push_back(fmt::format("node {}", family.name));
    return all;
}

}  // namespace

void Statistics::add(const Program& program, const Verdict& verdict) {
    ++outcomes_[verdict.outcome];
    if (verdict.outcome == Outcome::kRefused) ++reasons_[reason_of(verdict.what)];
    Coverage& coverage = verdict.outcome == Outcome::kAgrees ? agreeing_ : others_;
    for (const auto& [what, count] : coverage_of(program)) coverage[what] += count;
    if (verdict.outcome != Outcome::kAgrees) return;
    const Strictness strictness = strictness_of(expected_of(program));
    strictness_.exact += strictness.exact;
    strictness_.rounded += strictness.rounded;
    strictness_.open += strictness.open;
}

int64_t Statistics::count(Outcome outcome) const {
    const auto found = outcomes_.find(outcome);
    return found == outcomes_.end() ? 0 : found->second;
}

int64_t Statistics::faults() const {
    int64_t all = 0;
    for (const auto& [outcome, count] : outcomes_) all += is_fault(outcome) ? count : 0;
    return all;
}

std::string Statistics::text() const {
    std::string text;
    for (const auto& [outcome, count] : outcomes_) text += fmt::format("{}: {}\n", name(outcome), count);
    text += fmt::format("elements: {} exact, {} rounded, {} open\n", strictness_.exact, strictness_.rounded,
                        strictness_.open);
    std::vector<std::pair<int64_t, std::string>> reasons;
    for (const auto& [reason, count] : reasons_) reasons.emplace_back(count, reason);
    std::sort(reasons.rbegin(), reasons.rend());
    for (const auto& [count, reason] : reasons) text += fmt::format("refused {} times: {}\n", count, reason);
    Coverage all = agreeing_;
    for (const auto& [what, count] : others_) all[what] += 0;
    const auto in = [](const Coverage& coverage, const std::string& what) {
        const auto found = coverage.find(what);
        return found == coverage.end() ? 0 : found->second;
    };
    for (const auto& [what, count] : all)
        text += fmt::format("{}: {} in programs that agree, {} in others\n", what, in(agreeing_, what),
                            in(others_, what));
    return text;
}

std::vector<std::string> Statistics::gaps(double most_refused) const {
    std::vector<std::string> gaps;
    int64_t all = 0;
    for (const auto& [outcome, count] : outcomes_) all += count;
    if (static_cast<double>(count(Outcome::kRefused)) > most_refused * static_cast<double>(all))
        gaps.push_back(fmt::format("{} of {} programs are refused", count(Outcome::kRefused), all));
    for (const std::string& what : required_coverage()) {
        const auto found = agreeing_.find(what);
        if (found == agreeing_.end() || found->second == 0)
            gaps.push_back(fmt::format("no program that agrees has: {}", what));
    }
    const double elements = static_cast<double>(strictness_.exact + strictness_.rounded + strictness_.open);
    if (static_cast<double>(strictness_.exact) < kLeastExact * elements)
        gaps.push_back("too few elements are compared bit by bit");
    if (static_cast<double>(strictness_.open) > kMostOpen * elements)
        gaps.push_back("too many elements may be anything");
    return gaps;
}

}  // namespace tessera::fuzz
