#include "search/egraph/pattern.h"

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

Pattern apply_to_all(FamilyPtr family, std::map<std::string, AttributePattern> attributes, std::string name) {
    TESSERA_CHECK(!name.empty());
    Pattern pattern = apply(std::move(family), std::move(attributes), {});
    pattern.all_children = std::move(name);
    return pattern;
}

AttributePattern bound(std::string name) {
    return Bound{std::move(name)};
}

AttributePattern computed(Computed value) {
    return value;
}

}  // namespace tessera::egraph
