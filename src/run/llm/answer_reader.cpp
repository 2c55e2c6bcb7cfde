#include "run/llm/answer_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "run/llm/step_reader.h"
#include "run/llm/tagged_members.h"
#include "run/llm/text_match.h"

//     text --marker--> open --> name --> middle --> arguments --> behind --between--> name
//                                                                        --close--> text
//
// Arguments in tags are read member by member. If the answer departs from the form, everything since the
// marker is text.

namespace tessera::llm {
namespace {

class FrameReader final : public StepReader {
public:
    FrameReader(CallFrame frame, bool is_thinking, MemberKinds kinds)
        : frame_(std::move(frame)),
          kinds_(std::move(kinds)),
          state_(is_thinking && frame_.thinking ? State::kThought : State::kBegin) {}

private:
    enum class State { kBegin, kText, kThought, kOpen, kName, kMiddle, kArguments, kMembers, kBehind };

    bool step(bool is_end) override {
        switch (state_) {
            case State::kBegin:
                return begin(is_end);
            case State::kText:
                return text(is_end);
            case State::kThought:
                return thought(is_end);
            case State::kOpen:
                return open(is_end);
            case State::kName:
                return name(is_end);
            case State::kMiddle:
                return middle(is_end);
            case State::kArguments:
                return arguments();
            case State::kMembers:
                return members(is_end);
            case State::kBehind:
                return behind(is_end);
        }
        return false;
    }

    /// Begins an answer: in a bare frame, with calls or text; any other frame may have calls behind any text.
    bool begin(bool is_end) {
        if (!frame_.is_bare) return go_to(State::kText);
        const size_t blanks = std::min(held_.find_first_not_of(kBlanks), held_.size());
        const std::string_view rest = std::string_view(held_).substr(blanks);
        bool may_match = rest.empty();
        const auto matches = [&](std::string_view mark) {
            const Match match = match_text(rest, mark);
            may_match = may_match || match == Match::kPartly;
            return match == Match::kWhole;
        };
        if (matches(frame_.marker)) return take_marker(blanks, frame_.marker);
        for (const std::string& prefix : frame_.prefixes)
            if (matches(prefix + frame_.marker)) return take_marker(blanks, prefix + frame_.marker);
        if (frame_.thinking && matches(frame_.thinking->open)) return go_to(State::kThought);
        if (may_match && !is_end) return false;
        return go_to(State::kText);
    }

    bool take_marker(size_t at, std::string_view marker) {
        since_marker_ = held_.substr(0, at + marker.size());
        held_.erase(0, since_marker_.size());
        return go_to(State::kOpen);
    }

    bool text(bool is_end) {
        // The text of a bare frame goes on to the end.
        const bool is_last = frame_.is_bare;
        const std::string_view thinking =
            frame_.thinking && !is_last ? std::string_view(frame_.thinking->open) : "";
        const std::string_view marker = is_last ? "" : std::string_view(frame_.marker);
        const size_t call = marker.empty() ? std::string::npos : held_.find(marker);
        const size_t thought = thinking.empty() ? std::string::npos : held_.find(thinking);
        if (thought < call) {
            give(AnswerEvent::Kind::kText, thought + thinking.size());
            return go_to(State::kThought);
        }
        if (call != std::string::npos) {
            // White space before calls is no part of the text.
            const size_t end = trimmed_size(std::string_view(held_).substr(0, call));
            give(AnswerEvent::Kind::kText, end);
            return take_marker(call - end, marker);
        }
        if (is_end) return false;
        const size_t begun = std::max(begun_at_end(held_, marker), begun_at_end(held_, thinking));
        return give(AnswerEvent::Kind::kText,
                    trimmed_size(std::string_view(held_).substr(0, held_.size() - begun)));
    }

    bool thought(bool is_end) {
        const std::string& mark = frame_.thinking->close;
        const size_t end = held_.find(mark);
        if (end != std::string::npos) {
            give(AnswerEvent::Kind::kText, end + mark.size());
            return go_to(State::kBegin);
        }
        return give(AnswerEvent::Kind::kText, held_.size() - (is_end ? 0 : begun_at_end(held_, mark)));
    }

    bool open(bool is_end) {
        if (!frame_.open.empty()) {
            const Match match = match_text(held_, frame_.open);
            if (match == Match::kPartly && !is_end) return false;
            if (match != Match::kWhole) return refuse();
            pass(frame_.open.size());
        }
        return go_to(State::kName);
    }

    bool name(bool is_end) {
        const auto end = std::find_if_not(held_.begin(), held_.end(), is_name_character);
        if (end == held_.begin() || (end == held_.end() && is_end)) return refuse();
        if (end == held_.end()) return false;
        name_.assign(held_.begin(), end);
        pass(name_.size());
        return go_to(State::kMiddle);
    }

    bool middle(bool is_end) {
        std::vector<std::string> ways = {frame_.tags ? frame_.tags->open : "{"};
        if (frame_.tags)  // there may be no member
            for (const auto* more : {&frame_.between, &frame_.close})
                ways.insert(ways.end(), more->begin(), more->end());
        for (std::string& way : ways) way.insert(0, frame_.middle);
        const Match match = best_match(ways);
        if (match == Match::kPartly && !is_end) return false;
        const bool is_known = !frame_.tags || kinds_.contains(name_);
        if (match != Match::kWhole || !is_known) return refuse();
        held_.erase(0, frame_.middle.size());
        since_marker_.clear();
        if (frame_.tags) member_kinds_ = kinds_.at(name_);
        members_ = 0;
        add(AnswerEvent::Kind::kCall, std::exchange(name_, {}));
        has_calls_ = true;
        begin_arguments();
        return go_to(frame_.tags ? State::kMembers : State::kArguments);
    }

    Match best_match(const std::vector<std::string>& ways) const {
        Match best = Match::kNot;
        for (const std::string& way : ways) best = std::max(best, match_text(held_, way));
        return best;
    }

    /// Takes a member, or the end of them. What departs from the form ends in text: the call stays without an
    /// end, as one that is cut off.
    bool members(bool is_end) {
        const Match open = match_text(held_, frame_.tags->open);
        if (open == Match::kWhole) {
            const TaggedMember member = read_member(held_, *frame_.tags, member_kinds_);
            if (member.state == TaggedMember::State::kPartly) return is_end && drop();
            if (member.state == TaggedMember::State::kNot) return go_to(State::kText);
            add(AnswerEvent::Kind::kArguments, (members_++ == 0 ? "{" : ", ") + member.json);
            held_.erase(0, member.size);
            return true;
        }
        if (open == Match::kPartly && !is_end) return false;
        const Match behind = std::max(best_match(frame_.between), best_match(frame_.close));
        if (behind == Match::kWhole) {
            add(AnswerEvent::Kind::kArguments, members_ == 0 ? "{}" : "}");
            add_call_end();
            return go_to(State::kBehind);
        }
        if (open == Match::kPartly || behind == Match::kPartly) return is_end && drop();
        return go_to(State::kText);
    }

    /// Takes what is cut off, which is no text.
    bool drop() {
        held_.clear();
        return true;
    }

    bool arguments() { return take_arguments() && go_to(State::kBehind); }

    /// Takes the longest of the ways on that have come.
    bool behind(bool is_end) {
        size_t next = 0, closed = 0;
        bool is_open = false;
        const auto look = [&](const std::vector<std::string>& ways, size_t& longest) {
            for (const std::string& way : ways) {
                const Match match = match_text(held_, way);
                is_open = is_open || match == Match::kPartly;
                if (match == Match::kWhole) longest = std::max(longest, way.size());
            }
        };
        look(frame_.between, next);
        look(frame_.close, closed);
        if (is_open && !is_end) return false;
        if (next > closed) {
            pass(next);
            return go_to(State::kName);
        }
        // A close that was cut off is not text.
        held_.erase(0, is_open && closed == 0 ? held_.size() : closed);
        return go_to(State::kText);
    }

    void end() override {
        if (!since_marker_.empty()) refuse();
        if (has_calls_) held_.erase(trimmed_size(held_));
        add(AnswerEvent::Kind::kText, std::exchange(held_, {}));
    }

    bool go_to(State state) {
        state_ = state;
        return true;
    }
    /// Takes everything since the marker as text: it is not a call.
    bool refuse() {
        add(AnswerEvent::Kind::kText, std::exchange(since_marker_, {}));
        return go_to(State::kText);
    }
    void pass(size_t size) {
        since_marker_ += held_.substr(0, size);
        held_.erase(0, size);
    }

    const CallFrame frame_;
    const MemberKinds kinds_;
    State state_;
    std::string since_marker_;  ///< text, if it turns out to be no call
    std::string name_;
    std::map<std::string, MemberKind> member_kinds_;  ///< of the current call
    size_t members_ = 0;                              ///< that the current call has so far
    bool has_calls_ = false;
};

}  // namespace

std::unique_ptr<AnswerReader> frame_reader(const CallFrame& frame, bool is_thinking, MemberKinds kinds) {
    return std::make_unique<FrameReader>(frame, is_thinking, std::move(kinds));
}

std::unique_ptr<AnswerReader> answer_reader(const ToolForm& form, bool is_thinking, MemberKinds kinds) {
    const auto* frame = std::get_if<CallFrame>(&form);
    return frame != nullptr ? frame_reader(*frame, is_thinking, std::move(kinds)) : harmony_reader();
}

}  // namespace tessera::llm
