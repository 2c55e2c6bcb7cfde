#include "fuzz/programs/treatments.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/programs/compiled.h"
#include "fuzz/programs/lowered.h"
#include "fuzz/programs/reference.h"
#include "support/error.h"

namespace tessera::fuzz {
namespace {

/// CPU seconds of one process, far more than its programs take: what runs on is killed, and named.
constexpr rlim_t kMostSeconds = 600;

struct Attempt {
    std::optional<Lowered> lowered;
    Expected expected;
};

Verdict lower_one(const Program& program, const Treatment& treatment, Attempt& attempt) {
    try {
        attempt.expected = expected_of(program);
        attempt.lowered = lower(program, treatment);
        const std::string wrong = difference_of_outputs(program, *attempt.lowered);
        return wrong.empty() ? Verdict{} : Verdict{Outcome::kRenamed, wrong};
    } catch (const Error& error) {
        return verdict_of(error, program);
    }
}

std::vector<Verdict> lower_all(const std::vector<Program>& programs, const Treatment& treatment) {
    std::vector<Verdict> verdicts;
    for (const Program& program : programs) {
        Attempt attempt;
        verdicts.push_back(lower_one(program, treatment, attempt));
        if (!attempt.lowered) continue;
        const std::string wrong = difference_when_interpreted(program, *attempt.lowered, attempt.expected);
        if (!wrong.empty()) verdicts.back() = {Outcome::kWrong, wrong};
    }
    return verdicts;
}

/// One compilation for all that lower; where it fails, one for each half.
void call_compiled(const std::vector<const Program*>& programs, const std::vector<Lowered>& lowered,
                   const std::vector<const Expected*>& expected, const Treatment& treatment,
                   const std::vector<Verdict*>& verdicts) {
    if (programs.empty()) return;
    try {
        const CompiledPrograms compiled(lowered, treatment);
        for (size_t p = 0; p < programs.size(); ++p) {
            const std::string wrong =
                compiled.difference_when_called(p, *programs[p], lowered[p], *expected[p]);
            if (!wrong.empty()) *verdicts[p] = {Outcome::kWrong, wrong};
        }
    } catch (const Error& error) {
        if (programs.size() == 1) {
            *verdicts.front() = {Outcome::kUnclear, error.what()};
            return;
        }
        const size_t half = programs.size() / 2;
        const auto part = [&](const auto& all, bool is_second) {
            using List = std::remove_cvref_t<decltype(all)>;
            const auto middle = all.begin() + static_cast<int64_t>(half);
            return is_second ? List(middle, all.end()) : List(all.begin(), middle);
        };
        for (const bool is_second : {false, true})
            call_compiled(part(programs, is_second), part(lowered, is_second), part(expected, is_second),
                          treatment, part(verdicts, is_second));
    }
}

std::vector<Verdict> compile_all(const std::vector<Program>& programs, const Treatment& treatment) {
    std::vector<Verdict> verdicts(programs.size());
    std::vector<Attempt> attempts(programs.size());
    std::vector<const Program*> called;
    std::vector<Lowered> lowered;
    std::vector<const Expected*> expected;
    std::vector<Verdict*> of_called;
    for (size_t p = 0; p < programs.size(); ++p) {
        verdicts[p] = lower_one(programs[p], treatment, attempts[p]);
        if (!attempts[p].lowered) continue;
        called.push_back(&programs[p]);
        lowered.push_back(std::move(*attempts[p].lowered));
        expected.push_back(&attempts[p].expected);
        of_called.push_back(&verdicts[p]);
    }
    call_compiled(called, lowered, expected, treatment, of_called);
    return verdicts;
}

nlohmann::json json_of(const std::vector<Verdict>& verdicts) {
    nlohmann::json all = nlohmann::json::array();
    for (const Verdict& verdict : verdicts) all.push_back({static_cast<int>(verdict.outcome), verdict.what});
    return all;
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The verdicts of a child, or what it died of.
struct Child {
    std::vector<Verdict> verdicts;
    std::string death;
};

Child run_child(const std::vector<Program>& programs, const Treatment& treatment) {
    std::filesystem::create_directories(treatment.scratch);
    const std::filesystem::path out = treatment.scratch / "verdicts.json",
                                errors = treatment.scratch / "errors";
    std::filesystem::remove(out);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit{kMostSeconds, kMostSeconds};
        setrlimit(RLIMIT_CPU, &limit);
        if (std::freopen(errors.c_str(), "w", stderr) == nullptr) _exit(1);
        try {
            const std::string text = json_of(treat(programs, treatment))
                                         .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
            std::ofstream(out) << text;
            _exit(0);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            std::fflush(nullptr);
            _exit(1);
        }
    }
    TESSERA_CHECK(child > 0, "fork: {}", std::strerror(errno));
    int status = 0;
    waitpid(child, &status, 0);
    Child result;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        for (const auto& verdict : nlohmann::json::parse(text_of(out)))
            result.verdicts.push_back(
                {static_cast<Outcome>(verdict.at(0).get<int>()), verdict.at(1).get<std::string>()});
        return result;
    }
    result.death = WIFSIGNALED(status) ? fmt::format("{}: ", strsignal(WTERMSIG(status))) : "exit: ";
    result.death += text_of(errors);
    return result;
}

}  // namespace

std::string_view name(Outcome outcome) {
    constexpr std::string_view kNames[] = {"agrees", "refused", "unclear refusal",
                                           "wrong",  "renamed", "died"};
    return kNames[static_cast<size_t>(outcome)];
}

bool is_fault(Outcome outcome) {
    return outcome != Outcome::kAgrees && outcome != Outcome::kRefused;
}

std::vector<Verdict> treat(const std::vector<Program>& programs, const Treatment& treatment) {
    switch (treatment.mode) {
        case Mode::kInterpret:
            return ask_reference(programs, treatment.scratch / "reference");
        case Mode::kLower:
            return lower_all(programs, treatment);
        case Mode::kCompile:
            return compile_all(programs, treatment);
    }
    return {};
}

std::vector<Verdict> treat_apart(const std::vector<Program>& programs, const Treatment& treatment) {
    Child child = run_child(programs, treatment);
    if (child.death.empty()) return std::move(child.verdicts);
    if (programs.size() == 1) return {{Outcome::kDied, child.death}};
    std::vector<Verdict> verdicts;
    for (const Program& program : programs) {
        Child alone = run_child({program}, treatment);
        verdicts.push_back(alone.death.empty() ? alone.verdicts.front()
                                               : Verdict{Outcome::kDied, alone.death});
    }
    return verdicts;
}

}  // namespace tessera::fuzz
