#include "search/rules/algebra/families.h"

namespace tessera::rules {

egraph::FamilyPtr family(std::string name,
                         std::optional<egraph::Attributes> (*recognise)(const egraph::Operator&),
                         std::optional<egraph::Operator> (*make)(const egraph::Attributes&,
                                                                 std::span<const TensorType>, Symbols),
                         Symbols symbols) {
    return std::make_shared<egraph::OperatorFamily>(egraph::OperatorFamily{
        .name = std::move(name),
        .recognise = recognise,
        .make = [make, symbols = std::vector(symbols.begin(), symbols.end())](
                    const egraph::Attributes& attributes, std::span<const TensorType> types) {
            return make(attributes, types, symbols);
        }});
}

egraph::Pattern any_unary(const Families& families, egraph::Pattern x) {
    return egraph::apply(families.unary, {{"body", egraph::bound("f")}, {"result", egraph::bound("type")}},
                         {std::move(x)});
}

egraph::Pattern any_binary(const Families& families, egraph::Pattern x, egraph::Pattern z) {
    return egraph::apply(families.binary, {{"body", egraph::bound("f")}, {"result", egraph::bound("type")}},
                         {std::move(x), std::move(z)});
}

}  // namespace tessera::rules
