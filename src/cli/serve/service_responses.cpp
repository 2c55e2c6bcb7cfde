// /v1/responses: OpenAI's other API for conversations. The server keeps no answer.

#include <memory>
#include <utility>

#include "cli/serve/parse_responses.h"
#include "cli/serve/responses_answer.h"
#include "cli/serve/service.h"
#include "support/printable.h"

namespace tessera::serve {

std::function<void()> Service::respond(std::string_view body, const ReplySink& sink) {
    ResponsesRequest request = parse_responses(body, usual_sampling_);
    EngineRequest one = chat_request(request.chat);
    const TextRequest& text = request.chat.text;
    ResponsesForm form{.id = new_id(),
                       .model = valid_utf8(engine_.file().name()),
                       .created = seconds_since_1970(),
                       .streams = text.streams,
                       .has_logprobs = text.likeliest.has_value(),
                       .reader = reader_of(one, request.chat),
                       .call_number = draw_seed(),
                       .echo = std::move(request.echo)};
    return start_one(text, std::move(one), std::make_shared<ResponsesAnswer>(std::move(form), sink));
}

}  // namespace tessera::serve
