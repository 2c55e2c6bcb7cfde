#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "chip/partition/explore.h"
#include "chip/read_chip_toml.h"
#include "ir/ops/cache_update.h"
#include "machine/older_formats.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

using machine::TomlFields;

constexpr size_t kMostPoints = 100'000;
constexpr int64_t kMostWork = int64_t{1} << 40;

[[noreturn]] void refuse_field(const std::string& where, const std::string& table, const SweptField& field,
                               const std::string& problem, const std::string& advice = {}) {
    throw Error(fmt::format("{}:{}", where, field.line),
                fmt::format("{}.{}", table, fmt::join(field.path, ".")), problem, advice);
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
            refuse_field(where, "sweep", {own, {}, node.source().begin.line},
                         "must be a list of values that is not empty");
        }
    }
}

/// The entry of this name; null if there is none.
toml::node* entry_of(toml::array& array, const std::string& name) {
    for (toml::node& each : array)
        if (const toml::table* table = each.as_table())
            if (table->get_as<std::string>("name") && *table->get_as<std::string>("name") == name)
                return &each;
    return nullptr;
}

bool set_field(toml::node& node, const std::vector<std::string>& path, size_t depth,
               const toml::node& value) {
    if (toml::array* array = node.as_array()) {
        if (toml::node* entry = entry_of(*array, path[depth]))
            return depth + 1 < path.size() && set_field(*entry, path, depth + 1, value);
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

/// The fields of a variant, each with its one value.
void add_fields(const toml::table& table, const std::vector<std::string>& path,
                std::vector<SweptField>& fields) {
    for (const auto& [key, node] : table) {
        std::vector<std::string> own = path;
        own.emplace_back(key.str());
        if (path.empty() && key.str() == "name") continue;
        if (const toml::table* inner = node.as_table()) {
            add_fields(*inner, own, fields);
            continue;
        }
        SweptField field{std::move(own), {}, node.source().begin.line};
        node.visit([&](const auto& concrete) { field.values.push_back(concrete); });
        fields.push_back(std::move(field));
    }
}

std::vector<ChipVariant> variants_of(const toml::table& document, TomlFields& file) {
    std::vector<ChipVariant> variants;
    if (!file.has("variants")) return variants;
    std::vector<TomlFields> tables = file.tables("variants");
    const toml::array& all = *document.get_as<toml::array>("variants");
    for (size_t i = 0; i < tables.size(); ++i) {
        ChipVariant variant{.name = tables[i].text("name"), .fields = {}};
        if (std::any_of(variants.begin(), variants.end(),
                        [&](const ChipVariant& each) { return each.name == variant.name; }))
            tables[i].refuse("name", fmt::format("is {} a second time", variant.name));
        add_fields(*all[i].as_table(), {}, variant.fields);
        variants.push_back(std::move(variant));
    }
    return variants;
}

std::vector<ExploredChip> chips_of(TomlFields& file, const std::filesystem::path& folder) {
    std::vector<ExploredChip> chips;
    if (file.has("chip") == file.has("chips"))
        file.refuse(file.has("chip") ? "chips" : "chip",
                    "expected one of `chip`, a file, and `chips`, a list of files");
    for (const std::string& text :
         file.has("chip") ? std::vector<std::string>{file.text("chip")} : file.texts("chips")) {
        const std::filesystem::path path = folder / text;
        const machine::TomlDocument description(machine::read_toml_text(path, "chip"), path.string());
        chips.push_back({path.stem().string(), path.string(), description.table()});
        (void)chip::read_chip_table(chips.back().description, chips.back().file);
    }
    if (chips.empty()) file.refuse("chips", "is empty, expected files");
    return chips;
}

std::vector<chip::Design> designs_of(TomlFields& file) {
    std::vector<chip::Design> designs;
    for (const std::string& text :
         file.has("designs") ? file.texts("designs") : std::vector<std::string>{"search"}) {
        const auto design = chip::design_of(text);
        if (!design)
            file.refuse(
                "designs",
                fmt::format("holds {}, expected basic, static, elk-dyn, elk-full, search or ideal", text));
        designs.push_back(*design);
    }
    if (designs.empty()) file.refuse("designs", "is empty, expected names");
    return designs;
}

void read_shapes(TomlFields& file, ExploreSpace& space) {
    space.phases = {std::nullopt};
    if (file.has("phase")) {
        space.phases.clear();
        for (const std::string& text : file.texts("phase")) {
            space.phases.emplace_back(phase_of(text));
            if (!space.phases.back())
                file.refuse("phase", fmt::format("holds {}, expected decode, prefill or training", text));
        }
        if (space.phases.empty()) file.refuse("phase", "is empty, expected names");
    }
    space.batches = file.has("batch") ? file.integers("batch", 1, 65'536) : std::vector<int64_t>{32};
    if (space.batches.empty()) file.refuse("batch", "is empty, expected numbers");
    space.sequences = {std::nullopt};
    if (file.has("sequence")) {
        const std::vector<int64_t> lengths = file.integers("sequence", ops::kPageSlots, 1 << 20);
        for (const int64_t length : lengths)
            if (length % ops::kPageSlots != 0)
                file.refuse("sequence",
                            fmt::format("holds {}, expected multiples of {}", length, ops::kPageSlots));
        space.sequences.assign(lengths.begin(), lengths.end());
        if (space.sequences.empty()) file.refuse("sequence", "is empty, expected numbers");
    }
}

/// The columns that tell rows apart.
std::vector<std::string> key_columns(const ExploreSpace& space) {
    std::vector<std::string> columns = {"chip", "model", "phase", "batch", "sequence", "variant", "design"};
    for (const SweptField& field : space.swept)
        columns.push_back(fmt::format("{}", fmt::join(field.path, ".")));
    return columns;
}

/// True if both fields set the same one of a chip, so that the chip depends on which is set last.
bool are_same_field(const toml::table& chip, SweptField a, SweptField b) {
    a.values = toml::array{"the one"};
    b.values = toml::array{"the other"};
    toml::table one = chip, other = chip;
    set_chip_field(one, a, 0);
    set_chip_field(one, b, 0);
    set_chip_field(other, b, 0);
    set_chip_field(other, a, 0);
    return one != other;
}

/// No field of a point is set twice. @pre check_fields
void check_overlaps(const ExploreSpace& space, const std::string& where) {
    for (const ExploredChip& chip : space.chips) {
        const auto check = [&](const char* table, const SweptField& field, const SweptField& before) {
            if (are_same_field(chip.description, before, field))
                refuse_field(where, table, field,
                             fmt::format("is the field `{}` of line {} again", fmt::join(before.path, "."),
                                         before.line));
        };
        for (size_t k = 0; k < space.swept.size(); ++k)
            for (size_t before = 0; before < k; ++before) check("sweep", space.swept[k], space.swept[before]);
        for (const ChipVariant& variant : space.variants)
            for (size_t k = 0; k < variant.fields.size(); ++k) {
                for (const SweptField& swept : space.swept) check("variants", variant.fields[k], swept);
                for (size_t before = 0; before < k; ++before)
                    check("variants", variant.fields[k], variant.fields[before]);
            }
    }
}

/// Every field that the space changes is one of every chip.
void check_fields(const ExploreSpace& space, const std::string& where) {
    for (const ExploredChip& chip : space.chips) {
        const auto check = [&](const char* table, const SweptField& field) {
            toml::table changed = chip.description;
            if (!set_chip_field(changed, field, 0))
                refuse_field(where, table, field, fmt::format("is no field of {}", chip.file),
                             "a field that is left out there has to be added first");
        };
        for (const SweptField& field : space.swept) check("sweep", field);
        for (const ChipVariant& variant : space.variants)
            for (const SweptField& field : variant.fields) check("variants", field);
    }
}

}  // namespace

bool set_chip_field(toml::node& chip, const SweptField& field, size_t value) {
    const toml::node& wanted = field.values[value];
    return set_field(chip, field.path, 0, wanted) ||
           set_field(chip, machine::renamed_chip_field(field.path), 0, wanted);
}

size_t ExploreSpace::points() const {
    size_t count = chips.size() * models.size() * phases.size() * batches.size() * sequences.size() *
                   std::max<size_t>(1, variants.size());
    for (const SweptField& field : swept) count = std::min(count * field.values.size(), kMostPoints + 1);
    return count;
}

ExploreSpace parse_explore_space(std::string_view toml, const std::string& where) {
    const machine::TomlDocument document(toml, where);
    TomlFields file = document.fields();
    ExploreSpace space;
    space.folder = std::filesystem::path(where).parent_path();
    space.models = file.texts("models");
    if (space.models.empty()) file.refuse("models", "is empty, expected config.json files");
    read_shapes(file, space);
    space.work = file.has("work") ? file.integer("work", 0, kMostWork) : 10'000'000;
    space.designs = designs_of(file);
    space.variants = variants_of(document.table(), file);
    if (file.has("sweep")) {
        (void)file.table("sweep");
        add_swept(*document.table().get_as<toml::table>("sweep"), {}, where, space.swept);
    }
    if (file.has("plots")) space.plots = read_plots(file, key_columns(space));
    space.chips = chips_of(file, space.folder);
    file.finish();
    if (space.points() > kMostPoints)
        file.refuse("models", fmt::format("and the lists make more than {} points", kMostPoints));
    check_fields(space, where);
    check_overlaps(space, where);
    return space;
}

ExploreSpace read_explore_space(const std::filesystem::path& path) {
    ExploreSpace space = parse_explore_space(machine::read_toml_text(path, "space"), path.string());
    for (const std::string& model : space.models)
        if (!std::filesystem::exists(space.folder / model))
            throw Error(path.string(), "models", fmt::format("holds {}, which does not exist", model),
                        "paths are relative to this file");
    return space;
}

}  // namespace tessera::partition
