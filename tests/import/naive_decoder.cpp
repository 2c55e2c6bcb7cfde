#include <algorithm>
#include <cmath>
#include <numbers>

#include "import/random_checkpoint.h"

namespace tessera::testing {
namespace {

using Vector = std::vector<double>;

Vector normalised(const Vector& x, const std::vector<float>& weight, double epsilon) {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + epsilon);
    Vector y;
    for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * scale * weight[i]);
    return y;
}

Vector linear(const RandomDecoder& model, const std::string& name, const Vector& x) {
    const NamedTensor& weight = model.tensors.at(name + ".weight");
    const auto bias = model.tensors.find(name + ".bias");
    Vector y(static_cast<size_t>(weight.shape[0]));
    for (size_t n = 0; n < y.size(); ++n) {
        if (bias != model.tensors.end()) y[n] = bias->second.values[n];
        for (size_t k = 0; k < x.size(); ++k) y[n] += weight.values[n * x.size() + k] * x[k];
    }
    return y;
}

Vector head(const Vector& all, int64_t index, int64_t width) {
    return {all.begin() + index * width, all.begin() + (index + 1) * width};
}

/// transformers' rotate_half.
Vector rotated(const Vector& x, const Vector& frequencies, double position, double amplitude) {
    const size_t half = frequencies.size();
    Vector y(x.size());
    for (size_t i = 0; i < half; ++i) {
        const double c = amplitude * std::cos(position * frequencies[i]);
        const double s = amplitude * std::sin(position * frequencies[i]);
        y[i] = x[i] * c - x[i + half] * s;
        y[i + half] = x[i + half] * c + x[i] * s;
    }
    return y;
}

/// One layer with the keys and values of all tokens before.
class Layer {
public:
    Layer(const RandomDecoder& model, int64_t index)
        : model_(model),
          prefix_("model.layers." + std::to_string(index) + "."),
          frequencies_(naive_frequencies(model)) {}

    void run(Vector& x, double position) {
        const Vector normed = normalised(x, model_.at(prefix_ + "input_layernorm.weight"), model_.epsilon);
        add(x, linear(model_, prefix_ + "self_attn.o_proj", attention(normed, position)));
        const Vector middle =
            normalised(x, model_.at(prefix_ + "post_attention_layernorm.weight"), model_.epsilon);
        Vector gate = linear(model_, prefix_ + "mlp.gate_proj", middle);
        const Vector up = linear(model_, prefix_ + "mlp.up_proj", middle);
        for (size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
        add(x, linear(model_, prefix_ + "mlp.down_proj", gate));
    }

private:
    static void add(Vector& x, const Vector& y) {
        for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    }

    Vector prepared(Vector x, const char* norm, double position) const {
        if (model_.head_norms) x = normalised(x, model_.at(prefix_ + norm), model_.epsilon);
        return rotated(x, frequencies_, position, model_.rope_amplitude);
    }

    Vector attention(const Vector& x, double position) {
        const Vector q = linear(model_, prefix_ + "self_attn.q_proj", x);
        const Vector k = linear(model_, prefix_ + "self_attn.k_proj", x);
        const Vector v = linear(model_, prefix_ + "self_attn.v_proj", x);
        keys_.emplace_back();
        values_.emplace_back();
        for (int64_t h = 0; h < model_.cache_heads; ++h) {
            keys_.back().push_back(prepared(head(k, h, model_.width), "self_attn.k_norm.weight", position));
            values_.back().push_back(head(v, h, model_.width));
        }
        Vector all;
        for (int64_t h = 0; h < model_.heads; ++h) {
            const Vector query = prepared(head(q, h, model_.width), "self_attn.q_norm.weight", position);
            const Vector one = attended(query, static_cast<size_t>(h / (model_.heads / model_.cache_heads)));
            all.insert(all.end(), one.begin(), one.end());
        }
        return all;
    }

    Vector attended(const Vector& query, size_t cache_head) const {
        Vector scores;
        for (const auto& key : keys_) {
            double score = 0;
            for (size_t e = 0; e < query.size(); ++e) score += query[e] * key[cache_head][e];
            scores.push_back(score / std::sqrt(static_cast<double>(query.size())));
        }
        const double largest = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        Vector result(query.size());
        for (size_t s = 0; s < scores.size(); ++s) {
            const double weight = std::exp(scores[s] - largest);
            sum += weight;
            for (size_t d = 0; d < result.size(); ++d) result[d] += weight * values_[s][cache_head][d];
        }
        for (double& value : result) value /= sum;
        return result;
    }

    const RandomDecoder& model_;
    const std::string prefix_;
    const Vector frequencies_;
    std::vector<std::vector<Vector>> keys_, values_;  // token, head, element
};

}  // namespace

/// transformers' modeling_rope_utils.py: _compute_default_rope_parameters, _compute_llama3_parameters.
std::vector<double> naive_frequencies(const RandomDecoder& model) {
    Vector frequencies;
    for (int64_t i = 0; i < model.width; i += 2)
        frequencies.push_back(
            1 / std::pow(model.theta, static_cast<double>(i) / static_cast<double>(model.width)));
    if (model.rope_scaling.is_null()) return frequencies;
    const double factor = model.rope_scaling.at("factor");
    if (model.rope_scaling.at("rope_type") == "linear") {
        for (double& frequency : frequencies) frequency /= factor;
        return frequencies;
    }
    const double low = model.rope_scaling.at("low_freq_factor"),
                 high = model.rope_scaling.at("high_freq_factor");
    const double old_context = model.rope_scaling.at("original_max_position_embeddings");
    for (double& frequency : frequencies) {
        const double wavelength = 2 * std::numbers::pi / frequency;
        const double scaled = wavelength > old_context / low ? frequency / factor : frequency;
        const double smooth = (old_context / wavelength - low) / (high - low);
        const double smoothed = (1 - smooth) * scaled / factor + smooth * scaled;
        const bool is_medium = !(wavelength < old_context / high) && !(wavelength > old_context / low);
        frequency = is_medium ? smoothed : scaled;
    }
    return frequencies;
}

std::vector<double> naive_logits(const RandomDecoder& model, const std::vector<int64_t>& tokens) {
    std::vector<Layer> layers;
    for (int64_t i = 0; i < model.layers; ++i) layers.emplace_back(model, i);
    const std::vector<float>& embedding = model.at("model.embed_tokens.weight");
    Vector logits;
    for (size_t position = 0; position < tokens.size(); ++position) {
        const auto row = embedding.begin() + tokens[position] * model.hidden;
        Vector x(row, row + model.hidden);
        for (Layer& layer : layers) layer.run(x, static_cast<double>(position));
        x = normalised(x, model.at("model.norm.weight"), model.epsilon);
        const Vector all = linear(model, model.tied ? "model.embed_tokens" : "lm_head", x);
        logits.insert(logits.end(), all.begin(), all.end());
    }
    return logits;
}

}  // namespace tessera::testing
