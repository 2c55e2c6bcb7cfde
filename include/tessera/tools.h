#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/grammar.h"
#include "tessera/token_id.h"

/// Functions that a model may call. The model only writes the calls; its user calls the functions.
namespace tessera {

struct Tool {
    std::string name;              ///< 1 to 64 letters, digits, `_`, `-` and `.`
    std::string description = {};  ///< for the model; may be empty
    /// JSON schema of the arguments, which are an object; empty: there are none.
    std::string parameters = {};
    bool operator==(const Tool&) const = default;
};

struct ToolChoice {
    enum class Use {
        kNone,     ///< the model knows the functions, and calls none
        kAuto,     ///< it writes text, calls, or text and then calls
        kRequired  ///< the answer is calls alone, but for what a model thinks before
    };
    Use use = Use::kAuto;
    std::vector<std::string> allowed = {};  ///< names of functions; empty: all of them
    bool is_parallel = true;                ///< several calls in one answer; false: one
};

struct ToolCall {
    std::string id;
    std::string name;
    std::string arguments;  ///< a JSON object as text
    bool operator==(const ToolCall&) const = default;
};

/// A piece of an answer. A call comes as kCall, its arguments in pieces, and kCallEnd.
struct AnswerEvent {
    enum class Kind {
        kText,       ///< for people
        kThought,    ///< that the model keeps apart from its text
        kCall,       ///< `text` is the name of the function
        kArguments,  ///< a piece of the JSON of the last call's
        kCallEnd     ///< its arguments are complete
    };
    Kind kind = Kind::kText;
    std::string text = {};
    bool operator==(const AnswerEvent&) const = default;
};

/// Reads an answer as it comes. Whatever pieces it is given in, the texts of the events are the same when
/// those of one kind that follow each other are joined. Anything may be given: what is no call is text.
class AnswerReader {
public:
    virtual ~AnswerReader() = default;
    virtual std::vector<AnswerEvent> push(std::string_view piece) = 0;
    /// Returns what was held back, when the answer ends.
    virtual std::vector<AnswerEvent> finish() = 0;
};

/// How an answer that may have calls is generated and read.
struct ToolAnswer {
    Grammar grammar;                ///< GenerateOptions::grammar
    std::vector<TokenId> stop_ids;  ///< GenerateOptions::stop_ids, ModelFile::chat_ends among them
    bool past_end = false;          ///< GenerateOptions::past_end
    std::function<std::shared_ptr<AnswerReader>()> reader;  ///< makes one; each answer has its own
};

/// An id for a call: nine letters and digits, which is what templates of Mistral want. Other numbers give
/// other ids with all probability.
std::string tool_call_id(uint64_t number);

}  // namespace tessera
