#include "partition/explore.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "chip/plan_schedule.h"
#include "chip/read_chip_toml.h"
#include "chip/timeline.h"
#include "partition/chip_tables.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

using machine::TomlFields;

constexpr size_t kMostPoints = 100'000;
constexpr int64_t kMostWork = int64_t{1} << 40;
/// Below it the search takes longer than a bound that is better is worth.
constexpr double kSmallGapOfPoint = 1e-3;
constexpr size_t kBoundWorkOfPoint = 1'000'000;

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

[[noreturn]] void refuse_sweep(uint32_t line, const std::string& where, const std::vector<std::string>& path,
                               const std::string& problem, const std::string& advice = {}) {
    throw Error(fmt::format("{}:{}", where, line), "sweep." + joined_path(path), problem, advice);
}

/// Adds the fields below a table of `sweep`.
void add_swept(const toml::table& table, const std::vector<std::string>& path, const std::string& where,
               std::vector<SweptField>& swept) {
    for (const auto& [key, node] : table) {
        std::vector<std::string> own = path;
        own.emplace_back(key.str());
        if (const toml::table* inner = node.as_table()) {
            add_swept(*inner, own, where, swept);
        } else if (const toml::array* values = node.as_array(); values != nullptr && !values->empty()) {
            swept.push_back({std::move(own), *values, node.source().begin.line});
        } else {
            refuse_sweep(node.source().begin.line, where, own, "must be a list of values that is not empty");
        }
    }
}

/// Sets a field, in an array of tables in each of them. @return whether there is such a field
bool set_field(toml::node& node, const std::vector<std::string>& path, size_t depth,
               const toml::node& value) {
    if (toml::array* array = node.as_array()) {
        bool is_set = !array->empty();
        for (toml::node& each : *array) is_set = set_field(each, path, depth, value) && is_set;
        return is_set;
    }
    toml::table* table = node.as_table();
    if (table == nullptr) return false;
    toml::node* next = table->get(path[depth]);
    if (next == nullptr) return false;
    if (depth + 1 < path.size()) return set_field(*next, path, depth + 1, value);
    if (next->is_table() || next->is_array_of_tables()) return false;
    value.visit([&](const auto& concrete) { table->insert_or_assign(path[depth], concrete); });
    return true;
}

/// The place of a point along each dimension: model, batch, sequence, swept fields.
struct PointPlace {
    size_t model, batch, sequence;
    std::vector<size_t> values;
};

PointPlace place_of(const ExploreSpace& space, size_t point) {
    const auto take = [&](size_t count) {
        const size_t own = point % count;
        point /= count;
        return own;
    };
    PointPlace place;
    place.values.resize(space.swept.size());
    for (size_t k = space.swept.size(); k-- > 0;) place.values[k] = take(space.swept[k].values.size());
    place.sequence = take(space.sequences.size());
    place.batch = take(space.batches.size());
    place.model = take(space.models.size());
    return place;
}

/// The time of one design at a point.
std::string found_cells(const ChipTables& tables, const chip::PlanResult& searched, chip::Design design,
                        const std::function<bool()>& must_stop) {
    const chip::ScheduleProblem& problem = tables.problem;
    const double ideal = chip::ideal_total(problem);
    if (design == chip::Design::kIdeal)
        return fmt::format("{},{:.1f},{:.6g},{:.1f},{:.1f},,,,\n", name(design), ideal,
                           1e3 * ideal / problem.clock_hz, searched.bound, ideal);
    const auto schedule = design == chip::Design::kSearch
                              ? std::optional(searched.schedule)
                              : chip::schedule_by_design(problem, design, must_stop);
    if (!schedule)
        return fmt::format("{},,,{:.1f},{:.1f},,,,finds no schedule\n", name(design), searched.bound, ideal);
    const chip::Timeline timeline = chip::run_schedule(problem, *schedule);
    return fmt::format("{},{:.1f},{:.6g},{:.1f},{:.1f},{:.4f},{:.4f},{:.4f},\n", name(design), timeline.total,
                       1e3 * timeline.total / problem.clock_hz, searched.bound, ideal,
                       timeline.overlapped / timeline.total, timeline.hbm_busy / timeline.total,
                       timeline.link_busy / timeline.total);
}

}  // namespace

size_t ExploreSpace::points() const {
    size_t count = models.size() * batches.size() * sequences.size();
    for (const SweptField& field : swept) count = std::min(count * field.values.size(), kMostPoints + 1);
    return count;
}

std::string ExploreSpace::header() const {
    std::string text = "model,batch,sequence,";
    for (const SweptField& field : swept) text += cell(joined_path(field.path)) + ",";
    return text + "design,cycles,ms,bound,ideal,overlapped,hbm_busy,link_busy,problem\n";
}

ExploreSpace parse_explore_space(std::string_view toml, const std::string& where) {
    const machine::TomlDocument document(toml, where);
    TomlFields file = document.fields();
    ExploreSpace space;
    space.folder = std::filesystem::path(where).parent_path();
    const std::filesystem::path chip = space.folder / file.text("chip");
    space.chip_file = chip.string();
    space.models = file.texts("models");
    if (space.models.empty()) file.refuse("models", "is empty, expected config.json files");
    space.batches = file.has("batch") ? file.integers("batch", 1, 65'536) : std::vector<int64_t>{32};
    space.sequences =
        file.has("sequence") ? file.integers("sequence", 16, 1 << 20) : std::vector<int64_t>{2048};
    if (space.batches.empty()) file.refuse("batch", "is empty, expected numbers");
    if (space.sequences.empty()) file.refuse("sequence", "is empty, expected numbers");
    space.work = file.has("work") ? file.integer("work", 0, kMostWork) : 10'000'000;
    for (const std::string& text :
         file.has("designs") ? file.texts("designs") : std::vector<std::string>{"search"}) {
        const auto design = chip::design_of(text);
        if (!design)
            file.refuse(
                "designs",
                fmt::format("holds {}, expected basic, static, elk-dyn, elk-full, search or ideal", text));
        space.designs.push_back(*design);
    }
    if (space.designs.empty()) file.refuse("designs", "is empty, expected names");
    if (file.has("sweep")) {
        (void)file.table("sweep");
        add_swept(*document.table().get_as<toml::table>("sweep"), {}, where, space.swept);
    }
    file.finish();
    if (space.points() > kMostPoints)
        file.refuse("models", fmt::format("and the lists make more than {} points", kMostPoints));

    const machine::TomlDocument description(machine::read_toml_text(chip, "chip"), space.chip_file);
    space.chip = description.table();
    (void)chip::read_chip_table(space.chip, space.chip_file);
    for (const SweptField& field : space.swept) {
        toml::table changed = space.chip;
        if (!set_field(changed, field.path, 0, field.values[0]))
            refuse_sweep(field.line, where, field.path, fmt::format("is no field of {}", space.chip_file),
                         "a field that is left out there has to be added first");
    }
    return space;
}

ExploreSpace read_explore_space(const std::filesystem::path& path) {
    return parse_explore_space(machine::read_toml_text(path, "space"), path.string());
}

std::string point_key(const ExploreSpace& space, size_t point) {
    const PointPlace place = place_of(space, point);
    std::string key = fmt::format("{},{},{},", cell(space.models[place.model]), space.batches[place.batch],
                                  space.sequences[place.sequence]);
    for (size_t k = 0; k < space.swept.size(); ++k)
        key += cell(text_of(space.swept[k].values[place.values[k]])) + ",";
    return key;
}

std::string point_lines(const ExploreSpace& space, size_t point, const std::function<bool()>& must_stop) {
    const PointPlace place = place_of(space, point);
    const std::string key = point_key(space, point);
    std::string lines;
    try {
        toml::table changed = space.chip;
        for (size_t k = 0; k < space.swept.size(); ++k)
            set_field(changed, space.swept[k].path, 0, space.swept[k].values[place.values[k]]);
        const chip::ChipDescription description = chip::read_chip_table(changed, space.chip_file);
        const Workload workload =
            decode_workload(space.folder / space.models[place.model],
                            {space.batches[place.batch], space.sequences[place.sequence]});
        const ChipTables tables = chip_tables(workload, description, space.chip_file);
        const bool searches = std::find(space.designs.begin(), space.designs.end(), chip::Design::kSearch) !=
                              space.designs.end();
        const chip::PlanResult searched =
            chip::plan_schedule(tables.problem, {.work = searches ? space.work : 0,
                                                 .small_gap = kSmallGapOfPoint,
                                                 .bound_work = kBoundWorkOfPoint,
                                                 .must_stop = must_stop});
        for (const chip::Design design : space.designs)
            lines += key + found_cells(tables, searched, design, must_stop);
    } catch (const Error& error) {
        lines.clear();
        for (const chip::Design design : space.designs)
            lines += fmt::format("{}{},,,,,,,,{}\n", key, name(design), cell(error.what()));
    }
    return lines;
}

}  // namespace tessera::partition
