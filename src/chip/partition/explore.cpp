#include "chip/partition/explore.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "chip/partition/chip_tables.h"
#include "chip/plan_schedule.h"
#include "chip/read_chip_toml.h"
#include "chip/timeline.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

/// For smaller gaps the search takes longer than a better bound is worth.
constexpr double kSmallGapOfPoint = 1e-3;
constexpr size_t kBoundWorkOfPoint = 1'000'000;
constexpr const char* kFound =
    "design,cycles,ms,bound,ideal,preload_ms,execute_ms,overlapped_ms,stalled_ms,hbm_busy,link_busy,tflops,"
    "problem\n";

std::string joined_path(const std::vector<std::string>& path) {
    return fmt::format("{}", fmt::join(path, "."));
}

/// A cell of the table: quoted where it must be, on one line.
std::string cell(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
    if (const toml::array* array = node.as_array()) {
        std::string text;
        for (const toml::node& each : *array) text += (text.empty() ? "" : " x ") + text_of(each);
        return text;
    }
    std::ostringstream text;
    text << node.type();
    return text.str();
}

/// The place of a point along each dimension.
struct PointPlace {
    size_t chip, model, phase, batch, sequence, variant;
    std::vector<size_t> values;  ///< of swept fields
};

PointPlace place_of(const ExploreSpace& space, size_t point) {
    const auto take = [&](size_t count) {
        const size_t own = point % count;
        point /= count;
        return own;
    };
    PointPlace place{};
    place.values.resize(space.swept.size());
    for (size_t k = space.swept.size(); k-- > 0;) place.values[k] = take(space.swept[k].values.size());
    place.variant = take(std::max<size_t>(1, space.variants.size()));
    place.sequence = take(space.sequences.size());
    place.batch = take(space.batches.size());
    place.phase = take(space.phases.size());
    place.model = take(space.models.size());
    place.chip = take(space.chips.size());
    return place;
}

chip::ChipDescription chip_of(const ExploreSpace& space, const PointPlace& place) {
    const ExploredChip& explored = space.chips[place.chip];
    toml::table changed = explored.description;
    if (!space.variants.empty())
        for (const SweptField& field : space.variants[place.variant].fields)
            set_chip_field(changed, field, 0);
    for (size_t k = 0; k < space.swept.size(); ++k) set_chip_field(changed, space.swept[k], place.values[k]);
    return chip::read_chip_table(changed, explored.file);
}

/// The result at a point, for any design.
struct PointFound {
    const ChipTables& tables;
    const chip::PlanResult& searched;
    double ideal;

    double seconds(double cycles) const { return cycles / tables.problem.clock_hz; }
    double tflops(double total) const { return tables.product_flops / seconds(total) / 1e12; }
};

std::string ideal_cells(const PointFound& found) {
    return fmt::format("{0},{1:.1f},{2:.6g},{3:.1f},{1:.1f},,,,,{4:.4f},,{5:.4g},\n",
                       name(chip::Design::kIdeal), found.ideal, 1e3 * found.seconds(found.ideal),
                       found.searched.bound, found.searched.bounds.hbm / found.ideal,
                       found.tflops(found.ideal));
}

/// The time of one design at a point.
std::string found_cells(const PointFound& found, chip::Design design,
                        const std::function<bool()>& must_stop) {
    if (design == chip::Design::kIdeal) return ideal_cells(found);
    const chip::ScheduleProblem& problem = found.tables.problem;
    std::optional<chip::Schedule> schedule;
    if (design == chip::Design::kSearch)
        schedule = found.searched.schedule;
    else if (auto designed = chip::schedule_by_design(problem, design, must_stop))
        schedule = std::move(designed->schedule);
    if (!schedule)
        return fmt::format("{},,,{:.1f},{:.1f},,,,,,,,finds no schedule\n", name(design),
                           found.searched.bound, found.ideal);
    const chip::Timeline timeline = chip::run_schedule(problem, *schedule);
    const auto ms = [&](double cycles) { return fmt::format("{:.6g}", 1e3 * found.seconds(cycles)); };
    return fmt::format("{},{:.1f},{},{:.1f},{:.1f},{},{},{},{},{:.4f},{:.4f},{:.4g},\n", name(design),
                       timeline.total, ms(timeline.total), found.searched.bound, found.ideal,
                       ms(timeline.preload_only), ms(timeline.execute_only),
                       ms(timeline.overlapped - timeline.stalled), ms(timeline.stalled),
                       timeline.hbm_busy / timeline.total, timeline.link_busy / timeline.total,
                       found.tflops(timeline.total));
}

}  // namespace

std::string ExploreSpace::header() const {
    std::string text = "chip,model,phase,batch,sequence,";
    if (!variants.empty()) text += "variant,";
    for (const SweptField& field : swept) text += cell(joined_path(field.path)) + ",";
    return text + kFound;
}

std::string point_key(const ExploreSpace& space, size_t point) {
    const PointPlace place = place_of(space, point);
    const auto& phase = space.phases[place.phase];
    const auto& sequence = space.sequences[place.sequence];
    std::string key = fmt::format("{},{},{},{},{},", cell(space.chips[place.chip].name),
                                  cell(space.models[place.model]), phase ? name(*phase) : "",
                                  space.batches[place.batch], sequence ? std::to_string(*sequence) : "");
    if (!space.variants.empty()) key += cell(space.variants[place.variant].name) + ",";
    for (size_t k = 0; k < space.swept.size(); ++k)
        key += cell(text_of(space.swept[k].values[place.values[k]])) + ",";
    return key;
}

std::string point_lines(const ExploreSpace& space, size_t point, const std::function<bool()>& must_stop) {
    const PointPlace place = place_of(space, point);
    const std::string key = point_key(space, point);
    std::string lines;
    try {
        const Workload workload = model_workload(space.folder / space.models[place.model],
                                                 {.batch = space.batches[place.batch],
                                                  .sequence = space.sequences[place.sequence],
                                                  .phase = space.phases[place.phase]});
        const ChipTables tables = chip_tables(workload, chip_of(space, place), space.chips[place.chip].file);
        const bool searches = std::find(space.designs.begin(), space.designs.end(), chip::Design::kSearch) !=
                              space.designs.end();
        const chip::PlanResult searched =
            chip::plan_schedule(tables.problem, {.work = searches ? space.work : 0,
                                                 .small_gap = kSmallGapOfPoint,
                                                 .bound_work = kBoundWorkOfPoint,
                                                 .must_stop = must_stop});
        const PointFound found{tables, searched, chip::ideal_total(tables.problem)};
        for (const chip::Design design : space.designs) lines += key + found_cells(found, design, must_stop);
    } catch (const Error& error) {
        lines.clear();
        for (const chip::Design design : space.designs)
            lines += fmt::format("{}{},,,,,,,,,,,,{}\n", key, name(design), cell(error.what()));
    }
    return lines;
}

}  // namespace tessera::partition
