#include "search/egraph/family.h"

#include <utility>

namespace tessera::egraph {

FamilyPtr composites(
    std::string kind,
    std::function<std::optional<Operator>(const Attributes&, std::span<const TensorType>)> make) {
    const auto recognise = [kind](const Operator& op) -> std::optional<Attributes> {
        const auto* composite = std::get_if<Composite>(&op.what);
        if (!composite || composite->kind != kind) return std::nullopt;
        Attributes attributes;
        for (const auto& [name, value] : composite->attributes)
            attributes[name] = std::visit([](const auto& v) -> Attribute { return v; }, value);
        return attributes;
    };
    return std::make_shared<OperatorFamily>(
        OperatorFamily{.name = std::move(kind), .recognise = recognise, .make = std::move(make)});
}

}  // namespace tessera::egraph
