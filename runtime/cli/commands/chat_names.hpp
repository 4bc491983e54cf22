// SPDX-License-Identifier: MIT
#pragma once

// Names that may stand behind a command of a conversation and have to be looked
// up: beside the keys, with a connection of their own, since that of the
// runtime may be gone by then.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/cli/commands/chat_offers.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::cli {

/// Nobody looks for one task of many, or one step, without saying so; where
/// there is nothing else they are all there is. Without those that are damaged.
std::vector<session_summary> begun_alone(std::vector<session_summary> all);

/// For whom it is: where he works, and what "~" is to him.
struct looker {
  std::string folder;
  std::string home;
};

/// Titles of the sessions used last, those that work in his folder first, each
/// with its age, and its place where that is another. Without `but`. `data`:
/// the folder of the journal.
name_finder titles_in(std::filesystem::path data, std::optional<session_id> but,
                      looker who);

/// Files that this session changed, without what was taken back, each with its
/// lines added and removed.
name_finder changed_files_in(std::filesystem::path data, session_id session);

}  // namespace riffle::cli
