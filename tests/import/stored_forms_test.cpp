#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "import/expected_checkpoint.h"
#include "import/import_model.h"
#include "import/run_model.h"
#include "support/temporary_folder.h"

// One model, stored in all the forms that programs write: tensors together or apart, under older names, with
// settings under names of their own. All of them give the logits of transformers.

namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using testing::GgufForm;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NamedTensor;

using Tensors = std::map<std::string, NamedTensor>;

/// The matrices of one group after the other, each with its rows.
NamedTensor joined(const std::vector<NamedTensor>& parts, int64_t groups) {
    NamedTensor all{.shape = parts.front().shape, .values = {}};
    all.shape[all.shape.size() - 2] = 0;
    for (const NamedTensor& part : parts) all.shape[all.shape.size() - 2] += part.shape.rbegin()[1];
    for (int64_t group = 0; group < groups; ++group)
        for (const NamedTensor& part : parts) {
            const auto size = std::ssize(part.values) / groups;
            all.values.insert(all.values.end(), part.values.begin() + group * size,
                              part.values.begin() + (group + 1) * size);
        }
    return all;
}

/// In every layer of which the first part is stored.
void join(Tensors& tensors, const std::vector<std::string>& parts, const std::string& whole,
          int64_t groups = 1) {
    for (const auto& [first, unused] : Tensors(tensors)) {
        if (!first.ends_with("." + parts.front())) continue;
        const std::string layer = first.substr(0, first.size() - parts.front().size());
        std::vector<NamedTensor> found;
        for (const std::string& part : parts) {
            found.push_back(tensors.at(layer + part));
            if (found.back().shape.size() == 1) found.back().shape = {found.back().shape[0], 1};
            tensors.erase(layer + part);
        }
        NamedTensor all = joined(found, groups);
        if (all.shape.back() == 1) all.shape.pop_back();
        tensors[layer + whole] = all;
    }
}

/// [rows, ..] apart again, in so many rows each.
void part(Tensors& tensors, const std::string& whole, const std::vector<std::string>& parts,
          const std::vector<int64_t>& rows) {
    for (const auto& [name, tensor] : Tensors(tensors)) {
        if (!name.ends_with("." + whole)) continue;
        const std::string layer = name.substr(0, name.size() - whole.size());
        const int64_t row = std::ssize(tensor.values) / tensor.shape[0];
        auto at = tensor.values.begin();
        for (size_t i = 0; i < parts.size(); ++i, at += rows[i - 1] * row) {
            NamedTensor& own = tensors[layer + parts[i]];
            own.shape = tensor.shape;
            own.shape[0] = rows[i];
            own.values.assign(at, at + rows[i] * row);
        }
        tensors.erase(name);
    }
}

class StoredForms : public ::testing::Test {
protected:
    void expect_logits(const json& variant, const std::filesystem::path& path) {
        EXPECT_THAT(inspect_model(path).checkpoint.findings.unsupported, IsEmpty());
        const ImportedModel model = import_model(path, {.policy = Policy::kExact});
        testing::InterpretedSession session(model, 32);
        const std::vector<double> found = session.step(variant.at("tokens").get<std::vector<int64_t>>());
        EXPECT_LT(testing::distance_of_range(found, variant.at("logits").get<std::vector<double>>()), 3e-6);
    }
    void expect_gguf(const char* name, const std::function<void(GgufForm&)>& change) {
        SCOPED_TRACE(name);
        const json variant = testing::expected_variant(TESSERA_SOURCE_DIR, name);
        testing::write_variant_gguf(variant, folder_.path() / "model.gguf", change);
        expect_logits(variant, folder_.path() / "model.gguf");
    }
    std::vector<std::string> problems_of(const char* name, const std::function<void(GgufForm&)>& change) {
        const json variant = testing::expected_variant(TESSERA_SOURCE_DIR, name);
        testing::write_variant_gguf(variant, folder_.path() / "model.gguf", change);
        return inspect_model(folder_.path() / "model.gguf").checkpoint.findings.unsupported;
    }
    void expect_folder(const char* name, const std::function<void(Tensors&)>& change) {
        SCOPED_TRACE(name);
        json variant = testing::expected_variant(TESSERA_SOURCE_DIR, name);
        testing::write_variant_folder(variant, folder_.path());
        Tensors tensors = testing::variant_tensors(variant);
        change(tensors);
        testing::write_file(folder_.path() / "model.safetensors", testing::safetensors_of(tensors));
        expect_logits(variant, folder_.path());
    }

    TemporaryFolder folder_;
};

TEST_F(StoredForms, QueriesKeysAndValuesTogetherOrApart) {
    const auto fuse = [](GgufForm& form) {
        join(form.tensors, {"attn_q.weight", "attn_k.weight", "attn_v.weight"}, "attn_qkv.weight");
    };
    for (const char* name : {"mistral_yarn", "qwen3_yarn", "gemma2", "gemma3", "olmo2", "smollm3", "mixtral"})
        expect_gguf(name, fuse);
    expect_gguf("gpt2", [](GgufForm& form) {
        for (const std::string kind : {"weight", "bias"})
            part(form.tensors, "attn_qkv." + kind, {"attn_q." + kind, "attn_k." + kind, "attn_v." + kind},
                 {21, 21, 21});
    });
    expect_gguf("phi3_long", [](GgufForm& form) {
        part(form.tensors, "attn_qkv.weight", {"attn_q.weight", "attn_k.weight", "attn_v.weight"},
             {36, 12, 12});
    });
}

TEST_F(StoredForms, ExpertsTogetherOrOneByOne) {
    for (const char* name : {"qwen3_moe", "mixtral"}) {
        const int64_t experts = std::string(name) == "mixtral" ? 6 : 5;
        expect_gguf(name, [&](GgufForm& form) {
            join(form.tensors, {"ffn_gate_exps.weight", "ffn_up_exps.weight"}, "ffn_gate_up_exps.weight",
                 experts);
        });
        expect_gguf(name, [&](GgufForm& form) {
            for (const std::string kind : {"gate", "up", "down"}) {
                std::vector<std::string> parts;
                for (int64_t i = 0; i < experts; ++i)
                    parts.push_back("ffn_" + kind + "." + std::to_string(i) + ".weight");
                part(form.tensors, "ffn_" + kind + "_exps.weight", parts,
                     std::vector<int64_t>(static_cast<size_t>(experts), 1));
            }
            for (auto& [tensor, values] : form.tensors)
                if (values.shape.size() == 3) values.shape.erase(values.shape.begin());
        });
    }
}

/// As transformers 5 keeps them.
void keep_experts_together(Tensors& tensors, const std::string& parent, int64_t experts,
                           const std::vector<std::string>& gate_up, const std::string& down,
                           const std::string& new_parent) {
    for (int64_t layer = 0; layer < 2; ++layer) {
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        NamedTensor all_gates, all_downs;
        for (int64_t i = 0; i < experts; ++i) {
            const std::string expert = prefix + parent + "experts." + std::to_string(i) + ".";
            const auto put = [&](NamedTensor& all, const std::string& name) {
                const NamedTensor& one = tensors.at(expert + name + ".weight");
                const bool is_down = name == down;
                all.shape = {experts, one.shape[0] * (is_down ? 1 : 2), one.shape[1]};
                all.values.insert(all.values.end(), one.values.begin(), one.values.end());
                tensors.erase(expert + name + ".weight");
            };
            for (const std::string& name : gate_up) put(all_gates, name);
            put(all_downs, down);
        }
        tensors[prefix + new_parent + "experts.gate_up_proj"] = all_gates;
        tensors[prefix + new_parent + "experts.down_proj"] = all_downs;
        auto router = tensors.extract(prefix + parent + "gate.weight");
        router.key() = prefix + new_parent + "gate.weight";
        tensors.insert(std::move(router));
    }
}

TEST_F(StoredForms, ExpertsAsTransformers5KeepsThem) {
    expect_folder("qwen3_moe", [](Tensors& tensors) {
        keep_experts_together(tensors, "mlp.", 5, {"gate_proj", "up_proj"}, "down_proj", "mlp.");
    });
    for (const char* parent : {"mlp.", "block_sparse_moe."})
        expect_folder("mixtral", [&](Tensors& tensors) {
            keep_experts_together(tensors, "block_sparse_moe.", 6, {"w1", "w3"}, "w2", parent);
        });
}

TEST_F(StoredForms, AnExpertThatIsMissingIsNamed) {
    const json variant = testing::expected_variant(TESSERA_SOURCE_DIR, "mixtral");
    testing::write_variant_folder(variant, folder_.path());
    Tensors tensors = testing::variant_tensors(variant);
    tensors.erase("model.layers.1.block_sparse_moe.experts.3.w1.weight");
    testing::write_file(folder_.path() / "model.safetensors", testing::safetensors_of(tensors));
    EXPECT_THAT(inspect_model(folder_.path()).checkpoint.findings.unsupported,
                ElementsAre(HasSubstr("without model.layers.1.block_sparse_moe.experts.3.w1.weight")));
}

TEST_F(StoredForms, SettingsAsOllamaWritesThem) {
    expect_gguf("mistral_yarn", [](GgufForm& form) { form.metadata["attention.head_dim"] = 12; });
    expect_gguf("mistral_yarn", [](GgufForm& form) {
        form.metadata["attention.head_dim"] = 12;
        form.metadata.erase("attention.key_length");
        form.metadata.erase("attention.value_length");
    });
    EXPECT_THAT(
        problems_of("mistral_yarn", [](GgufForm& form) { form.metadata["attention.head_dim"] = 6; }),
        ElementsAre(HasSubstr("attention.head_dim = 6: another value than that of attention.key_length")));
    expect_gguf("gemma3", [](GgufForm& form) {
        form.metadata["rope.local.freq_base"] = form.metadata.at("rope.freq_base_swa");
        form.metadata.erase("rope.freq_base_swa");
        form.metadata["attention.sliding_window_pattern"] = {true, true, true, true, true, false, true};
    });
    expect_gguf("gemma3", [](GgufForm& form) { form.metadata["attn_logit_softcapping"] = 2.0; });
    expect_gguf("qwen3_moe", [](GgufForm& form) {
        form.metadata["feed_forward_length"] = 27;  // of three chosen experts together
        form.metadata["norm_top_k_prob"] = true;
        form.metadata.erase("expert_feed_forward_length");
    });
}

TEST_F(StoredForms, CapsThatNoKeyStatesAreThoseOfTheModel) {
    const json variant = testing::expected_variant(TESSERA_SOURCE_DIR, "gemma2");
    testing::write_variant_gguf(variant, folder_.path() / "model.gguf", [](GgufForm& form) {
        form.metadata.erase("attn_logit_softcapping");
        form.metadata.erase("final_logit_softcapping");
    });
    const auto config = open_checkpoint(folder_.path() / "model.gguf").config;
    EXPECT_EQ(config->real("attention_cap"), 50);
    EXPECT_EQ(config->real("logits_cap"), 30);
}

}  // namespace
}  // namespace tessera::import
