#include "egraph/pattern.h"

#include <utility>

#include "support/error.h"

namespace tessera::egraph {

Pattern hole(std::string name, std::function<bool(const ClassFacts&)> accepts) {
    TESSERA_CHECK(!name.empty());
    return {.hole = std::move(name), .accepts = std::move(accepts)};
}

Pattern apply(FamilyPtr family, std::map<std::string, AttributePattern> attributes,
              std::vector<Pattern> children) {
    TESSERA_CHECK(family && family->recognise);
    return {.hole = {},
            .family = std::move(family),
            .attributes = std::move(attributes),
            .children = std::move(children)};
}

Pattern member(std::string name, FamilyPtr family) {
    TESSERA_CHECK(!name.empty() && family && family->recognise);
    return {.hole = std::move(name), .family = std::move(family)};
}

AttributePattern bound(std::string name) {
    return Bound{std::move(name)};
}

AttributePattern computed(Computed value) {
    return value;
}

}  // namespace tessera::egraph
