#include "run/llm/step_interface.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>

#include "support/error.h"

namespace tessera::llm {
namespace {

constexpr std::array<std::string_view, StepInterface::kInputs> kInputNames = {
    "tokens", "position", "slot", "rows", "first", "length", "start", "page", "split", "seat", "features"};
constexpr std::array<std::string_view, StepInterface::kSymbols> kSymbolNames = {"T", "R", "B", "I",
                                                                                "S", "P", "N"};
constexpr std::string_view kAdvice = "this is no step of a language model that a session can run";

template <class Names>
int position_in(const Names& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

[[noreturn]] void fail(const runtime::Manifest& manifest, const std::string& entity,
                       const std::string& problem) {
    throw Error(manifest.model, entity, problem, std::string(kAdvice));
}

/// True for an input that nothing reads in some models, and that parts of them may then lack.
bool may_be_missing(int input, const runtime::Manifest& manifest) {
    const bool has_cache = std::ranges::any_of(manifest.states, [](const runtime::Manifest::State& state) {
        return !state.shape.empty() && state.shape.front().symbol == "P";
    });
    const bool is_of_cache = input == StepInterface::kSlot || input == StepInterface::kPage;
    if (input == StepInterface::kFeatures) return !manifest.text->features;
    return input == StepInterface::kPosition || input == StepInterface::kSeat ||
           (is_of_cache && !has_cache) || (input == StepInterface::kSplit && !manifest.text->has_source);
}

void find_inputs(const runtime::Manifest& manifest, StepInterface& step) {
    std::fill(std::begin(step.inputs), std::end(step.inputs), -1);
    step.has_source = manifest.text->has_source;
    for (size_t i = 0; i < manifest.inputs.size(); ++i) {
        const runtime::Manifest::Tensor& tensor = manifest.inputs[i];
        const int input = position_in(kInputNames, tensor.name);
        if (input < 0) fail(manifest, tensor.name, "is an unknown input");
        const bool is_features = input == StepInterface::kFeatures;
        const size_t rank = input == StepInterface::kPage || is_features ? 2 : 1;
        const ElementType element = is_features ? ElementType::kF32 : ElementType::kI32;
        if (tensor.element != element || tensor.shape.size() != rank)
            fail(manifest, tensor.name,
                 fmt::format("is {} of {} axes, expected {} of {}", name(tensor.element), tensor.shape.size(),
                             name(element), rank));
        const auto& form = manifest.text->features;
        if (is_features && (!form || tensor.shape[1] != Dim(form->width * form->taps)))
            fail(manifest, tensor.name, "has another width than the manifest says of features");
        step.inputs[input] = static_cast<int>(i);
    }
    for (int input = 0; input < StepInterface::kInputs; ++input)
        if (step.inputs[input] < 0 && !may_be_missing(input, manifest))
            fail(manifest, std::string(kInputNames[static_cast<size_t>(input)]), "is missing in the inputs");
}

void find_symbols(const runtime::Manifest& manifest, StepInterface& step) {
    std::fill(std::begin(step.symbols), std::end(step.symbols), -1);
    for (DimSymbol& limit : step.limits) limit = {"", 0, std::numeric_limits<int32_t>::max(), 1};
    for (size_t i = 0; i < manifest.symbols.size(); ++i) {
        const DimSymbol& symbol = manifest.symbols[i];
        const int known = position_in(kSymbolNames, symbol.name);
        if (known < 0) fail(manifest, symbol.name, "is an unknown symbol");
        step.symbols[known] = static_cast<int>(i);
        step.limits[known] = symbol;
    }
}

/// The width of the rows of an output; 0 if it is no f32[R, width]. Its name says nothing: where the head
/// reads the same values, the search may have left theirs.
int64_t row_width(const runtime::Manifest::Tensor& output) {
    const bool is_it = output.element == ElementType::kF32 && output.shape.size() == 2 &&
                       output.shape[0] == Dim("R") && output.shape[1].is_constant();
    return is_it ? output.shape[1].factor : 0;
}

/// The bits of the numbers of all tokens.
std::vector<int32_t> feature_bits(const runtime::Manifest::Features& form,
                                  std::span<const Segment> segments) {
    std::vector<int32_t> bits;
    for (const Segment& segment : segments) {
        const size_t numbers = segment.tokens.size() * static_cast<size_t>(form.width * form.taps);
        TESSERA_CHECK(segment.features.empty() || segment.features.size() == numbers, "{} of {}",
                      segment.features.size(), numbers);
        for (const float number : segment.features) bits.push_back(std::bit_cast<int32_t>(number));
        if (segment.features.empty()) bits.resize(bits.size() + numbers, 0);
    }
    return bits;
}

/// The pages of each sequence, as far as it has some.
std::vector<int32_t> page_table(const runtime::Manifest& manifest, const StepInterface& step,
                                std::span<const Segment> segments, std::span<const int64_t> symbols) {
    const runtime::Manifest::Tensor& table =
        manifest.inputs[static_cast<size_t>(step.inputs[StepInterface::kPage])];
    const auto bytes = runtime::byte_size(manifest, table.element, table.shape, symbols);
    TESSERA_CHECK(bytes.has_value());
    const auto width = static_cast<size_t>(*bytes) / sizeof(int32_t) / segments.size();
    std::vector<int32_t> pages(width * segments.size());
    for (size_t b = 0; b < segments.size(); ++b) {
        const Segment& segment = segments[b];
        const int64_t end = segment.start + static_cast<int64_t>(segment.tokens.size());
        const auto used = static_cast<size_t>((end + step.page_size - 1) / step.page_size);
        TESSERA_CHECK(used <= width && used <= segment.pages.size(), "{} of {}", used, width);
        std::copy_n(segment.pages.begin(), used, pages.begin() + static_cast<int64_t>(b * width));
    }
    return pages;
}

}  // namespace

StepInterface::StepInterface(const runtime::Manifest& manifest) {
    if (!manifest.text)
        throw Error(
            manifest.model, "", "is a program, not a language model",
            "`tessera run OUT.tsr --input NAME=FILE.npy --out DIR` calls it; `tessera inspect` shows it");
    find_inputs(manifest, *this);
    find_symbols(manifest, *this);
    page_size = manifest.text->page_size;
    vocabulary = manifest.text->vocabulary;
    const size_t outputs = manifest.outputs.size();
    is_encoder = manifest.text->is_encoder;
    if (is_encoder && outputs == 1) hidden = row_width(manifest.outputs[0]);
    if (is_encoder && hidden == 0) fail(manifest, "outputs", "are not vectors f32[R, width]");
    if (!is_encoder && outputs == 2) hidden = row_width(manifest.outputs[1]);
    const bool has_logits = !is_encoder && outputs == (hidden > 0 ? 2 : 1);
    if (!is_encoder &&
        (!has_logits || manifest.outputs[0].element != ElementType::kF32 ||
         manifest.outputs[0].shape.size() != 2 || manifest.outputs[0].shape[1] != Dim(vocabulary)))
        fail(manifest, "outputs", fmt::format("are not logits f32[R, {}]", vocabulary));
    context =
        std::min(manifest.text->context, limits[kS].high / limits[kS].multiple_of * limits[kS].multiple_of);
    if (inputs[kPage] < 0) return;
    const Dim& table = manifest.inputs[static_cast<size_t>(inputs[kPage])].shape[1];
    if (table.is_constant()) context = std::min(context, table.factor * page_size);
}

StepValues step_values(const runtime::Manifest& manifest, const StepInterface& step,
                       std::span<const Segment> segments, int64_t pages, int64_t seats) {
    TESSERA_CHECK(!segments.empty());
    const auto id = [](int64_t value) { return static_cast<int32_t>(value); };
    std::array<std::vector<int32_t>, StepInterface::kInputs> inputs;
    int64_t longest = 0, cached = 0;
    for (const Segment& segment : segments) {
        const auto count = static_cast<int64_t>(segment.tokens.size());
        const int64_t first = static_cast<int64_t>(inputs[StepInterface::kTokens].size());
        inputs[StepInterface::kFirst].push_back(id(first));
        inputs[StepInterface::kLength].push_back(id(count));
        inputs[StepInterface::kStart].push_back(id(segment.start));
        inputs[StepInterface::kSplit].push_back(id(segment.split));
        inputs[StepInterface::kSeat].push_back(segment.seat);
        for (int64_t i = 0; i < count; ++i) {
            const int64_t position = segment.start + i;
            const int64_t page = segment.pages[static_cast<size_t>(position / step.page_size)];
            inputs[StepInterface::kTokens].push_back(segment.tokens[static_cast<size_t>(i)]);
            inputs[StepInterface::kPosition].push_back(
                id(position < segment.split ? position : position - segment.split));
            inputs[StepInterface::kSlot].push_back(id(page * step.page_size + position % step.page_size));
        }
        for (const int32_t row : segment.rows) inputs[StepInterface::kRows].push_back(id(first + row));
        longest = std::max(longest, count);
        cached = std::max(cached, segment.start + count);
    }
    std::vector<int32_t>& rows = inputs[StepInterface::kRows];
    const auto tokens = static_cast<int64_t>(inputs[StepInterface::kTokens].size());
    while (static_cast<int64_t>(rows.size()) < step.limits[StepInterface::kR].low)
        rows.push_back(id(tokens - 1));

    const DimSymbol& s = step.limits[StepInterface::kS];
    cached = std::max(s.low, (cached + s.multiple_of - 1) / s.multiple_of * s.multiple_of);
    const auto sequences = static_cast<int64_t>(segments.size());
    const int64_t values[StepInterface::kSymbols] = {
        tokens, static_cast<int64_t>(rows.size()), sequences, longest, cached, pages, seats};

    StepValues result;
    result.rows = static_cast<int64_t>(rows.size());
    result.symbols.resize(manifest.symbols.size());
    for (int i = 0; i < StepInterface::kSymbols; ++i)
        if (step.symbols[i] >= 0) result.symbols[static_cast<size_t>(step.symbols[i])] = values[i];

    if (step.inputs[StepInterface::kPage] >= 0)
        inputs[StepInterface::kPage] = page_table(manifest, step, segments, result.symbols);
    if (step.inputs[StepInterface::kFeatures] >= 0)
        inputs[StepInterface::kFeatures] = feature_bits(*manifest.text->features, segments);
    result.inputs.resize(manifest.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
        if (step.inputs[i] >= 0) result.inputs[static_cast<size_t>(step.inputs[i])] = std::move(inputs[i]);
    return result;
}

}  // namespace tessera::llm
