"""Chats with a server through its page in a headless Chromium.

Usage: chat_page.py URL [--key KEY] [--system TEXT] [--temperature T] [--screenshot FILE [--dark]] QUESTION...

Prints what the page shows as a JSON object: `model`, `answers` (one for each question), `steps` (how often the text of
an answer changed while it came), `problems` (errors of the console), `hostile` (what became of texts that look like
HTML), and `forgets` (whether a new conversation forgets the old one). Exit code 77: there is no Chromium.
"""

import argparse
import json
import sys

import browser

HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>\n```\n<b>code</b>\n```\n"
WATCH = """
new MutationObserver(() => {
  const texts = document.querySelectorAll("article.assistant .text");
  const text = texts.length ? texts[texts.length - 1].textContent : "";
  if (text !== window.lastSeen) { window.lastSeen = text; window.steps = (window.steps || 0) + 1; }
}).observe(document.getElementById("log"), {childList: true, subtree: true, characterData: true})
"""


def ask(page, question):
    count = page.value("document.querySelectorAll('article.assistant').length")
    page.type("#question", question)
    page.press_enter()
    page.wait(f"document.querySelectorAll('article.assistant').length > {count} || !document.getElementById('problem').hidden")
    page.wait("!document.querySelector('.busy')")
    problem = page.value("document.getElementById('problem').textContent")
    if problem:
        raise RuntimeError(problem)
    return page.value("[...document.querySelectorAll('article.assistant')].at(-1).querySelector('.text').textContent")


def show_hostile(page):
    """Elements that such a text has made, and whether its script has run."""
    return page.value(f"""(() => {{
        const {{article}} = addArticle("assistant", {json.dumps(HOSTILE)});
        const made = [...article.querySelectorAll("*")].map((one) => one.localName).join(" ");
        const shown = article.querySelector(".text").textContent;
        article.remove();
        return {{made, shown, taken: document.title === "taken"}};
    }})()""")


def run(options):
    with browser.Browser() as page:
        page.call("Emulation.setDeviceMetricsOverride", width=880, height=600, deviceScaleFactor=1, mobile=False)
        if options.dark:
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.open(options.url)
        if options.key:
            page.wait("document.getElementById('locked').open")
            page.type("#key", options.key)
            page.press_enter()
        model = page.wait("document.getElementById('model').textContent")
        page.click("#adjust")
        page.type("#system", options.system)
        page.type("#temperature", options.temperature)
        page.click("#adjust")
        page.value(WATCH)
        answers = [ask(page, question) for question in options.questions]
        if options.screenshot:
            page.screenshot(options.screenshot)
        result = {"model": model, "answers": answers, "steps": page.value("window.steps"), "hostile": show_hostile(page)}
        page.click("#new")
        result["forgets"] = page.value("document.querySelectorAll('article').length === 0 && messages.length === 0")
        result["problems"] = page.problems
        print(json.dumps(result))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--key", default="")
    parser.add_argument("--system", default="")
    parser.add_argument("--temperature", default="")
    parser.add_argument("--screenshot")
    parser.add_argument("--dark", action="store_true")
    arguments = parser.parse_args()
    if browser.program() is None:
        sys.exit(77)
    run(arguments)
