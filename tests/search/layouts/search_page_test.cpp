#include "search/layouts/search_page.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/layouts/two_products.h"
#include "search/layouts/value_forms.h"

namespace tessera::layouts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Searched;

size_t count(const std::string& text, std::string_view part) {
    size_t number = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++number;
    return number;
}

/// The first element that is not closed as it was opened; empty if there is none.
std::string unbalanced(const std::string& page) {
    std::vector<std::string> open;
    for (size_t at = page.find("<html"); (at = page.find('<', at)) != std::string::npos;) {
        const size_t end = page.find('>', at);
        if (end == std::string::npos) return page.substr(at, 40);
        std::string tag = page.substr(at + 1, end - at - 1);
        at = end;
        if (tag.ends_with('/')) continue;
        const bool closes = tag.starts_with('/');
        tag = tag.substr(closes, tag.find_first_of(" \n", closes) - closes);
        if (!closes)
            open.push_back(tag);
        else if (open.empty() || open.back() != tag)
            return tag;
        else
            open.pop_back();
    }
    return open.empty() ? "" : open.back();
}

TEST(ValueForms, TheChosenOnesAddUpToTheCostOfTheSearch) {
    const Searched all;
    double seconds = 0;
    std::vector<std::string> names;
    for (const ValueForms& value : forms_of_values(all.graph, all.initial, all.search)) {
        names.push_back(value.tensors.front());
        for (const ValueForm& form : value.forms) {
            if (form.is_chosen) seconds += form.cost.seconds;
            EXPECT_EQ(form.node < 0, !form.cost.why_infinite.empty());
        }
    }
    EXPECT_THAT(names, ElementsAre("W", "V", "X", "H", "Y"));
    EXPECT_NEAR(seconds, all.search.result.cost, 1e-12);
}

TEST(SearchPage, HasAllFormsAndIsWellFormed) {
    const Searched all;
    const std::string page = html_page(all.graph, all.initial, all.search);
    EXPECT_EQ(unbalanced(page), "");
    EXPECT_EQ(count(page, "<tr class=\""), all.search.problem.nodes.size() + all.search.impossible.size());
    EXPECT_THAT(page, HasSubstr("<h1>Layouts of &lt;b&gt;x &amp; y</h1>"));
    EXPECT_THAT(page, HasSubstr("lanes &lt;0:16, 1:16&gt;"));
    EXPECT_THAT(page, Not(HasSubstr("lanes <")));
    EXPECT_THAT(page, HasSubstr("<summary>by meta-pack"));
    // A page that opens from disk asks nobody for anything.
    for (const char* outside : {"http", "src=", "<link", "@import", "url("})
        EXPECT_THAT(page, Not(HasSubstr(outside)));
    EXPECT_EQ(page, html_page(all.graph, all.initial, all.search));
}

TEST(SearchPage, UnbalancedElementsAreFound) {
    EXPECT_EQ(unbalanced("<html><b></html>"), "html");
    EXPECT_EQ(unbalanced("<html><b>x</b><i/>"), "html");
    EXPECT_EQ(unbalanced("<html><p class=\"x\"></p></html>"), "");
}

TEST(SearchPage, DotMarksWhatWasChosen) {
    const Searched all;
    std::set<egraph::ClassId> computed;
    for (const int node : all.search.result.choice)
        if (node >= 0)
            computed.insert(all.search.problem.classes[static_cast<size_t>(
                all.search.problem.problem.nodes[static_cast<size_t>(node)].e_class)]);
    EXPECT_EQ(count(dot_text(all.search), ", style=filled]"), computed.size());
}

}  // namespace
}  // namespace tessera::layouts
