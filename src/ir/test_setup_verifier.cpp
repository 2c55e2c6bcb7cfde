#include <algorithm>
#include <set>

#include "ir/checked_arithmetic.h"
#include "ir/definition_parser.h"
#include "ir/integer_form.h"

/// The rules on the part after `test`, as far as they do not depend on extents.
namespace tessera {
namespace {

class TestVerifier {
public:
    TestVerifier(const DefinitionFile& file, const std::string& source)
        : d_(file.definition), test_(file.test), lines_(file.lines), source_(source) {}

    void run() const {
        for (size_t i = 0; i < d_.dims.size(); ++i) check_binding(d_.dims[i], line_at(lines_.dims, i));
        for (size_t i = 0; i < d_.tensors.size(); ++i) {
            if (d_.tensors[i].role == Role::kIndex) check_fill(d_.tensors[i], line_at(lines_.tensors, i));
        }
        check_names();
        for (const auto& [iterator, tile] : test_.tile) check_tile(iterator, tile);
        if (test_.lanes < 1)
            fail(lines_.lanes, "lanes", fmt::format("is {}, expected at least 1", test_.lanes));
        if (!test_.unit.empty()) check_unit();
    }

private:
    [[noreturn]] void fail(int line, const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(place(source_, line), entity, problem, advice);
    }

    static int line_of(const std::map<std::string, int>& lines, const std::string& name) {
        const auto found = lines.find(name);
        return found == lines.end() ? 0 : found->second;
    }

    void check_binding(const DimSymbol& dim, int declared) const {
        const auto bound = test_.bind.find(dim.name);
        if (bound == test_.bind.end())
            fail(declared, dim.name, "has no value",
                 fmt::format("add `bind {} = ...` to the test part", dim.name));
        const int line = line_of(lines_.bindings, dim.name);
        const int64_t value = bound->second;
        if (value < dim.low || value > dim.high) {
            fail(line, dim.name, fmt::format("is bound to {}, expected {}..{}", value, dim.low, dim.high));
        }
        if (value % dim.multiple_of != 0) {
            fail(line, dim.name,
                 fmt::format("is bound to {}, expected a multiple of {}", value, dim.multiple_of));
        }
    }

    void check_fill(const TensorDecl& tensor, int declared) const {
        const auto fill = test_.fill.find(tensor.name);
        if (fill == test_.fill.end()) {
            fail(declared, tensor.name, "has no contents",
                 fmt::format("add `fill {}[i] = ...` to the test part", tensor.name));
        }
        verify_integer_form(d_, fill->second, true,
                            {place(source_, line_of(lines_.fills, tensor.name)), tensor.name});
    }

    /// Names in the test part must belong to the definition.
    void check_names() const {
        for (const auto& [dim, value] : test_.bind) {
            if (d_.dim(dim) < 0) fail(line_of(lines_.bindings, dim), dim, "is bound, but is not a dim");
        }
        for (const auto& [operand, contents] : test_.fill) {
            const int tensor = d_.tensor(operand);
            if (tensor < 0 || d_.tensors[static_cast<size_t>(tensor)].role != Role::kIndex) {
                fail(line_of(lines_.fills, operand), operand, "is filled, but is not an index operand");
            }
        }
        for (const auto& [iterator, tile] : test_.tile) {
            if (d_.iterator(iterator) < 0)
                fail(line_of(lines_.tiles, iterator), iterator, "is tiled, but is not an iterator");
        }
    }

    void check_tile(const std::string& iterator, const TileSize& tile) const {
        const int line = line_of(lines_.tiles, iterator);
        if (tile.size < 1)
            fail(line, iterator, fmt::format("has a tile of {}, expected at least 1", tile.size));
        if (tile.origin < 0 || tile.origin % tile.size != 0) {
            fail(line, iterator,
                 fmt::format("has a tile at {}, expected a multiple of its size {}", tile.origin, tile.size));
        }
    }

    void check_unit() const {
        if (test_.unit.size() != 3) {
            fail(lines_.unit, "unit",
                 fmt::format("has {} operands, expected two factors and a result", test_.unit.size()));
        }
        std::set<std::string> roles;
        std::map<std::string, int64_t> lanes;
        for (const UnitOperand& operand : test_.unit) {
            if (!roles.insert(operand.role).second)
                fail(lines_.unit, operand.role, "names two operands of the unit");
            std::map<std::string, int64_t> product;
            for (const auto& [axis, count] : operand.lanes) {
                if (count < 1)
                    fail(lines_.unit, axis, fmt::format("has {} lanes, expected at least 1", count));
                int64_t& total = product.try_emplace(axis, 1).first->second;
                total = checked_mul(total, count, place(source_, lines_.unit));
            }
            for (const auto& [axis, total] : product) {
                if (const auto [known, is_new] = lanes.emplace(axis, total);
                    !is_new && known->second != total) {
                    fail(lines_.unit, axis,
                         fmt::format("has {} lanes in `{}`, expected {} as in the operands before", total,
                                     operand.role, known->second));
                }
            }
        }
    }

    const Definition& d_;
    const TestSetup& test_;
    const DefinitionLines& lines_;
    const std::string& source_;
};

}  // namespace

void verify_test_at(const DefinitionFile& file, const std::string& where) {
    TestVerifier(file, where).run();
}

}  // namespace tessera
