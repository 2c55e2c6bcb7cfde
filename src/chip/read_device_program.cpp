#include <algorithm>
#include <limits>
#include <set>

#include <fmt/core.h>

#include "chip/read_chip.h"
#include "support/error.h"
#include "support/json.h"
#include "support/near_names.h"
#include "support/shown.h"

namespace tessera::chip {
namespace {

constexpr JsonBounds kProgramBounds{
    .bytes = size_t{256} << 20, .values = 20'000'000, .depth = 16, .word = 1 << 16};
/// Sums of bytes stay whole numbers of a double.
constexpr int64_t kMostTransferBytes = int64_t{1} << 40;
constexpr int64_t kMostFlops = int64_t{1} << 50;

class ProgramReader {
public:
    ProgramReader(const Chip& chip, bool plans_suffice) : chip_(chip), plans_suffice_(plans_suffice) {}

    DeviceProgram read(const JsonCursor& file) const {
        DeviceProgram program;
        program.name = file.string_or("name", "");
        for (const JsonCursor& item : file.at("operators").items())
            program.operators.push_back(operator_of(item));
        if (program.operators.empty()) file.at("operators").fail("is [], expected at least one operator");
        read_entries(file.at("program"), program);
        return program;
    }

private:
    int32_t core(const JsonCursor& at) const {
        return static_cast<int32_t>(
            at.integer(0, chip_.cores - 1, fmt::format("a core, 0 to {}", chip_.cores - 1)));
    }

    std::vector<int32_t> targets(const JsonCursor& at, int32_t from) const {
        std::vector<int32_t> result;
        std::set<int32_t> seen;
        for (const JsonCursor& item : at.items()) {
            const int32_t target = core(item);
            if (target == from) item.fail(fmt::format("is {}, the sender itself", target));
            if (!seen.insert(target).second) item.fail(fmt::format("is {}, which is there twice", target));
            result.push_back(target);
        }
        if (result.empty()) at.fail("is [], expected at least one core");
        return result;
    }

    int32_t controller(const JsonCursor& at) const {
        const std::vector<JsonCursor> items = at.items();
        if (items.size() != 1) at.fail(fmt::format("is {}, expected one controller", at.shown()));
        const std::string name = items[0].string();
        for (size_t h = 0; h < chip_.hbm.size(); ++h)
            if (name == fmt::format("h{}", h)) return static_cast<int32_t>(h);
        items[0].fail(fmt::format("is \"{}\", expected a controller of the chip, which has {}", shown(name),
                                  chip_.hbm.size()));
    }

    Transfer transfer(const JsonCursor& at, TransferKind kind) const {
        Transfer result;
        const bool is_preload = kind == TransferKind::kPreload;
        if (!is_preload) result.from = core(at.at("from"));
        if (kind == TransferKind::kStore)
            result.to.push_back(controller(at.at("to")));
        else
            result.to = targets(at.at("to"), is_preload ? -1 : result.from);
        result.bytes = at.at("bytes").integer(0, kMostTransferBytes);
        if (kind == TransferKind::kShift || kind == TransferKind::kReduce)
            result.step = at.at("step").integer(0, std::numeric_limits<int64_t>::max());
        if (is_preload && result.bytes > 0 && chip_.hbm.empty())
            at.fail("needs a controller, the chip has none");
        return result;
    }

    Tile tile(const JsonCursor& at) const {
        Tile result;
        result.step = at.at("step").integer(0, std::numeric_limits<int64_t>::max());
        result.core = core(at.at("core"));
        const std::string unit = at.at("unit").string();
        std::vector<std::string> known;
        for (const ComputeUnit& each : chip_.units) known.push_back(each.name);
        const auto found = std::find(known.begin(), known.end(), unit);
        if (found == known.end()) {
            const std::vector<std::string> near = near_names(unit, known);
            at.at("unit").fail(fmt::format("is \"{}\", which is no unit of the chip", shown(unit)),
                               near.empty() ? "" : fmt::format("did you mean `{}`?", near.front()));
        }
        result.unit = static_cast<size_t>(found - known.begin());
        result.flops = at.at("flops").integer(0, kMostFlops);
        return result;
    }

    std::vector<int64_t> spaces(const JsonCursor& at) const {
        std::vector<int64_t> result;
        for (const JsonCursor& item : at.items()) result.push_back(item.integer(0, kMostTransferBytes));
        if (result.size() != static_cast<size_t>(chip_.cores))
            at.fail(fmt::format("has {} sizes, expected one of each of the {} cores", result.size(),
                                chip_.cores));
        return result;
    }

    ProgramOperator operator_of(const JsonCursor& at) const {
        ProgramOperator result;
        result.name = at.string_or("name", "");
        if (plans_suffice_ && !at.find("execute_bytes") && at.find("plan")) {
            expect_no_work(at);
            return result;
        }
        for (const TransferKind kind : kTransferKinds)
            if (const auto list = at.find(name(kind)))
                for (const JsonCursor& item : list->items())
                    result.transfers[static_cast<size_t>(kind)].push_back(transfer(item, kind));
        if (const auto list = at.find("compute"))
            for (const JsonCursor& item : list->items()) result.tiles.push_back(tile(item));
        result.preload_bytes = spaces(at.at("preload_bytes"));
        result.execute_bytes = spaces(at.at("execute_bytes"));
        return result;
    }

    static void expect_no_work(const JsonCursor& at) {
        for (const char* list :
             {"preload", "distribute", "shift", "compute", "reduce", "store", "preload_bytes"})
            if (at.find(list))
                at.fail(fmt::format("has `{}` and no `execute_bytes`", list),
                        "leave out all work and spaces, which then follow from `plan`, or nothing of them");
    }

    void read_entries(const JsonCursor& at, DeviceProgram& program) const {
        std::set<size_t> preloaded;
        size_t executed = 0;
        for (const JsonCursor& item : at.items()) {
            const std::vector<JsonCursor> pair = item.items();
            if (pair.size() != 2)
                item.fail(
                    fmt::format("is {}, expected [\"preload\" or \"execute\", operator]", item.shown()));
            const std::string what = pair[0].string();
            if (what != "preload" && what != "execute")
                pair[0].fail(fmt::format("is \"{}\", expected \"preload\" or \"execute\"", shown(what)));
            const auto most = static_cast<int64_t>(program.operators.size()) - 1;
            const auto op = static_cast<size_t>(
                pair[1].integer(0, most, fmt::format("an index of `operators`, 0 to {}", most)));
            if (what == "preload" && !preloaded.insert(op).second)
                item.fail(fmt::format("preloads operator {} a second time", op));
            if (what == "execute" && op != executed++)
                item.fail(fmt::format("executes operator {}, expected {}: executes are in order", op,
                                      executed - 1));
            program.entries.push_back({what == "execute", op});
        }
        for (size_t op = 0; op < program.operators.size(); ++op)
            if (!preloaded.contains(op)) at.fail(fmt::format("has no preload of operator {}", op));
        if (executed < program.operators.size())
            at.fail(fmt::format("has no execute of operator {}", executed));
    }

    const Chip& chip_;
    bool plans_suffice_;
};

}  // namespace

const char* name(TransferKind kind) {
    switch (kind) {
        case TransferKind::kPreload:
            return "preload";
        case TransferKind::kDistribute:
            return "distribute";
        case TransferKind::kShift:
            return "shift";
        case TransferKind::kReduce:
            return "reduce";
        case TransferKind::kStore:
            break;
    }
    return "store";
}

JsonCursor parse_device_program(std::string_view json, const std::string& where) {
    JsonCursor file = parse_json(json, where, kProgramBounds);
    if (!file.is_object()) file.fail_expected("an object");
    return file;
}

DeviceProgram read_device_program(std::string_view json, const std::string& where, const Chip& chip) {
    return ProgramReader(chip, /*plans_suffice=*/false).read(parse_device_program(json, where));
}

DeviceProgram read_planned_program(const JsonCursor& file, const Chip& chip) {
    return ProgramReader(chip, /*plans_suffice=*/true).read(file);
}

}  // namespace tessera::chip
