// SPDX-License-Identifier: MIT
#pragma once

// What a tool says about a call, without what it throws: the functions of
// tools are others' code, and whatever one of them throws is a fault of that
// call alone, in an error that names tool and function.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "messages/error.hpp"
#include "tools/tool.hpp"

namespace riffle::tools {

expected<std::string> ask_title(const tool& x, const nlohmann::json& arguments);

/// `workspace` may be relative, here and below: it is made absolute first.
expected<std::vector<std::string>> ask_keys(
    const tool& x, const nlohmann::json& arguments,
    const std::filesystem::path& workspace);

expected<rule_subject> ask_subject(const tool& x,
                                   const nlohmann::json& arguments,
                                   const std::filesystem::path& workspace);

expected<call_preview> ask_preview(const tool& x,
                                   const nlohmann::json& arguments,
                                   const std::filesystem::path& workspace);

expected<std::optional<read_claim>> ask_only_reads(
    const tool& x, const nlohmann::json& arguments,
    const std::filesystem::path& workspace);

expected<std::string> ask_definition(const tool& x);

}  // namespace riffle::tools
