// Opens an artefact and streams the model's answer to a prompt.
//
//     tessera compile models/tessera-tiny -o tiny.tsr
//     answer tiny.tsr "61 + 93 ="

#include <iostream>
#include <string_view>

#include <tessera/tessera.h>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: answer MODEL.tsr PROMPT\n";
        return 2;
    }
    try {
        tessera::Model model(argv[1]);
        const tessera::Generation answer = model.generate(
            argv[2],
            {.max_tokens = 64, .on_text = [](std::string_view text) { std::cout << text << std::flush; }});
        std::cout << '\n';
        const tessera::GenerateStatistics& s = answer.statistics;
        std::cerr << s.prompt_tokens << " tokens read in " << s.prompt_seconds << " s, " << answer.ids.size()
                  << " written, the last " << s.decode_steps << " in " << s.decode_seconds << " s\n";
    } catch (const tessera::Error& error) {
        std::cerr << "answer: " << error.what() << '\n';
        return 1;
    }
}
