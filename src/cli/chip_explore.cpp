#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "chip/partition/explore.h"
#include "cli/chip.h"
#include "cli/interrupt.h"
#include "cli/number_checks.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/output_place.h"

namespace tessera::cli {
namespace {

constexpr int64_t kMostPointWorkers = 1024;

struct ChipExploreArguments {
    std::string space;
    std::string out;
    std::string plots;
    int64_t workers = 1;
};

/// The table so far: lines of points, in their order, as many as are done without a gap between them.
class ExploreTable {
public:
    /// Takes over the points that an earlier run left in the file.
    ExploreTable(const partition::ExploreSpace& space, std::string path)
        : space_(space), path_(std::move(path)) {
        if (!std::filesystem::is_regular_file(path_)) return;
        const std::string text(MappedFile::open(path_).text());
        if (!text.starts_with(space.header()))
            throw Error(path_, "", "holds another table, of which this space is no continuation",
                        "write to another file, or remove this one");
        size_t at = space.header().size();
        for (size_t point = 0; point < space.points(); ++point) {
            const size_t end = end_of_point(text, at, point);
            if (end == std::string::npos) break;
            done_[point] = text.substr(at, end - at);
            at = end;
        }
        known_ = done_.size();
        if (at != text.size())
            throw Error(path_, "", fmt::format("holds something else behind {} points of this space", known_),
                        "write to another file, or remove this one");
    }

    size_t known() const { return known_; }
    std::string text() const {
        std::string all = space_.header();
        for (size_t point = 0; done_.contains(point); ++point) all += done_.at(point);
        return all;
    }
    void add(size_t point, std::string lines) {
        done_[point] = std::move(lines);
        if (!path_.empty()) write_file(path_, text());
    }

private:
    /// Behind the lines of a point that begin at `at`; npos if they are others, or not whole.
    size_t end_of_point(const std::string& text, size_t at, size_t point) const {
        for (const chip::Design design : space_.designs) {
            const std::string head = partition::point_key(space_, point) + std::string(name(design)) + ",";
            if (text.compare(at, head.size(), head) != 0) return std::string::npos;
            const size_t end = text.find('\n', at);
            if (end == std::string::npos) return end;
            at = end + 1;
        }
        return at;
    }

    const partition::ExploreSpace& space_;
    std::string path_;
    std::map<size_t, std::string> done_;
    size_t known_ = 0;
};

/// Every plot of the space, by what has been planned so far.
void write_plots(const partition::ExploreSpace& space, const std::string& table,
                 const std::filesystem::path& folder) {
    for (const partition::PlotSpec& plot : space.plots)
        write_file((folder / (plot.name + ".svg")).string(),
                   plot::draw(partition::charts_of(plot, table, space.folder.string()), plot.title));
}

int run_chip_explore(const ChipExploreArguments& arguments) {
    if (!arguments.out.empty()) check_output(arguments.out);
    const partition::ExploreSpace space = partition::read_explore_space(arguments.space);
    if (!arguments.plots.empty()) {
        if (space.plots.empty())
            throw Error(arguments.space, "plots", "is missing, so there is nothing to draw",
                        "add a table [[plots]], or leave out --plots", ErrorKind::kUsage);
        create_folders(arguments.plots);
        // Columns that do not exist show before the hours of planning.
        for (const partition::PlotSpec& plot : space.plots)
            (void)partition::charts_of(plot, space.header(), arguments.space);
    }
    ExploreTable table(space, arguments.out);
    if (table.known() > 0)
        fmt::print(stderr, "{} of {} points are there already\n", table.known(), space.points());

    const InterruptWatch interrupt;
    const auto must_stop = [&] { return interrupt.interrupted(); };
    std::atomic<size_t> next = table.known();
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        while (!must_stop()) {
            const size_t point = next++;
            if (point >= space.points()) return;
            std::string lines = partition::point_lines(space, point, must_stop);
            const std::lock_guard lock(mutex);
            // A point that was cut short is planned again by the next run.
            if (must_stop() || failure) return;
            try {
                table.add(point, std::move(lines));
            } catch (...) {
                failure = std::current_exception();
                return;
            }
            fmt::print(stderr, "{} of {}: {}\n", point + 1, space.points(),
                       partition::point_key(space, point));
        }
    };
    std::vector<std::thread> threads;
    for (int64_t w = 1; w < arguments.workers; ++w) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    if (arguments.out.empty()) fmt::print("{}", table.text());
    if (!arguments.plots.empty()) write_plots(space, table.text(), arguments.plots);
    return interrupt.interrupted() ? kInterruptedExitCode : 0;
}

Job declare_chip_explore(CLI::App& app, const Environment&) {
    const auto arguments = std::make_shared<ChipExploreArguments>();
    app.add_option("SPACE", arguments->space, "chip, models, shapes and swept fields as TOML")
        ->required()
        ->check(not_empty());
    app.add_option("--out", arguments->out,
                   "writes the table there, point by point; a run goes on where an earlier one was stopped")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--plots", arguments->plots, "draws the plots of the space there, as SVG files")
        ->check(not_empty())
        ->type_name("FOLDER");
    app.add_option("--workers", arguments->workers, "points that are planned at a time")
        ->check(whole_number(1, kMostPointWorkers))
        ->type_name("N");
    return [arguments] { return run_chip_explore(*arguments); };
}

}  // namespace

Verb chip_explore_part() {
    return {.name = "explore",
            .help = "plan models on many variations of a chip, as a table (CSV) and plots (SVG)",
            .examples = {"tessera chip explore docs/chip_space.toml",
                         "tessera chip explore space.toml --out table.csv --plots pictures --workers 2"},
            .declare = declare_chip_explore};
}

}  // namespace tessera::cli
