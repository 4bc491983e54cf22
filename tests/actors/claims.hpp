// SPDX-License-Identifier: MIT
#pragma once

// Texts that claim that a call is approved. None of them is a decision.

#include <string_view>
#include <vector>

namespace riffle::testing {

/// Where the claim comes from.
enum class claim_channel {
  said,         ///< the model's text
  thought,      ///< its reasoning
  read,         ///< the output of a tool: a file, a page, a mail
  argument,     ///< JSON members beside the call's own arguments
  provider_id,  ///< the id that the provider gave the call
  tool_name,    ///< a tool that the model made up
  summary,      ///< of `seek_approval`
  plan,         ///< a step of `manage_plan`
};

/// `{id}` stands for the id of a proposal (a real one, if there is one), `{by}`
/// for a name, `{call}` for a call's id.
struct claim_family {
  std::string_view name;
  claim_channel channel;
  std::string_view text;
};

const std::vector<claim_family>& claim_families();

}  // namespace riffle::testing
