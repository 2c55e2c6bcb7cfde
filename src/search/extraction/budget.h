#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace tessera::extraction {

/// The budget that is left, in conflicts of the SAT solver; each call of it costs one more, so that every
/// loop ends. Time is only an emergency stop. Spending from a part also spends from the whole.
class Budget {
public:
    using Clock = std::chrono::steady_clock;

    Budget(int64_t conflicts, std::optional<Clock::time_point> deadline, std::function<bool()> is_cancelled)
        : limit_(conflicts), deadline_(deadline), is_cancelled_(std::move(is_cancelled)) {}
    /// A part: at most `conflicts` of the rest of `whole`, which must outlive the part.
    Budget(Budget& whole, int64_t conflicts) : limit_(std::min(conflicts, whole.left())), whole_(&whole) {}

    int64_t left() const { return std::max<int64_t>(0, limit_ - spent_); }
    int64_t spent() const { return spent_; }
    bool is_exhausted() { return left() == 0 || must_stop(); }
    void spend(int64_t conflicts) {
        spent_ += conflicts;
        if (whole_) whole_->spend(conflicts);
    }

    /// True, from then on, if the deadline has passed or the caller has cancelled.
    bool must_stop() {
        if (whole_) return whole_->must_stop();
        is_stopped_ =
            is_stopped_ || (deadline_ && Clock::now() >= *deadline_) || (is_cancelled_ && is_cancelled_());
        return is_stopped_;
    }
    /// True if must_stop() has ever returned true.
    bool was_stopped() const { return whole_ ? whole_->was_stopped() : is_stopped_; }

private:
    int64_t limit_;
    int64_t spent_ = 0;
    Budget* whole_ = nullptr;
    std::optional<Clock::time_point> deadline_;
    std::function<bool()> is_cancelled_;
    bool is_stopped_ = false;
};

}  // namespace tessera::extraction
