#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "compiler/layout_search.h"
#include "search/layouts/account.h"

/// The output of `tessera explain`, in words and as JSON.
namespace tessera::cli {

/// A tensor of the graph in one specialisation and block, or a constant.
struct TensorAccount {
    layouts::ValueForms value;
    std::optional<Layout> in_artefact;  ///< as the artefact's plan has it; nothing where it is never whole
    std::string left_alone;             ///< why the search has nothing to choose; else empty
    layouts::Account account;
};

struct TensorAccounts {
    std::string tensor;
    std::string description;  ///< "constant f32[384, 128]"
    std::vector<TensorAccount> accounts;
};

/// @throws Error for a name that the graph does not have, with those that are near.
TensorAccounts account_for(const runtime::Artefact& artefact, const compiler::LayoutSearch& again,
                           const std::string& tensor);

std::string in_words(const TensorAccounts& accounts, const compiler::LayoutSearch& again);
nlohmann::ordered_json as_json(const TensorAccounts& accounts, const compiler::LayoutSearch& again);

}  // namespace tessera::cli
