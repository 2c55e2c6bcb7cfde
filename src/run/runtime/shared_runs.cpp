#include "run/runtime/shared_runs.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <xxhash.h>

#include "support/huge_pages.h"
#include "support/limits.h"

// Every 16th page of what is stored is an anchor. A page of a later text that is one is compared, and then
// its neighbours on both sides.

namespace tessera::runtime {
namespace {

constexpr uint64_t kSharedPage = kPageBytes;
constexpr uint64_t kAnchorEvery = 16 * kSharedPage;

class Sharing {
public:
    explicit Sharing(std::span<const std::string_view> texts) : texts_(texts) {}

    std::vector<std::vector<Run>> run() {
        std::vector<std::vector<Run>> all;
        for (size_t t = 0; t < texts_.size(); ++t) {
            all.push_back(runs_of(t));
            for (const Run& run : all.back())
                if (run.text == t) add_anchors(run);
        }
        return all;
    }

private:
    struct Anchor {
        uint64_t offset = 0;
        Run run;  ///< of its own text, in which it lies
    };

    std::string_view page(size_t text, uint64_t offset) const {
        return texts_[text].substr(offset, kSharedPage);
    }
    static uint64_t hash(std::string_view page) { return XXH3_64bits(page.data(), page.size()); }

    static bool is_blank(std::string_view page) {
        return page.front() == '\0' && std::memcmp(page.data(), page.data() + 1, page.size() - 1) == 0;
    }

    void add_anchors(const Run& run) {
        for (uint64_t at = run.offset; at + kSharedPage <= run.offset + run.size; at += kAnchorEvery)
            if (!is_blank(page(run.text, at)))
                anchors_.try_emplace(hash(page(run.text, at)), Anchor{at, run});
    }

    std::vector<Run> runs_of(size_t text) const {
        std::vector<Run> runs;
        uint64_t own = 0;  // behind the runs so far
        const uint64_t size = texts_[text].size();
        for (uint64_t at = 0; at + kSharedPage <= size;) {
            const auto anchor = anchors_.find(hash(page(text, at)));
            if (anchor == anchors_.end()) {
                at += kSharedPage;
                continue;
            }
            const auto& [found, run] = anchor->second;
            const uint64_t most_behind = std::min(size - at, run.offset + run.size - found);
            const uint64_t most_before = std::min(at - own, found - run.offset);
            uint64_t before = 0, behind = 0;
            while (behind + kSharedPage <= most_behind &&
                   page(text, at + behind) == page(run.text, found + behind))
                behind += kSharedPage;
            while (behind > 0 && before < most_before &&
                   page(text, at - before - kSharedPage) == page(run.text, found - before - kSharedPage))
                before += kSharedPage;
            const uint64_t shared = (before + behind) / kHugePage * kHugePage;
            if (shared == 0) {
                at += kSharedPage;
                continue;
            }
            if (at - before > own) runs.push_back({text, own, at - before - own});
            runs.push_back({run.text, found - before, shared});
            at = own = at - before + shared;
        }
        if (size > own) runs.push_back({text, own, size - own});
        return runs;
    }

    std::span<const std::string_view> texts_;
    std::unordered_map<uint64_t, Anchor> anchors_;  ///< stored pages by their hash
};

}  // namespace

std::vector<std::vector<Run>> shared_runs(std::span<const std::string_view> texts) {
    return Sharing(texts).run();
}

}  // namespace tessera::runtime
