// The page is plain HTML that reads without its script, which only hides what does not match the words in the
// search box. All elements are closed, so that it is XML as well.
#include "search/layouts/search_page.h"

#include <algorithm>

#include <fmt/core.h>

#include "search/egraph/dot.h"
#include "search/layouts/derivation.h"
#include "search/layouts/form_text.h"
#include "search/layouts/value_forms.h"
#include "search/rules/vectorize/pack.h"
#include "support/printable.h"

namespace tessera::layouts {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark }
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em }
input { font: inherit; padding: .4em; width: 100%; box-sizing: border-box; position: sticky; top: .5em }
table { border-collapse: collapse; margin: .3em 0 1em }
td, th { padding: .15em .8em .15em 0; text-align: left; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
code { font-size: .92em }
summary { cursor: pointer }
details.value > summary { padding: .15em 0 }
details.value > table { margin-left: 1.2em }
tr.chosen { font-weight: bold }
tr.impossible { opacity: .65 }
ol { margin: .2em 0; padding-left: 1.5em; font-weight: normal }
)";

constexpr std::string_view kScript = R"(
const box = document.getElementById('search'), count = document.getElementById('count');
const values = Array.from(document.querySelectorAll('details.value'))
  .map(element => ({element, text: element.textContent.toLowerCase()}));
box.addEventListener('input', () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(word => word);
  let shown = 0;
  values.forEach(value => {
    const hits = words.every(word => value.text.includes(word));
    value.element.hidden = !hits;
    shown += hits ? 1 : 0;
  });
  count.textContent = shown + ' of ' + values.length + ' values';
});
)";

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : printable(text)) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

std::string microseconds(double seconds) {
    return fmt::format("{:.3f}", seconds * 1e6);
}

class Page {
public:
    Page(const Graph& graph, const plan::Plan& initial, const Search& search)
        : graph_(graph),
          initial_(initial),
          search_(search),
          values_(forms_of_values(graph, initial, search)),
          derivations_(search, values_) {}

    std::string text() const {
        std::string page = fmt::format(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
            "<title>Layouts of {0}</title>\n<style>{1}</style></head>\n<body>\n<h1>Layouts of {0}</h1>\n",
            escaped(graph_.name), kStyle);
        page += summary_of_search();
        page += fmt::format(
            "<p><input id=\"search\" placeholder=\"operator, tensor, layout, micro-kernel or rule\"/></p>\n"
            "<p id=\"count\">{} values</p>\n",
            values_.size());
        std::string heading;
        for (const ValueForms& value : values_) {
            const std::string place = place_of(value);
            if (std::exchange(heading, place) != place) page += "<h2>" + escaped(place) + "</h2>\n";
            page += of_value(value);
        }
        return page + fmt::format("<script>{}</script>\n</body></html>\n", kScript);
    }

private:
    std::string place_of(const ValueForms& value) const {
        if (!value.at) return "constants";
        return fmt::format("{}, block {}", initial_.specialisations[value.at->specialisation].name,
                           graph_.blocks[value.at->block].name);
    }

    std::string summary_of_search() const {
        const extraction::Result& result = search_.result;
        std::string points;
        for (const Point& point : graph_.points)
            points += fmt::format("{}{} x {}", points.empty() ? "" : " + ", point.weight, point.name);
        std::string text = fmt::format(
            "<p>{} us by the weights of the points{}; no layouts take less than {} us ({} after {} "
            "conflicts). "
            "{} e-nodes in {} classes, {} iterations: {}.</p>\n",
            microseconds(result.cost), points.empty() ? "" : " (" + escaped(points) + ")",
            microseconds(result.bound), name(result.status), result.conflicts, search_.saturation.nodes,
            search_.saturation.classes, search_.saturation.iterations, name(search_.saturation.stop));
        text +=
            "<table><tr><th>rule</th><th class=\"n\">matches</th><th class=\"n\">new</th>"
            "<th class=\"n\">rests</th></tr>\n";
        for (const egraph::RuleReport& rule : search_.saturation.rules)
            text += fmt::format(
                "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                escaped(rule.name), rule.matches, rule.unions, rule.rests);
        return text + "</table>\n";
    }

    std::string of_value(const ValueForms& value) const {
        double seconds = 0;
        std::string chosen;
        for (const ValueForm& form : value.forms) {
            if (!form.is_chosen) continue;
            seconds += form.cost.seconds;
            chosen += (chosen.empty() ? "" : ", then ") + form_text(search_.graph.egraph, form.term);
        }
        std::string names;
        for (const std::string& tensor : value.tensors) names += (names.empty() ? "" : ", ") + tensor;
        std::string text = fmt::format(
            "<details class=\"value\"><summary><b>{}</b>{}: <code>{}</code>, {} us, {} form{}</summary>\n"
            "<table><tr><th></th><th class=\"n\">us</th><th>form</th><th>by</th></tr>\n",
            escaped(names), value.made_by.empty() ? "" : " of " + escaped(value.made_by),
            escaped(chosen.empty() ? "not needed" : chosen), microseconds(seconds), value.forms.size(),
            value.forms.size() == 1 ? "" : "s");
        for (const ValueForm& form : value.forms) text += of_form(value, form);
        return text + "</table></details>\n";
    }

    std::string of_form(const ValueForms& value, const ValueForm& form) const {
        const bool is_impossible = form.node < 0;
        const std::string by = is_impossible          ? "impossible: " + form.cost.why_infinite
                               : form.cost.by.empty() ? "nothing to choose"
                                                      : form.cost.by;
        return fmt::format(
            "<tr class=\"{}\"><td>{}</td><td class=\"n\">{}</td><td><code>{}</code>{}</td><td>{}</td></tr>\n",
            is_impossible    ? "impossible"
            : form.is_chosen ? "chosen"
                             : "rejected",
            form.is_chosen ? "chosen" : "", is_impossible ? "" : microseconds(form.cost.seconds),
            escaped(form_text(search_.graph.egraph, form.term)), rules_behind(value, form), escaped(by));
    }

    std::string rules_behind(const ValueForms& value, const ValueForm& form) const {
        const std::vector<DerivationStep> steps = derivations_.of(value, form.term);
        if (steps.empty()) return "";
        std::string names, list;
        for (const DerivationStep& step : steps) {
            names += (names.empty() ? "" : ", ") + step.rule;
            list += fmt::format("<li>{}: <code>{}</code> = <code>{}</code></li>",
                                escaped(step.rule + (step.is_forward ? "" : ", backwards")),
                                escaped(step.before), escaped(step.after));
        }
        return fmt::format("<details><summary>by {}</summary><ol>{}</ol></details>", escaped(names), list);
    }

    const Graph& graph_;
    const plan::Plan& initial_;
    const Search& search_;
    const std::vector<ValueForms> values_;
    const Derivations derivations_;
};

}  // namespace

std::string html_page(const Graph& graph, const plan::Plan& initial, const Search& search) {
    return Page(graph, initial, search).text();
}

std::string dot_text(const Search& search) {
    const egraph::EGraph& graph = search.graph.egraph;
    std::map<egraph::TermId, std::string> notes;
    for (size_t i = 0; i < search.problem.nodes.size(); ++i)
        notes[search.problem.nodes[i]] =
            fmt::format("{} us{}", microseconds(search.costs[i].seconds),
                        search.costs[i].by.empty() ? "" : " by " + search.costs[i].by);
    for (const auto& [term, cost] : search.impossible) notes[term] = "impossible: " + cost.why_infinite;
    return dot(graph, egraph::selection_of(search.problem, search.result.choice), notes);
}

}  // namespace tessera::layouts
