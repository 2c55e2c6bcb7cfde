#include "run/runtime/step_marks.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

using std::chrono::milliseconds;

void pause(int64_t ms) {
    std::this_thread::sleep_for(milliseconds(ms));
}

TEST(StepMarks, AKernelTakesWhatTheBusiestWorkerTakes) {
    StepMarks marks(2);
    // Kernel 0, a barrier, kernel 1: worker 0 is busy in front of the barrier, worker 1 behind it.
    for (const int64_t worker : {0, 1}) {
        StepMarks::mark(&marks, worker, 0, kTesseraComputes);
        if (worker == 0) pause(20);
        StepMarks::mark(&marks, worker, 1, kTesseraWaits);
        StepMarks::mark(&marks, worker, 1, kTesseraComputes);
        if (worker == 1) pause(30);
        StepMarks::mark(&marks, worker, 2, kTesseraEnds);
    }
    marks.end_step(1);
    ASSERT_EQ(marks.times().size(), 2U);
    EXPECT_TRUE(marks.times()[0].empty()) << "did not run";
    const std::vector<KernelTime>& times = marks.times()[1];
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[0].runs, 1);
    EXPECT_EQ(times[1].runs, 1);
    EXPECT_EQ(times[0].barriers, 0);
    EXPECT_EQ(times[1].barriers, 1);
    EXPECT_GE(times[0].seconds, 0.019);
    EXPECT_GE(times[1].seconds, 0.029);
    EXPECT_EQ(times[0].exchange_seconds, 0);
}

TEST(StepMarks, RepetitionsAndStepsAddUp) {
    StepMarks marks(1);
    for (int step = 0; step < 3; ++step) {
        for (int repetition = 0; repetition < 4; ++repetition) {
            StepMarks::mark(&marks, 0, 0, kTesseraComputes);
            StepMarks::mark(&marks, 0, 0, kTesseraExchanges);
            pause(1);
        }
        StepMarks::mark(&marks, 0, 1, kTesseraEnds);
        marks.end_step(0);
    }
    const KernelTime& time = marks.times().at(0).at(0);
    EXPECT_EQ(time.runs, 12);
    EXPECT_EQ(time.barriers, 0);
    EXPECT_GE(time.exchange_seconds, 0.011);
}

}  // namespace
}  // namespace tessera::runtime
