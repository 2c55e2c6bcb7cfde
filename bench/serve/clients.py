"""Clients of others, unchanged, against `tessera serve`: python3 bench/serve/clients.py MODEL [--venv DIR] [--url URL]

MODEL follows instructions (SmolLM2-135M-Instruct) and has embeddings, or can be compiled with them. The libraries come
from PyPI in the versions below, into a virtual environment that is kept. Prints a line for each check, and exits with
1 if one fails.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import traceback
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ["openai==2.54.0", "ollama==0.6.3", "langchain-openai==1.7.4", "langchain-ollama==1.1.0",
            "llama-index-llms-openai-like==0.8.1", "llama-index-llms-ollama==0.11.0",
            "llama-index-embeddings-ollama==0.10.0"]
QUESTION = "What is the capital of France?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 30}, "population": {"type": "integer"}},
          "required": ["city", "population"], "additionalProperties": False}


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def city_type():
    from pydantic import BaseModel, Field

    class City(BaseModel):
        city: str = Field(max_length=30)
        population: int

    return City


def openai_client(url):
    import openai
    return openai.OpenAI(base_url=url + "/v1", api_key="none")


def openai_chat(url, model):
    client = openai_client(url)
    messages = [{"role": "user", "content": QUESTION}]
    whole = client.chat.completions.create(model=model, messages=messages, temperature=0, max_tokens=24)
    text = whole.choices[0].message.content
    stream = client.chat.completions.create(model=model, messages=messages, temperature=0, max_tokens=24, stream=True)
    pieces = [event.choices[0].delta.content or "" for event in stream if event.choices]
    expect("".join(pieces) == text and len(pieces) > 3, (text, pieces))
    parsed = client.chat.completions.parse(model=model, messages=messages, response_format=city_type(), max_tokens=80)
    return text, parsed.choices[0].message.parsed


def openai_responses(url, model):
    client = openai_client(url)
    options = {"model": model, "instructions": "Be brief.", "input": QUESTION, "temperature": 0, "max_output_tokens": 24}
    whole = client.responses.create(**options)
    expect(whole.output_text and whole.usage.total_tokens > 0, whole)
    pieces, types = [], []
    for event in client.responses.create(**options, stream=True):
        types.append(event.type)
        if event.type == "response.output_text.delta":
            pieces.append(event.delta)
    expect("".join(pieces) == whole.output_text, (pieces, whole.output_text))
    expect(types[0] == "response.created" and types[-1] in ("response.completed", "response.incomplete"), types)
    with client.responses.stream(model=model, input=QUESTION, text_format=city_type(), max_output_tokens=80) as stream:
        for event in stream:
            pass
        final = stream.get_final_response()
    parsed = client.responses.parse(model=model, input=QUESTION, text_format=city_type(), max_output_tokens=80)
    expect(final.output_parsed is not None and parsed.output_parsed is not None, (final, parsed))
    conversation = [{"role": "user", "content": QUESTION}, *whole.output, {"role": "user", "content": "And of Spain?"}]
    again = client.responses.create(model=model, input=conversation, max_output_tokens=24)
    return whole.output_text, parsed.output_parsed, again.output_text


def openai_others(url, model):
    client = openai_client(url)
    expect(client.models.list().data[0].id == model, "models")
    texts = client.completions.create(model=model, prompt=["One, two,", "A, b,"], max_tokens=8, temperature=0)
    data = client.embeddings.create(model=model, input=["a cat", "a dog"]).data
    expect(len(texts.choices) == 2 and len(data) == 2 and len(data[0].embedding) > 1, data)
    return texts.choices[0].text, len(data[0].embedding)


def weather_tool():
    function = {"name": "weather", "description": "The weather of a city.", "parameters": {
        "type": "object", "properties": {"city": {"type": "string", "maxLength": 30}}, "required": ["city"],
        "additionalProperties": False}}
    return {"type": "function", "function": function}


def openai_tools(url, model):
    client = openai_client(url)
    options = {"model": model, "messages": [{"role": "user", "content": "How warm is it in Oslo?"}], "temperature": 0,
               "tools": [weather_tool()], "tool_choice": "required", "max_tokens": 80, "parallel_tool_calls": False}
    message = client.chat.completions.create(**options).choices[0].message
    answers = [{"role": "tool", "tool_call_id": call.id, "content": "12 C"} for call in message.tool_calls]
    again = client.chat.completions.create(**{**options, "tool_choice": "none",
                                              "messages": [*options["messages"], message, *answers]})
    return message.tool_calls[0].function, again.choices[0].message.content


def openai_responses_tools(url, model):
    client = openai_client(url)
    tool = {"type": "function", **weather_tool()["function"], "strict": True}
    options = {"model": model, "temperature": 0, "tools": [tool], "tool_choice": "required", "max_output_tokens": 80,
               "parallel_tool_calls": False}
    question = [{"role": "user", "content": "How warm is it in Oslo?"}]
    whole = client.responses.create(input=question, **options)
    expect([item.type for item in whole.output] == ["function_call"] * len(whole.output), whole.output)
    with client.responses.stream(input=question, **options) as stream:
        deltas = [event.delta for event in stream if event.type == "response.function_call_arguments.delta"]
        final = stream.get_final_response()
    expect("".join(deltas) == "".join(item.arguments for item in final.output), (deltas, final.output))
    answers = [{"type": "function_call_output", "call_id": item.call_id, "output": "12 C"} for item in whole.output]
    again = client.responses.create(input=[*question, *whole.output, *answers], **{**options, "tool_choice": "none"})
    return whole.output[0].arguments, again.output_text


def ollama_tools(url, model):
    import ollama
    client = ollama.Client(url)
    messages = [{"role": "user", "content": "How warm is it in Oslo?"}]
    options = {"temperature": 0, "num_predict": 80}
    message = client.chat(model, messages, tools=[weather_tool()], options=options).message
    pieces = list(client.chat(model, messages, tools=[weather_tool()], options=options, stream=True))
    calls = [call for piece in pieces for call in piece.message.tool_calls or []]
    expect([call.function for call in calls] == [call.function for call in message.tool_calls or []], pieces)
    # The model may call or not.
    messages += [message, *({"role": "tool", "tool_name": call.function.name, "content": "12 C"} for call in calls)]
    again = client.chat(model, [*messages, {"role": "user", "content": "Thanks."}], options=options)
    return calls, again.message.content


def langchain_tools(url, model):
    from langchain_core.messages import ToolMessage
    from langchain_ollama import ChatOllama
    from langchain_openai import ChatOpenAI
    results = []
    for use_responses in (False, True):
        chat = ChatOpenAI(base_url=url + "/v1", api_key="none", model=model, temperature=0, max_tokens=80,
                          use_responses_api=use_responses)
        question = [("user", "How warm is it in Oslo?")]
        answer = chat.bind_tools([weather_tool()], tool_choice="required").invoke(question)
        results.append(answer.tool_calls[0]["args"])
        tools = [ToolMessage("12 C", tool_call_id=call["id"]) for call in answer.tool_calls]
        expect(chat.invoke([*question, answer, *tools]).content, "an answer to what the tool has said")
    ollama = ChatOllama(base_url=url, model=model, temperature=0, num_predict=80).bind_tools([weather_tool()])
    return results, ollama.invoke("How warm is it in Oslo?").tool_calls


def ollama_chat(url, model):
    import ollama
    client = ollama.Client(url)
    messages = [{"role": "user", "content": QUESTION}]
    options = {"temperature": 0, "num_predict": 24}
    whole = client.chat(model, messages, options=options)
    pieces = list(client.chat(model, messages, options=options, stream=True))
    expect("".join(piece.message.content for piece in pieces) == whole.message.content, pieces)
    expect(pieces[-1].done and pieces[-1].eval_count == whole.eval_count, pieces[-1])
    formed = client.chat(model, messages, format=SCHEMA, options={"num_predict": 80})
    return whole.message.content, json.loads(formed.message.content)


def ollama_generate(url, model):
    import ollama
    client = ollama.Client(url)
    options = {"temperature": 0, "num_predict": 12}
    whole = client.generate(model, QUESTION, options=options, system="Be brief.")
    pieces = list(client.generate(model, QUESTION, options=options, system="Be brief.", stream=True))
    expect("".join(piece.response for piece in pieces) == whole.response, pieces)
    raw = client.generate(model, "One, two, three,", options=options, raw=True)
    return whole.response, raw.response


def ollama_models(url, model):
    import ollama
    client = ollama.Client(url)
    listed = client.list().models[0]
    shown = client.show(listed.model)
    running = client.ps().models[0]
    expect(listed.model == model + ":latest" and listed.size == running.size, (listed, running))
    expect("completion" in shown.capabilities and shown.modelinfo["tessera.context_length"] > 0, shown)
    vectors = client.embed(model, ["a cat", "a dog"]).embeddings
    one = client.embeddings(model, "a cat").embedding
    expect(len(vectors) == 2 and len(vectors[0]) == len(one), (len(vectors), len(one)))
    return listed.model, len(one)


def langchain(chat):
    text = chat.invoke([("system", "Be brief."), ("user", QUESTION)])
    pieces = [piece.content for piece in chat.stream(QUESTION)]
    expect("".join(pieces) and len(pieces) > 3, pieces)
    formed = chat.with_structured_output(city_type(), method="json_schema").invoke(QUESTION)
    return text.content, formed, text.usage_metadata["total_tokens"]


def langchain_openai(url, model):
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    options = {"base_url": url + "/v1", "api_key": "none", "model": model}
    vectors = OpenAIEmbeddings(check_embedding_ctx_length=False, **options).embed_documents(["a cat", "a dog"])
    expect(len(vectors) == 2, len(vectors))
    by_responses = ChatOpenAI(max_tokens=80, use_responses_api=True, **options).invoke(QUESTION)
    expect(by_responses.text, by_responses)
    return langchain(ChatOpenAI(max_tokens=80, temperature=0, **options))


def langchain_ollama(url, model):
    from langchain_ollama import ChatOllama, OllamaEmbeddings
    vectors = OllamaEmbeddings(base_url=url, model=model).embed_documents(["a cat", "a dog"])
    expect(len(vectors) == 2, len(vectors))
    return langchain(ChatOllama(base_url=url, model=model, num_predict=80, temperature=0))


def llama_index(llm):
    from llama_index.core.llms import ChatMessage
    from llama_index.core.prompts import PromptTemplate
    text = llm.chat([ChatMessage(role="system", content="Be brief."), ChatMessage(role="user", content=QUESTION)])
    pieces = [piece.delta for piece in llm.stream_complete(QUESTION)]
    expect(len(pieces) > 3, pieces)
    formed = llm.structured_predict(city_type(), PromptTemplate(QUESTION))
    return text.message.content, formed


def llama_index_openai(url, model):
    from llama_index.llms.openai_like import OpenAILike
    return llama_index(OpenAILike(model=model, api_base=url + "/v1", api_key="none", is_chat_model=True, max_tokens=80,
                                  temperature=0, should_use_structured_outputs=True))


def llama_index_ollama(url, model):
    from llama_index.embeddings.ollama import OllamaEmbedding
    from llama_index.llms.ollama import Ollama
    vector = OllamaEmbedding(model_name=model, base_url=url).get_text_embedding("a cat")
    expect(len(vector) > 1, vector)
    return llama_index(Ollama(model=model, base_url=url, request_timeout=600, temperature=0,
                              additional_kwargs={"num_predict": 80}))


TOOL_CHECKS = [openai_tools, openai_responses_tools, ollama_tools, langchain_tools]
CHECKS = [openai_chat, openai_responses, openai_others, ollama_chat, ollama_generate, ollama_models, langchain_openai,
          langchain_ollama, llama_index_openai, llama_index_ollama]


def run_checks(url):
    import httpx
    model = httpx.get(url + "/v1/models").json()["data"][0]["id"]
    capabilities = httpx.post(url + "/api/show", json={"model": model}).json()["capabilities"]
    checks = CHECKS + TOOL_CHECKS if "tools" in capabilities else CHECKS
    if checks is CHECKS:
        print("not checked: tools, which the chat template of the model does not know (see --serve)")
    failed = 0
    for check in checks:
        try:
            print(f"ok      {check.__name__}: {check(url, model)!r}", flush=True)
        except Exception as error:  # of any library
            failed += 1
            traceback.print_exc()
            print(f"FAILED  {check.__name__}: {error}", flush=True)
    return 1 if failed else 0


def environment(folder):
    """The interpreter of a virtual environment with the packages."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def serve(options):
    """A server of its own, and its address."""
    command = [options.tessera, "serve", options.model, "--embeddings", "--port", "0", *options.serve.split()]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        print(line, end="", file=sys.stderr)
        if found := re.search(r"listening at (http://127\.0\.0\.1:\d+)", line):
            return process, found.group(1)
    sys.exit("the server has ended")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", help="an artefact or a checkpoint")
    parser.add_argument("--tessera", default=ROOT / "build/release/tessera")
    parser.add_argument("--serve", default="", help="further options of the server, such as "
                        "'--chat-template examples/chatml_tools.jinja' for a model whose own template knows no tools")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "build/clients")
    parser.add_argument("--url", help="of a server that runs already")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return run_checks(options.url)
    if not options.model and not options.url:
        parser.error("MODEL or --url is missing")
    process, url = (None, options.url) if options.url else serve(options)
    try:
        python = environment(options.venv)
        command = [python, __file__, "--inside", "--url", url]
        return subprocess.run(command, check=False).returncode
    finally:
        if process:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
