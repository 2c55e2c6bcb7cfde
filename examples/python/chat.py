"""A small chat that streams: chat.py MODEL [--system TEXT]. Ctrl-C ends an answer, Ctrl-D the chat."""

import argparse
import pathlib

import tessera

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", help="artefact, HuggingFace folder or GGUF file of a model that follows instructions")
parser.add_argument("--system", help="what the model is told before the conversation")
parser.add_argument("--chat-template", type=pathlib.Path, help="a template in Jinja2's language, instead of the model's")
parser.add_argument("--max-tokens", type=int, default=512)
options = parser.parse_args()

template = options.chat_template.read_text() if options.chat_template else ""
model = tessera.load(options.model)
messages = [{"role": "system", "content": options.system}] if options.system else []
while True:
    try:
        messages.append({"role": "user", "content": input("> ")})
    except EOFError:
        break
    # The conversation goes on where the last answer ended: only the new message is read.
    prompt = model.encode_chat(messages, chat_template=template)
    ends = model.chat_ends() if model.has_chat_template else []
    answer = ""
    with model.stream(prompt, max_tokens=options.max_tokens, stop_ids=ends, reuse_prefix=True) as pieces:
        try:
            for piece in pieces:
                answer += piece
                print(piece, end="", flush=True)
        except KeyboardInterrupt:
            pass
    print()
    messages.append({"role": "assistant", "content": answer})
