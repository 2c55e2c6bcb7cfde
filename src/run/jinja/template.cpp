#include "run/jinja/template.h"

#include "run/jinja/evaluator.h"
#include "run/jinja/parser.h"

namespace tessera::jinja {

struct Template::Contents {
    std::string where;
    ParsedTemplate parsed;
};

Template Template::parse(std::string_view source, std::string where) {
    Template result;
    ParsedTemplate parsed = tessera::jinja::parse(source, where);
    result.contents_ = std::make_shared<const Contents>(Contents{std::move(where), std::move(parsed)});
    return result;
}

const std::string& Template::literal_text() const {
    return contents_->parsed.literal_text;
}

Text Template::render(const Variables& variables, const RenderSettings& settings) const {
    Context context(contents_->where, settings.limits, settings.now);
    Evaluator evaluator(context, variables);
    return evaluator.render(contents_->parsed.body);
}

}  // namespace tessera::jinja
