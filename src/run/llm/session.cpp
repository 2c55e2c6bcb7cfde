#include "run/llm/session.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>

#include "support/error.h"

namespace tessera::llm {
namespace {

/// A step returns at most so many bytes of logits: every row of a long chunk at a large vocabulary would be
/// more than the cache that it fills.
constexpr int64_t kMostLogitsBytes = int64_t{64} << 20;

int64_t context_of(const runtime::Manifest& manifest, const StepInterface& step,
                   const SessionOptions& options) {
    if (options.context < 0 || options.context > step.context)
        throw Error(manifest.model, "",
                    fmt::format("cannot have a context of {} tokens: the compiled model allows up to {}",
                                options.context, step.context),
                    "choose --context within that");
    return options.context == 0 ? step.context : options.context;
}

int64_t pages_of(const runtime::Manifest& manifest, const StepInterface& step,
                 const SessionOptions& options) {
    const DimSymbol& limit = step.limits[StepInterface::kP];
    TESSERA_CHECK(options.sequences > 0 && options.chunk >= 0 && options.cached >= 0 && options.kept >= 0);
    const int64_t of_one = (context_of(manifest, step, options) + step.page_size - 1) / step.page_size;
    const int64_t of_all = of_one * options.sequences;
    const int64_t wanted =
        options.cached == 0
            ? of_all
            : std::clamp((options.cached + step.page_size - 1) / step.page_size, of_one, of_all);
    int64_t pages = std::max(limit.low, wanted);
    pages = (pages + limit.multiple_of - 1) / limit.multiple_of * limit.multiple_of;
    if (pages > limit.high)
        throw Error(manifest.model, "",
                    fmt::format("cannot have a cache of {} pages: the compiled model allows up to {}", pages,
                                limit.high),
                    "choose a smaller --context");
    return pages;
}

/// One for each sequence that may be open.
int64_t seats_of(const runtime::Manifest& manifest, const StepInterface& step,
                 const SessionOptions& options) {
    const int64_t seats = options.sequences + options.kept;
    const DimSymbol& limit = step.limits[StepInterface::kN];
    if (step.has_seats() && seats > limit.high)
        throw Error(manifest.model, "",
                    fmt::format("cannot have {} open sequences: the compiled model allows up to {}", seats,
                                limit.high));
    return seats;
}

}  // namespace

std::vector<int32_t> last_row(std::span<const int32_t> tokens) {
    TESSERA_CHECK(!tokens.empty());
    return {static_cast<int32_t>(tokens.size() - 1)};
}

std::vector<int32_t> every_row(std::span<const int32_t> tokens) {
    std::vector<int32_t> rows(tokens.size());
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

Session::Session(runtime::Manifest manifest, const SessionOptions& options, StepFunction step)
    : manifest_(std::move(manifest)),
      interface_(manifest_),
      step_(std::move(step)),
      context_(context_of(manifest_, interface_, options)),
      whole_segment_(
          std::min(interface_.limits[StepInterface::kT].high, interface_.limits[StepInterface::kI].high)),
      longest_segment_(whole_segment_),
      most_rows_(std::min(interface_.limits[StepInterface::kR].high,
                          std::max<int64_t>(1, kMostLogitsBytes / 4 / interface_.vocabulary))),
      pages_(pages_of(manifest_, interface_, options)),
      allocator_(pages_),
      sequences_(static_cast<size_t>(seats_of(manifest_, interface_, options))) {
    if (interface_.is_encoder) most_rows_ = interface_.limits[StepInterface::kR].high;
    if (options.chunk > 0) longest_segment_ = std::min(longest_segment_, options.chunk);
}

std::map<std::string, int64_t> Session::state_symbols(const runtime::Manifest& manifest,
                                                      const SessionOptions& options) {
    const StepInterface step(manifest);
    return {{"P", pages_of(manifest, step, options)}, {"N", seats_of(manifest, step, options)}};
}

int64_t Session::longest_small_step() const {
    int64_t most = 0;
    const auto& all = manifest_.specialisations;
    for (size_t i = 0; i + 1 < all.size(); ++i)
        if (const auto tokens = all[i].bounds.find("T"); tokens != all[i].bounds.end())
            most = std::max(most, tokens->second.high);
    return most;
}

SequenceId Session::open() {
    for (size_t i = 0; i < sequences_.size(); ++i)
        if (!sequences_[i].is_open) {
            sequences_[i].is_open = true;
            return {static_cast<int>(i)};
        }
    throw Error(manifest_.model, "",
                fmt::format("all {} sequences of the session are in use", sequences_.size()));
}

void Session::close(SequenceId id) {
    shorten(id, 0);
    sequence(id) = {};
}

void Session::shorten(SequenceId id, int64_t length) {
    Sequence& shortened = sequence(id);
    TESSERA_CHECK(length >= 0 && length <= shortened.length, "{} of {}", length, shortened.length);
    TESSERA_CHECK(!has_recurrences() || length == 0 || length == shortened.length, "{} of {}", length,
                  shortened.length);
    shortened.length = length;
    // From the end, so that the next sequence gets the pages in the order that they had here.
    const int64_t kept = (length + interface_.page_size - 1) / interface_.page_size;
    while (static_cast<int64_t>(shortened.pages.size()) > kept) {
        allocator_.release(shortened.pages.back());
        shortened.pages.pop_back();
    }
}

SequenceId Session::fork(SequenceId id, int64_t length) {
    TESSERA_CHECK(length >= 0 && length <= this->length(id) && length % interface_.page_size == 0, "{} of {}",
                  length, this->length(id));
    const SequenceId other = open();
    const std::vector<int32_t>& pages = sequence(id).pages;
    Sequence& forked = sequence(other);
    forked.pages.assign(pages.begin(), pages.begin() + length / interface_.page_size);
    for (const int32_t page : forked.pages) allocator_.share(page);
    forked.length = length;
    return other;
}

int64_t Session::own_length(SequenceId id, int64_t length) const {
    if (has_recurrences()) return length == this->length(id) ? length : 0;
    const int64_t full = length / interface_.page_size;
    const std::vector<int32_t>& pages = sequences_[index_of(id)].pages;
    const bool writes_shared =
        full * interface_.page_size < length && allocator_.is_shared(pages[static_cast<size_t>(full)]);
    return writes_shared ? full * interface_.page_size : length;
}

int64_t Session::open_sequences() const {
    return std::count_if(sequences_.begin(), sequences_.end(),
                         [](const Sequence& one) { return one.is_open; });
}

void Session::assume(SequenceId id, int64_t length) {
    Sequence& assumed = sequence(id);
    TESSERA_CHECK(length >= assumed.length && length <= context_, "{} of {}", length, context_);
    reserve(assumed, length);
    assumed.length = length;
}

/// Pages for so many tokens.
void Session::reserve(Sequence& reserved, int64_t length) {
    while (static_cast<int64_t>(reserved.pages.size()) * interface_.page_size < length)
        reserved.pages.push_back(allocator_.allocate());
}

int64_t Session::length(SequenceId id) const {
    return sequences_[index_of(id)].length;
}

size_t Session::index_of(SequenceId id) const {
    const auto index = static_cast<size_t>(id.index);
    TESSERA_CHECK(id.index >= 0 && index < sequences_.size(), "sequence {}", id.index);
    TESSERA_CHECK(sequences_[index].is_open, "sequence {} is closed", id.index);
    return index;
}

void Session::check(std::span<const Addition> batch) const {
    std::set<int> seen;
    for (const Addition& addition : batch) {
        if (!seen.insert(addition.sequence.index).second)
            throw Error(manifest_.model, "",
                        fmt::format("sequence {} occurs twice in a batch", addition.sequence.index));
        if (addition.tokens.empty())
            throw Error(manifest_.model, "", "a sequence cannot be continued by no token",
                        "give at least one");
        for (const int32_t token : addition.tokens)
            if (token < 0 || token >= vocabulary())
                throw Error(manifest_.model, "",
                            fmt::format("token {} is not of the vocabulary of {}", token, vocabulary()));
        TESSERA_CHECK(std::is_sorted(addition.rows.begin(), addition.rows.end()));
        TESSERA_CHECK(addition.rows.empty() ||
                      (addition.rows.front() >= 0 &&
                       static_cast<size_t>(addition.rows.back()) < addition.tokens.size()));
        const int64_t total = length(addition.sequence) + static_cast<int64_t>(addition.tokens.size());
        const bool is_whole = is_encoder() || addition.is_source;
        if (is_whole && length(addition.sequence) != 0)
            throw Error(manifest_.model, "", "reads whole texts, which cannot be continued");
        TESSERA_CHECK(!addition.is_source || (has_source() && addition.rows.empty()));
        if (addition.is_source && manifest_.text->features && addition.features.empty())
            throw Error(manifest_.model, "", "reads rows of numbers in the place of a source's tokens",
                        "`tessera logits MODEL --input features=FILE.npy --decoder-ids FILE`",
                        ErrorKind::kUsage);
        if (has_source() && !addition.is_source && sequences_[index_of(addition.sequence)].split == 0)
            throw Error(manifest_.model, "", "writes a text that is made of another, which is missing",
                        "`tessera logits MODEL --ids FILE --decoder-ids FILE`", ErrorKind::kUsage);
        if (total > context_)
            throw Error(
                manifest_.model, "",
                fmt::format("a sequence of {} tokens does not fit into the context of {}", total, context_),
                context_ < interface_.context ? fmt::format("--context can be up to {}", interface_.context)
                                              : "it is the largest --context of the compiled model");
    }
}

std::vector<Session::Part> Session::next_step(std::span<const Addition> batch,
                                              const std::vector<Progress>& progress) {
    std::vector<Part> parts;
    int64_t tokens_left = interface_.limits[StepInterface::kT].high;
    int64_t rows_left = most_rows_;
    for (size_t i = 0; i < batch.size(); ++i) {
        if (static_cast<int64_t>(parts.size()) == interface_.limits[StepInterface::kB].high) break;
        const Addition& addition = batch[i];
        const size_t done = progress[i].tokens;
        const int64_t longest = is_encoder() || addition.is_source ? whole_segment_ : longest_segment_;
        auto take = std::min({static_cast<int64_t>(addition.tokens.size() - done), tokens_left, longest});
        const auto is_beyond = [&](int32_t row) { return row >= static_cast<int64_t>(done) + take; };
        const auto first = addition.rows.begin() + static_cast<int64_t>(progress[i].rows);
        auto last = std::find_if(first, addition.rows.end(), is_beyond);
        if (last - first > rows_left) {
            last = first + rows_left;
            take = *last - static_cast<int64_t>(done);
        }
        // The tokens of a whole text see one another.
        if ((is_encoder() || addition.is_source) && take < static_cast<int64_t>(addition.tokens.size()))
            continue;
        if (take <= 0) continue;
        Sequence& target = sequence(addition.sequence);
        reserve(target, target.length + take);
        if (addition.is_source) target.split = take;
        Part part{i,
                  {.tokens = addition.tokens.subspan(done, static_cast<size_t>(take)),
                   .start = target.length,
                   .split = target.split,
                   .pages = target.pages,
                   .rows = {},
                   .seat = static_cast<int32_t>(addition.sequence.index),
                   .features = addition.features},
                  {first, last}};
        for (int32_t& row : part.rows) row -= static_cast<int32_t>(done);
        tokens_left -= take;
        rows_left -= last - first;
        parts.push_back(std::move(part));
    }
    for (Part& part : parts) part.segment.rows = part.rows;
    return parts;
}

void Session::run(std::span<const Addition> batch, const std::vector<Part>& parts,
                  std::vector<Progress>& progress, const LogitsSink& sink, const HiddenSink& hidden) {
    std::vector<Segment> segments;
    for (const Part& part : parts) segments.push_back(part.segment);
    const StepValues values = step_values(manifest_, interface_, segments, pages_, most_open());
    const int64_t width = is_encoder() ? 0 : vocabulary();
    logits_.resize(static_cast<size_t>(values.rows * width));
    hidden_.resize(static_cast<size_t>(values.rows * hidden_width()));
    std::vector<std::span<const std::byte>> inputs;
    for (const auto& input : values.inputs) inputs.push_back(std::as_bytes(std::span(input)));
    const std::array outputs = {std::as_writable_bytes(std::span(logits_)),
                                std::as_writable_bytes(std::span(hidden_))};
    const auto all = std::span(outputs);
    step_(values.symbols, inputs, is_encoder() ? all.last(1) : all.first(hidden_width() > 0 ? 2 : 1));

    const float* row_logits = logits_.data();
    const float* row_hidden = hidden_.data();
    for (const Part& part : parts) {
        Progress& so_far = progress[part.addition];
        sequence(batch[part.addition].sequence).length += static_cast<int64_t>(part.segment.tokens.size());
        for (const int32_t row : part.rows) {
            const int32_t of_addition = static_cast<int32_t>(so_far.tokens) + row;
            if (hidden) hidden(part.addition, of_addition, {row_hidden, static_cast<size_t>(hidden_width())});
            sink(part.addition, of_addition, {row_logits, static_cast<size_t>(width)});
            row_logits += width;
            row_hidden += hidden_width();
        }
        so_far.tokens += part.segment.tokens.size();
        so_far.rows += part.rows.size();
    }
}

bool Session::add(std::span<const Addition> batch, const LogitsSink& sink,
                  const std::function<bool()>& should_stop, const HiddenSink& hidden) {
    TESSERA_CHECK(!hidden || hidden_width() > 0);
    check(batch);
    std::vector<Progress> progress(batch.size());
    while (true) {
        const std::vector<Part> parts = next_step(batch, progress);
        if (parts.empty()) return true;
        if (should_stop && should_stop()) return false;
        run(batch, parts, progress, sink, hidden);
    }
}

}  // namespace tessera::llm
