#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "ir/body_value.h"
#include "ir/definition.h"
#include "ir/interpreter.h"

namespace tessera::facts {

/// Values of the iterators, or coordinates of an element.
using Point = std::vector<int64_t>;

struct EnumeratedAccess {
    std::vector<ExprPtr> map;
    bool in_predicate;
};

/// A definition under its test setup with every iteration listed. Part of the tests' brute force.
class Enumerated {
public:
    Enumerated(const DefinitionFile& file, const std::string& where);

    const Definition& definition() const { return file_.definition; }
    const BoundExtents& extents() const { return extents_; }
    const std::vector<Point>& box() const { return box_; }
    const std::vector<Point>& executed() const { return executed_; }

    std::vector<EnumeratedAccess> accesses(int tensor) const;
    Point coordinates(const std::vector<ExprPtr>& map, const Point& point) const;
    /// For each axis the numbers that decide its coordinate (zoo notation, depends).
    std::vector<Point> addresses(const std::vector<ExprPtr>& map, const Point& point) const;

    nlohmann::json packs(int64_t lanes) const;
    nlohmann::json units(const std::vector<UnitOperand>& unit) const;

private:
    /// Packed axis of each tensor, -1 for broadcast; nothing if the iterator cannot be packed.
    std::optional<std::vector<int>> pack(size_t iterator, int64_t lanes) const;
    std::optional<int> packed_axis(const EnumeratedAccess& access, const Point& shape, size_t iterator,
                                   int64_t lanes) const;

    DefinitionFile file_;
    std::string where_;
    BoundExtents extents_;
    std::vector<TensorData> data_;
    std::vector<TensorData> zeros_;
    std::unique_ptr<BodyValue> at_;
    std::unique_ptr<BodyValue> at_zeros_;
    std::vector<Point> box_;
    std::vector<Point> executed_;
};

}  // namespace tessera::facts
