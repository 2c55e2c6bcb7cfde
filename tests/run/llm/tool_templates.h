#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "run/llm/chat_template.h"
#include "run/llm/load_tokenizer.h"

/// Templates that write calls in the forms of known models, and a tokenizer of characters.
namespace tessera::llm::testing {

/// Qwen2.5, Qwen3, Hermes: JSON in tags, thoughts before it.
inline constexpr const char* kTagged =
    R"({%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for m in messages %}<|im_start|>{{ m.role if m.role != 'tool' else 'user' }}
{{ m.content.split('</think>')[-1] }}
{%- for call in m.tool_calls or [] %}{{ '\n' if m.content or not loop.first }}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is defined and enable_thinking %}<think>
{% endif %}{% endif %})";

/// Llama 3.1: JSON without a mark, one call at a time.
inline constexpr const char* kBare =
    R"({{ bos_token }}{% for m in messages %}<|start|>{{ m.role }}<|stop|>
{% if loop.first and tools %}{{ tools | tojson }}
{% endif %}{% if m.tool_calls is defined and m.tool_calls -%}
{% if m.tool_calls | length != 1 %}{{ raise_exception('one call at a time') }}{% endif -%}
{"name": "{{ m.tool_calls[0].function.name }}", "parameters": {{ m.tool_calls[0].function.arguments | tojson }}}
{%- else %}{{ m.content | trim }}{% endif %}<|eot_id|>{% endfor %}
{%- if add_generation_prompt %}<|start|>assistant<|stop|>
{% endif %})";

/// Mistral 7B v0.3: a list behind a special token, with ids of nine characters.
inline constexpr const char* kListed =
    R"({{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}
{%- if tools %}[AVAILABLE_TOOLS] {{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}[INST] {{ m.content }}[/INST]
{%- elif m.tool_calls is defined and m.tool_calls %}[TOOL_CALLS] [
{%- for call in m.tool_calls %}{% if call.id | length != 9 %}{{ raise_exception('nine characters') }}{% endif %}
{%- set text = call.function | tojson %}{{ text[:-1] + ', "id": "' + call.id + '"}' }}{{ ', ' if not loop.last }}
{%- endfor %}]{{ eos_token }}{% elif m.role == 'tool' %}[TOOL_RESULTS] {{ m.content }} {{ m.tool_call_id }}[/TOOL_RESULTS]
{%- else %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %})";

/// Newer ones of Mistral: a name, then arguments, which are a text.
inline constexpr const char* kNamed =
    R"({{ bos_token }}{% if tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}
{%- for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]
{%- elif m.tool_calls is defined and m.tool_calls %}{% for call in m.tool_calls %}[TOOL_CALLS]{{ call.function.name + '[CALL_ID]' + call.id + '[ARGS]' + call.function.arguments }}
{%- endfor %}{{ eos_token }}{% elif m.role == 'tool' %}[TOOL_RESULTS]{{ m.content }}[/TOOL_RESULTS]
{%- else %}{{ m.content }}{{ eos_token }}{% endif %}{% endfor %})";

/// Qwen3-Coder, Qwen 3.5: members in tags, strings as they are.
inline constexpr const char* kMembers =
    R"({%- if tools %}<|im_start|>system
{{ tools | tojson }}<|im_end|>
{% endif %}
{%- for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}
{%- for call in m.tool_calls or [] %}{{ '\n' }}<tool_call>
<function={{ call.function.name }}>
{% for key, value in call.function.arguments | items %}<parameter={{ key }}>
{{ value if value is string else value | tojson }}
</parameter>
{% endfor %}</function>
</tool_call>{% endfor %}<|im_end|>
{% endfor %})";

/// GLM 4.5: nothing between the name of a function and the tags of its arguments.
inline constexpr const char* kKeys =
    R"({%- if tools %}<|system|>{{ tools | tojson }}{% endif %}
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}
{%- for call in m.tool_calls or [] %}<tool_call>{{ call.function.name }}
{%- for key, value in call.function.arguments | items %}<arg_key>{{ key }}</arg_key><arg_value>
{{- value if value is string else value | tojson }}</arg_value>{% endfor %}</tool_call>{% endfor %}
{%- endfor %})";

/// DeepSeek V3.2: a tag around all calls, and an attribute that tells strings from other values.
inline constexpr const char* kAttributes =
    R"({{ tools | tojson }}{% for m in messages %}<u>{{ m.content }}{% if m.tool_calls %}

<calls>
{% for call in m.tool_calls %}<invoke name="{{ call.function.name }}">
{% for key, value in call.function.arguments | items %}
{%- if value is string %}<parameter name="{{ key }}" string="true">{{ value }}
{%- else %}<parameter name="{{ key }}" string="false">{{ value | tojson }}{% endif %}</parameter>
{% endfor %}</invoke>
{% endfor %}</calls>{% endif %}</s>{% endfor %})";

/// gpt-oss.
inline constexpr const char* kHarmony =
    R"({% if tools %}<|start|>developer<|message|>{{ tools | tojson }}<|end|>{% endif %}
{%- for m in messages %}{% if m.role == 'assistant' %}{% if m.tool_calls is defined and m.tool_calls -%}
<|start|>assistant to=functions.{{ m.tool_calls[0].function.name }}<|channel|>commentary json<|message|>
{{- m.tool_calls[0].function.arguments | tojson }}<|call|>{% else -%}
<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|end|>{% endif %}
{%- elif m.role == 'tool' %}<|start|>functions.{{ m.name }} to=assistant<|channel|>commentary<|message|>{{ m.content }}<|end|>
{%- else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|start|>assistant{% endif %})";

/// ASCII by characters, and these added tokens; the first ones are special.
inline std::vector<runtime::NamedFile> ascii_files(const std::string& chat_template,
                                                   const std::vector<std::string>& special,
                                                   const std::vector<std::string>& plain = {}) {
    nlohmann::ordered_json vocabulary, added = nlohmann::ordered_json::array();
    vocabulary["\n"] = 0;
    for (char c = ' '; c <= '~'; ++c) vocabulary[std::string(1, c)] = vocabulary.size();
    size_t id = vocabulary.size();
    for (const auto* texts : {&special, &plain})
        for (const std::string& text : *texts)
            added.push_back(
                {{"id", id++}, {"content", text}, {"special", texts == &special}, {"normalized", false}});
    const nlohmann::ordered_json all = {
        {"version", "1.0"},
        {"added_tokens", added},
        {"normalizer", nullptr},
        {"pre_tokenizer", nullptr},
        {"post_processor", nullptr},
        {"decoder", {{"type", "Fuse"}}},
        {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", nlohmann::ordered_json::array()}}}};
    const nlohmann::ordered_json config = {
        {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"chat_template", chat_template}};
    return {{"tokenizer.json", all.dump()}, {"tokenizer_config.json", config.dump()}};
}

struct ToolModel {
    explicit ToolModel(const std::string& text, const std::vector<std::string>& special,
                       const std::vector<std::string>& plain = {})
        : files(ascii_files(text, special, plain)),
          tokenizer(load_tokenizer(files, "m")),
          chat(*read_chat_template(files, "m")) {}

    std::vector<runtime::NamedFile> files;
    Tokenizer tokenizer;
    ChatTemplate chat;
};

inline ToolModel tagged() {
    return ToolModel(kTagged, {"<s>", "</s>", "<|im_start|>", "<|im_end|>"},
                     {"<tool_call>", "</tool_call>", "<think>", "</think>"});
}
inline ToolModel bare() {
    return ToolModel(kBare, {"<s>", "</s>", "<|start|>", "<|stop|>", "<|eot_id|>", "<|python_tag|>"});
}
inline ToolModel listed() {
    return ToolModel(kListed, {"<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]"});
}
inline ToolModel named() {
    return ToolModel(kNamed, {"<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"});
}
inline ToolModel harmony() {
    return ToolModel(kHarmony, {"<s>", "</s>", "<|start|>", "<|end|>", "<|message|>", "<|channel|>",
                                "<|constrain|>", "<|call|>", "<|return|>"});
}

inline ToolModel membered() {
    return ToolModel(kMembers, {"<s>", "</s>", "<|im_start|>", "<|im_end|>"},
                     {"<tool_call>", "</tool_call>", "\n</parameter>\n"});
}
/// The tags are special tokens.
inline ToolModel keyed() {
    return ToolModel(kKeys, {"<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>", "<tool_call>",
                             "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"});
}
inline ToolModel attributed() {
    return ToolModel(kAttributes, {"<s>", "</s>"}, {"</parameter>\n"});
}

}  // namespace tessera::llm::testing
