#include "support/error.h"

#include <cstdlib>
#include <utility>

#include "support/note.h"
#include "support/printable.h"

namespace tessera {

Error::Error(std::string where_, std::string entity_, std::string problem_, std::string advice_,
             ErrorKind kind_)
    : where(std::move(where_)),
      entity(std::move(entity_)),
      problem(std::move(problem_)),
      advice(std::move(advice_)),
      kind(kind_) {
    text_ = printable(where);
    if (!entity.empty()) text_ += fmt::format("{}`{}`", text_.empty() ? "" : ": ", printable(entity));
    text_ += fmt::format("{}{}", text_.empty() ? "" : ": ", printable_lines(problem));
    if (!advice.empty()) text_ += fmt::format(" ({})", printable_lines(advice));
}

void check_failed(const char* condition, const char* file, int line, const std::string& details) {
    note("{}:{}: internal error: {} does not hold{}{}\nThis is a bug of Tessera; please report it.", file,
         line, condition, details.empty() ? "" : ": ", details);
    std::abort();
}

}  // namespace tessera
