#pragma once

#include <cstring>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "run/llm/session.h"
#include "run/runtime/toy_model.h"

namespace tessera::llm {

/// The toy model's step in plain C++ (see run/runtime/toy_model.h), which records its arguments and checks
/// the conditions of every call. It reads the inputs in the order of the toy's manifest.
class FakeStep {
public:
    struct Call {
        int64_t T, R, B, I, S, P;
        std::vector<int32_t> tokens, position, slot, rows, first, length, start, page;
    };

    /// `gives_hidden`: the hidden state of a token is the sum h that its logits follow from, alone.
    FakeStep(const runtime::ToyModel& toy, int64_t pages, bool gives_hidden = false)
        : toy_(toy), gives_hidden_(gives_hidden), keys_(static_cast<size_t>(pages * 16), -1) {}

    static runtime::Manifest manifest_with_hidden(const runtime::ToyModel& toy) {
        runtime::Manifest manifest = toy.manifest();
        manifest.outputs.push_back({"hidden", ElementType::kF32, {Dim("R"), Dim(1)}});
        return manifest;
    }

    StepFunction function() {
        return [this](auto symbols, auto inputs, auto outputs) { run(symbols, inputs, outputs); };
    }
    const std::vector<Call>& calls() const { return calls_; }
    void forget_calls() { calls_.clear(); }

private:
    void run(std::span<const int64_t> s, std::span<const std::span<const std::byte>> inputs,
             std::span<const std::span<std::byte>> outputs) {
        ASSERT_EQ(s.size(), 6U);
        ASSERT_EQ(inputs.size(), 8U);
        Call c{s[0], s[1], s[2], s[3], s[4], s[5], {}, {}, {}, {}, {}, {}, {}, {}};
        std::vector<int32_t>* lists[] = {&c.tokens, &c.position, &c.slot,  &c.rows,
                                         &c.first,  &c.length,   &c.start, &c.page};
        for (size_t i = 0; i < 8; ++i) {
            lists[i]->resize(inputs[i].size() / 4);
            std::memcpy(lists[i]->data(), inputs[i].data(), inputs[i].size());
        }
        calls_.push_back(c);
        check(c);
        ASSERT_EQ(outputs.size(), gives_hidden_ ? 2U : 1U);
        if (gives_hidden_) {
            ASSERT_EQ(outputs[1].size(), static_cast<size_t>(c.R * 4));
        }
        ASSERT_EQ(outputs[0].size(), static_cast<size_t>(c.R * toy_.vocabulary * 4));
        compute(c, reinterpret_cast<float*>(outputs[0].data()),
                gives_hidden_ ? reinterpret_cast<float*>(outputs[1].data()) : nullptr);
    }

    void check(const Call& c) const {
        const int64_t table = toy_.context / 16;
        EXPECT_TRUE(c.T >= 1 && c.T <= toy_.longest_step) << c.T;
        EXPECT_TRUE(c.B >= 1 && c.B <= toy_.most_sequences) << c.B;
        EXPECT_TRUE(c.R >= 1 && c.R <= toy_.longest_step) << c.R;
        EXPECT_TRUE(c.S % 16 == 0 && c.S <= toy_.context) << c.S;
        for (const auto* list : {&c.tokens, &c.position, &c.slot})
            ASSERT_EQ(static_cast<int64_t>(list->size()), c.T);
        ASSERT_EQ(static_cast<int64_t>(c.rows.size()), c.R);
        for (const auto* list : {&c.first, &c.length, &c.start})
            ASSERT_EQ(static_cast<int64_t>(list->size()), c.B);
        ASSERT_EQ(static_cast<int64_t>(c.page.size()), c.B * table);
        int64_t longest = 0, cached = 0, next = 0;
        std::map<int32_t, bool> pages;  // those that were met, and whether somebody writes into them
        for (size_t b = 0; b < c.first.size(); ++b) {
            EXPECT_EQ(c.first[b], next) << "segments follow each other";
            next += c.length[b];
            longest = std::max<int64_t>(longest, c.length[b]);
            const int64_t end = c.start[b] + c.length[b];
            cached = std::max(cached, end);
            for (int64_t p = 0; p < table; ++p) {
                const int32_t page = c.page[b * static_cast<size_t>(table) + static_cast<size_t>(p)];
                if (p * 16 >= end)
                    EXPECT_EQ(page, 0) << "beyond the sequence";
                else {
                    // Several sequences may have a page that is full, and so is written by none.
                    const bool is_written = (p + 1) * 16 > c.start[b];
                    const auto [met, is_new] = pages.emplace(page, is_written);
                    EXPECT_TRUE(page >= 0 && page < c.P) << page;
                    EXPECT_TRUE(is_new || (!met->second && !is_written)) << "page " << page << " twice";
                }
            }
            for (int32_t i = 0; i < c.length[b]; ++i) {
                const auto t = static_cast<size_t>(c.first[b] + i);
                EXPECT_EQ(c.position[t], c.start[b] + i);
                EXPECT_EQ(c.slot[t], page_of(c, b, c.position[t]) * 16 + c.position[t] % 16);
            }
        }
        EXPECT_EQ(next, c.T);
        EXPECT_EQ(c.I, longest);
        EXPECT_EQ(c.S, (cached + 15) / 16 * 16);
        for (const int32_t row : c.rows) EXPECT_TRUE(row >= 0 && row < c.T);
    }

    int32_t page_of(const Call& c, size_t b, int32_t position) const {
        return c.page[b * static_cast<size_t>(toy_.context / 16) + static_cast<size_t>(position / 16)];
    }

    void compute(const Call& c, float* logits, float* hidden) {
        for (size_t t = 0; t < c.tokens.size(); ++t)
            keys_.at(static_cast<size_t>(c.slot[t])) = (c.tokens[t] + 1) * (c.position[t] + 1);
        std::vector<int64_t> h(c.tokens.size());
        for (size_t b = 0; b < c.first.size(); ++b)
            for (int32_t i = 0; i < c.length[b]; ++i) {
                int64_t& sum = h[static_cast<size_t>(c.first[b] + i)];
                for (int32_t s = 0; s <= c.start[b] + i; ++s)
                    sum += keys_.at(static_cast<size_t>(page_of(c, b, s) * 16 + s % 16));
                sum %= toy_.vocabulary;
            }
        for (const int32_t row : c.rows) {
            if (hidden != nullptr) *hidden++ = static_cast<float>(h[static_cast<size_t>(row)]);
            for (int64_t v = 0; v < toy_.vocabulary; ++v)
                *logits++ = 3.0F - static_cast<float>(std::abs(v - h[static_cast<size_t>(row)])) / 4.0F;
        }
    }

    runtime::ToyModel toy_;
    bool gives_hidden_;
    std::vector<int32_t> keys_;
    std::vector<Call> calls_;
};

}  // namespace tessera::llm
