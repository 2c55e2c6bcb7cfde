#include "run/jinja/template.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::jinja {
namespace {

std::string render(std::string_view source, const Variables& variables = {},
                   const RenderSettings& settings = {}) {
    return Template::parse(source, "t.jinja").render(variables, settings).bytes();
}

/// The error of parsing or rendering.
std::string error_of(std::string_view source, const Variables& variables = {},
                     const RenderSettings& settings = {}) {
    try {
        return "no error: " + render(source, variables, settings);
    } catch (const Error& error) {
        return error.what();
    }
}

/// The error of parsing alone.
std::string load_error(std::string_view source) {
    try {
        (void)Template::parse(source, "t.jinja");
        return "no error";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(Template, NamesRowAndColumnWhereItIsNotWellFormed) {
    EXPECT_EQ(load_error("a\n  {{ x | uper }}"),
              "t.jinja:2:10: there is no filter `uper` (known are, among others, upper)");
    EXPECT_EQ(load_error("{{ x is definde }}"),
              "t.jinja:1:9: there is no test `definde` (known are, among others, defined)");
    EXPECT_EQ(load_error("\n\n{% include 'x' %}"),
              "t.jinja:3:4: there is no statement `include` (chat templates have for, if, set, macro, call, "
              "filter, with, generation, raw, break and continue)");
    EXPECT_EQ(load_error("{% if x %}\na"),
              "t.jinja:2:2: expected {% endif %}, found the end of the template");
    EXPECT_EQ(load_error("{{ 'a }}"), "t.jinja:1:4: the text has no closing quote");
    EXPECT_EQ(load_error("{{ a"), "t.jinja:1:1: the expression has no end (}} ends it)");
    EXPECT_EQ(load_error("x{# a"), "t.jinja:1:2: the comment has no end (#} ends it)");
    EXPECT_EQ(load_error("{{ (a] }}"), "t.jinja:1:6: \"]\" closes nothing");
    EXPECT_EQ(load_error("{{ 99999999999999999999 }}"),
              "t.jinja:1:4: \"99999999999999999999\" is no number of 64 bits");
    EXPECT_EQ(load_error("{% break %}"), "t.jinja:1:4: `break` is outside of a loop");
    EXPECT_EQ(load_error("{% for x in y recursive %}{% endfor %}"),
              "t.jinja:1:15: recursive loops are not supported (a macro can call itself)");
    EXPECT_EQ(load_error("{{ a b }}"), "t.jinja:1:6: expected }}, found \"b\"");
}

TEST(Template, NamesThePlaceOfAFaultOfTheRendering) {
    EXPECT_EQ(error_of("a\n{{ x.y }}"), "t.jinja:2:5: `x` is undefined, and has no `y`");
    EXPECT_EQ(error_of("{{ 1 + 'a' }}"),
              "t.jinja:1:6: `+` cannot have a value of the type int and a value of the type str");
    EXPECT_EQ(error_of("{{ raise_exception('roles must alternate') }}"),
              "t.jinja:1:19: the model's template refuses the conversation: roles must alternate");
    EXPECT_EQ(error_of("{{ [1].append(2) }}"),
              "t.jinja:1:14: `append, which would change the value,` is undefined");
    EXPECT_EQ(error_of("{{ 'a'.zfill(1) }}"), "t.jinja:1:7: the method `zfill` of texts is not supported");
    EXPECT_EQ(error_of("{{ '{:5}'.format(1) }}"),
              "t.jinja:1:17: the place {:5} of a format is not supported");
    EXPECT_EQ(error_of("{{ '{} {}'.format(1) }}"), "t.jinja:1:18: a format has more places than values");
    EXPECT_EQ(error_of("{{ '{0} {}'.format(1) }}"),
              "t.jinja:1:19: a format has places with and without numbers");
    EXPECT_EQ(error_of("{{ '{'.format(1) }}"), "t.jinja:1:14: a format has a brace without its other one");
    EXPECT_EQ(error_of("{% macro m(n) %}{% endmacro %}{{ m.arguments }}"),
              "t.jinja:1:35: the attribute `arguments` of `m` is not supported");
    EXPECT_EQ(error_of("{% set a, b = [1] %}"), "t.jinja:1:8: 1 values cannot be assigned to 2 names");
}

TEST(Template, StopsAtItsLimits) {
    RenderSettings settings;
    settings.limits = {
        .steps = 10'000, .allocated_bytes = 100'000, .output_bytes = 1000, .depth = 20, .nesting = 100};
    EXPECT_EQ(error_of("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", {},
                       settings),
              "t.jinja:1:18: the template takes more than 10000 steps");
    EXPECT_EQ(error_of("{% set ns = namespace(n=0) %}{% for a in range(99) %}{% for b in range(99) %}"
                       "{% set ns.n = ns.n + 1 %}{% endfor %}{% endfor %}",
                       {}, {.limits = {.steps = 1000}}),
              "t.jinja:1:81: the template takes more than 1000 steps");
    EXPECT_EQ(error_of("{% for a in range(200) %}0123456789{% endfor %}", {}, settings),
              "t.jinja:1:26: the rendered text has more than 1000 bytes");
    EXPECT_EQ(error_of("{{ 'a' * 1000000000000 }}", {}, settings),
              "t.jinja:1:8: the template makes values of more than 100000 bytes");
    EXPECT_EQ(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", {}, settings),
              "t.jinja:1:16: the template calls itself too often");
    EXPECT_EQ(
        error_of("{% set ns = namespace(l=[]) %}{% for i in range(99) %}{% set ns.l = [ns.l] %}{% endfor %}",
                 {}, settings),
        "t.jinja:1:69: values are more than 20 levels deep");
    EXPECT_EQ(load_error("{{ " + std::string(1000, '(') + "1" + std::string(1000, ')') + " }}"),
              "t.jinja:1:68: expressions are too deep inside each other");
    std::string sum = "{{ 1";
    for (int i = 0; i < 1000; ++i) sum += "+1";
    EXPECT_EQ(load_error(sum + " }}"), "t.jinja:1:403: the expression has too many parts in a row");
}

TEST(Template, LeavesNothingBehindThatLeadsToItself) {
    // The address sanitizer would find what is never freed.
    EXPECT_EQ(
        render("{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = b %}{% set a.l = [a] %}"
               "{% macro m() %}{{ m.name }}{% endmacro %}{% set a.m = m %}"
               "{% for x in [1] %}{{ loop.changed(loop, a) }}{% set a.loop = loop %}{% endfor %}{{ m() }}"),
        "Truem");
}

TEST(Template, TellsTheTimeOfItsClock) {
    RenderSettings settings;
    settings.now = [] {
        std::tm now{};
        now.tm_year = 2024 - 1900;
        now.tm_mon = 6;
        now.tm_mday = 6;
        now.tm_wday = 6;
        now.tm_yday = 187;
        now.tm_hour = 3;
        return now;
    };
    // As datetime.strftime of Python 3.11 with glibc, but for %f, and %:z, which is empty since 3.12.
    for (const auto& [form, text] : std::vector<std::pair<std::string, std::string>>{
             {"%d %b %Y", "06 Jul 2024"},
             {"%-d %B %Y", "6 July 2024"},
             {"%-m/%-d/%Y", "7/6/2024"},
             {"%_d|%e|%k|%l|%-H|%-I", " 6| 6| 3| 3|3|3"},
             {"%^a %#p %P %A %j %U %G-W%V-%u %w", "SAT am am Saturday 188 26 2024-W27-6 6"},
             {"%10Y|%05d|%Ey|%Od|%h|%g|%C", "0000002024|00006|24|06|Jul|24|20"},
             {"%z|%Z|%:z|%f", "|||000000"},
             {"%D %T %R %F %y %x %X", "07/06/24 03:00:00 03:00 2024-07-06 24 07/06/24 03:00:00"},
             {"%n%t%%d", "\n\t%d"},
             {"%q %+ %", "%q %+ %"},
             {"", ""},
             {"%3000d", ""}})
        EXPECT_EQ(render("{{ strftime_now('" + form + "') }}", {}, settings), text) << form;
    EXPECT_EQ(render("{{ strftime_now('%2000d') | length }}", {}, settings), "2000");
    EXPECT_EQ(error_of("{{ strftime_now('%Y') }}"),
              "t.jinja:1:16: `strftime_now` needs a clock, and there is none");
}

// Jinja2 3.1.6 refuses them when it reads the template, unless they stand in a branch.
TEST(Template, RefusesUnknownFiltersInBranchesWhenTheyAreReached) {
    const Variables variables = {{"x", Value::text("a")}, {"yes", Value::of(true)}, {"no", Value::of(false)}};
    for (const auto& [source, text] : std::vector<std::pair<std::string, std::string>>{
             {"{% if no %}{{ x | f }}{% endif %}b", "b"},
             {"{% if no %}{{ x | f }}{% elif no %}{{ x is t }}{% else %}b{% endif %}", "b"},
             {"{% if no %}{% for y in x | f %}{{ y is t }}{% endfor %}{% set z = x | f(1) | g %}{% endif %}",
              ""},
             {"{% if yes %}{% else %}{% filter f %}{% endfilter %}{% set z | f %}{% endset %}{% endif %}b",
              "b"},
             {"{{ x | f if no else 'b' }}", "b"},
             {"{{ (x | f) ~ 'c' if no else ('b' if yes else x is t) }}", "b"},
             {"{% set z = x | f if no else 'b' %}{{ z }}", "b"},
             {"{{ [x | f if no] | length }}", "1"}})
        EXPECT_EQ(render(source, variables), text) << source;
    for (const auto& [source, problem] : std::vector<std::pair<std::string, std::string>>{
             {"{% if yes %}{{ x | f }}{% endif %}", "1:18: there is no filter `f`"},
             {"{{ 'b' if x is t else 'c' }}", "1:13: there is no test `t`"},
             {"{% if yes %}{% filter f %}{% endfilter %}{% endif %}", "1:16: there is no filter `f`"},
             {"{{ x | f }}{% if no %}{{ x | g }}{% endif %}", "1:8: there is no filter `f`"},
             {"{% if no %}{{ x | g }}{% endif %}{{ x is t }}", "1:42: there is no test `t`"},
             {"{{ 'b' if no else 'c' }}{{ no and x | f }}", "1:39: there is no filter `f`"}}) {
        const std::string error = error_of(source, variables);
        EXPECT_EQ(error.substr(0, error.find(" (")), "t.jinja:" + problem) << source;
    }
}

TEST(Template, KnowsItsLiteralTexts) {
    const Template parsed = Template::parse(
        "a{{ 'b' 'c' ~ x['d'] | replace(\"e\", f) }}\n{% if 'g' is in h %} i{% endif %}{# j #}{% raw "
        "%}{{k}}{% endraw %}",
        "t.jinja");
    using namespace std::string_literals;
    EXPECT_EQ(parsed.literal_text(), "a\0bc\0d\0e\0\n\0g\0 i\0{{k}}"s);
}

TEST(Template, KnowsWhichBytesAreForeignThroughEveryOperation) {
    const Variables variables = {{"x", Value::foreign(" ab\n")},
                                 {"list", Value::list({Value::foreign("p"), Value::foreign("q")})}};
    // Foreign bytes are in brackets.
    const auto marked = [&](std::string_view source) {
        const Text text = Template::parse(source, "t").render(variables);
        std::string result;
        for (size_t i = 0; i < text.size(); ++i) {
            const bool is_foreign = text.origin_at(i) == Origin::kForeign;
            const bool was_foreign = i > 0 && text.origin_at(i - 1) == Origin::kForeign;
            if (is_foreign && !was_foreign) result += '[';
            if (!is_foreign && was_foreign) result += ']';
            result += text.bytes()[i];
        }
        return result + (text.size() > 0 && text.origin_at(text.size() - 1) == Origin::kForeign ? "]" : "");
    };
    EXPECT_EQ(marked("<{{ x }}>"), "<[ ab\n]>");
    EXPECT_EQ(marked("<{{ x | trim }}>{{ x.strip() }}"), "<[ab]>[ab]");
    EXPECT_EQ(marked("{{ 'a' + x[1:3] ~ 'c' }}"), "a[ab]c");
    EXPECT_EQ(marked("{{ x.split('a') }}"), "['[ ]', '[b\\n]']");
    EXPECT_EQ(marked("{{ x | replace('a', '<>') }}"), "[ ]<>[b\n]");
    EXPECT_EQ(marked("{{ '<s>'.replace('s', x) }}"), "<[ ab\n]>");
    EXPECT_EQ(marked("{{ list | join('-') }}{{ '+'.join(list) }}"), "[p]-[qp]+[q]");
    EXPECT_EQ(marked("{{ {'k': x} | tojson }}"), "{\"k\": \"[ ab\\n]\"}");
    EXPECT_EQ(marked("{{ x | upper | trim }}{{ x | title }}{{ x[::-1] }}"), "[AB Ab\n\nba ]");
    EXPECT_EQ(marked("{{ '%s|%4s' % (x | trim, list[0]) }}"), "[ab]|   [p]");
    EXPECT_EQ(marked("{% set y %}<{{ x | trim }}>{% endset %}{{ y | indent(2, true) }}"), "  <[ab]>");
    EXPECT_EQ(marked("{% macro m(a) %}({{ a }}){% endmacro %}{{ m(list[1]) | upper }}"), "([Q])");
    EXPECT_EQ(marked("{{ x * 2 }}{{ x.center(8, '.') }}"), "[ ab\n ab\n]..[ ab\n]..");
}

}  // namespace
}  // namespace tessera::jinja
