#include "run/llm/pre_tokenizer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "run/llm/byte_alphabet.h"
#include "run/llm/normalizer.h"
#include "run/llm/utf8.h"

namespace tessera::llm {
namespace {

struct Section {
    TextRange range;
    bool matches;
};

/// The matches of a pattern in one text after the other.
class Matches {
public:
    explicit Matches(const Split& split) : split_(split) {
        if (const auto* expression = std::get_if<Regex>(&split.pattern)) search_.emplace(*expression);
    }

    const std::vector<TextRange>& find(std::string_view text) {
        if (search_) return search_->find_all(text);
        found_.clear();
        if (const auto* pattern = std::get_if<std::string>(&split_.pattern))
            find_text(text, *pattern);
        else
            find_characters(text, std::get<CharacterTest>(split_.pattern));
        return found_;
    }

private:
    void find_text(std::string_view text, std::string_view pattern) {
        for (size_t at = text.find(pattern); at != std::string_view::npos;
             at = text.find(pattern, at + pattern.size()))
            found_.push_back({at, at + pattern.size()});
    }

    void find_characters(std::string_view text, CharacterTest test) {
        for (size_t at = 0; at < text.size();) {
            const Utf8Step step = first_character(text.substr(at));
            if (test(step.code_point)) found_.push_back({at, at + step.length});
            at += step.length;
        }
    }

    const Split& split_;
    std::optional<RegexSearch> search_;
    std::vector<TextRange> found_;
};

/// Matches and the texts between them, without gaps; empty ones are left out.
void divide(const std::vector<TextRange>& matches, bool invert, size_t size, std::vector<Section>& result) {
    result.clear();
    const auto add = [&](size_t begin, size_t end, bool matched) {
        if (begin < end) result.push_back({{begin, end}, matched != invert});
    };
    size_t covered = 0;
    for (const TextRange& match : matches) {
        add(covered, match.begin, false);
        add(match.begin, match.end, true);
        covered = match.end;
    }
    add(covered, size, false);
}

/// Appends the pieces of one segmented text that starts at `base`.
void join(const std::vector<Section>& parts, SplitBehaviour behaviour, size_t base,
          std::vector<TextRange>& out) {
    const size_t first = out.size();
    const auto push = [&](const Section& part) {
        out.push_back({base + part.range.begin, base + part.range.end});
    };
    for (size_t i = 0; i < parts.size(); ++i) {
        const bool follows = i > 0;
        switch (behaviour) {
            case SplitBehaviour::kIsolated:
                push(parts[i]);
                break;
            case SplitBehaviour::kRemoved:
                if (!parts[i].matches) push(parts[i]);
                break;
            case SplitBehaviour::kContiguous:
                if (follows && parts[i].matches == parts[i - 1].matches)
                    out.back().end = base + parts[i].range.end;
                else
                    push(parts[i]);
                break;
            case SplitBehaviour::kMergedWithPrevious:
                if (follows && parts[i].matches && !parts[i - 1].matches && out.size() > first)
                    out.back().end = base + parts[i].range.end;
                else
                    push(parts[i]);
                break;
            case SplitBehaviour::kMergedWithNext:
                if (follows && !parts[i].matches && parts[i - 1].matches)
                    out.back().end = base + parts[i].range.end;
                else
                    push(parts[i]);
                break;
        }
    }
}

struct Step {
    bool at_start;

    void operator()(const Split& split, Pieces& pieces) const {
        std::vector<TextRange> ranges;
        ranges.reserve(pieces.ranges.size());
        // Kept from piece to piece: there may be as many of them as bytes.
        Matches matches(split);
        std::vector<Section> sections;
        for (const TextRange& piece : pieces.ranges) {
            for (size_t at = piece.begin; at < piece.end;) {
                const Utf8Run run = first_run(std::string_view(pieces.text).substr(at, piece.end - at));
                if (run.valid) {
                    divide(matches.find(run.text), split.invert, run.text.size(), sections);
                    join(sections, split.behaviour, at, ranges);
                } else {
                    ranges.push_back({at, at + run.text.size()});
                }
                at += run.text.size();
            }
        }
        const bool begins =
            !ranges.empty() && !pieces.ranges.empty() && ranges.front().begin == pieces.ranges.front().begin;
        pieces.dropped_front = pieces.dropped_front || !begins;
        pieces.ranges = std::move(ranges);
    }

    void operator()(const SpaceInFront&, Pieces& pieces) const {
        rewrite(pieces, [](std::string& out, std::string_view piece, size_t) {
            if (!piece.starts_with(' ')) out += ' ';
            out += piece;
        });
    }

    void operator()(const MapBytes&, Pieces& pieces) const {
        rewrite(pieces,
                [](std::string& out, std::string_view piece, size_t) { append_alphabet(out, piece); });
    }

    void operator()(const Metaspace& metaspace, Pieces& pieces) const {
        rewrite(pieces, [&](std::string& out, std::string_view piece, size_t index) {
            const std::string replaced = replace_all(piece, " ", metaspace.replacement);
            const bool wanted = metaspace.front == Metaspace::Front::kAlways ||
                                (metaspace.front == Metaspace::Front::kFirst && at_start && index == 0 &&
                                 !pieces.dropped_front);
            if (wanted && !replaced.starts_with(metaspace.replacement)) out += metaspace.replacement;
            out += replaced;
        });
    }

    /// Writes every piece anew, by `write(out, piece, index)`.
    template <typename Write>
    static void rewrite(Pieces& pieces, Write write) {
        Pieces result;
        result.dropped_front = pieces.dropped_front;
        result.text.reserve(pieces.text.size() + pieces.text.size() / 4);
        result.ranges.reserve(pieces.ranges.size());
        for (size_t i = 0; i < pieces.ranges.size(); ++i) {
            const size_t begin = result.text.size();
            write(result.text, pieces.piece(i), i);
            result.ranges.push_back({begin, result.text.size()});
        }
        pieces = std::move(result);
    }
};

}  // namespace

Pieces pre_tokenize(std::span<const PreTokenizerStep> steps, std::string text, bool at_start) {
    Pieces pieces;
    pieces.text = std::move(text);
    if (!pieces.text.empty()) pieces.ranges.push_back({0, pieces.text.size()});
    for (const PreTokenizerStep& step : steps)
        std::visit([&](const auto& s) { Step{at_start}(s, pieces); }, step);
    return pieces;
}

}  // namespace tessera::llm
