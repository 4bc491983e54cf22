// SPDX-License-Identifier: MIT
#pragma once

// Where a call runs: here, or on which node. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::core {

/// Where a tool's calls may run; from `tools.X`.
struct placement_rule {
  /// Names, patterns ("gpu-*"), "label:X", "local". Empty: here if this process
  /// has the tool, else on any node.
  std::vector<std::string> nodes{};
  bool sticky = false;       ///< a session's calls stay where the first one was
  bool here = false;         ///< this process has the tool
  std::uint32_t places = 1;  ///< here
};

/// Whether an item of `nodes` means the node.
bool means_node(std::string_view item, std::string_view node,
                const std::vector<std::string>& labels);

/// Chooses for each attempt of a call the place with the most room, counted
/// from what was given out here and what the nodes say; among equals this
/// process, then in turns. A node that refused a call of the tool, since its
/// circuit breaker is open, comes behind all others for a while. Costs the
/// number of nodes that have the tool.
class placement {
 public:
  void set_rule(const std::string& tool, placement_rule rule);

  /// A node has this tool from now on, so many calls at once. One that has it
  /// already: the number changes.
  void add(const std::string& node, const std::vector<std::string>& labels,
           const std::string& tool, std::uint32_t places);
  /// It takes no more calls. `why`: "lost", "drained" … `hold`: where no other
  /// place has its tool, calls are given to it all the same, to wait for it;
  /// which tools these are.
  std::set<std::string> remove(const std::string& node, const std::string& why,
                               wall_time when, bool hold = false);
  /// It is waited for no more.
  void end_hold(const std::string& node, const std::string& tool);
  /// A node has this tool, and it is not used: why, for people. Until the node
  /// leaves, or offers it anew.
  void add_unused(const std::string& node, const std::string& tool,
                  const std::string& why);
  /// Calls of others that it has beside ours.
  void set_load(const std::string& node, const std::string& tool,
                std::uint32_t calls);

  /// The node's name, or "" for this process. `tool_unavailable`: which nodes
  /// had it, and since when they are gone.
  expected<std::string> choose(const std::string& tool, const run_id& run,
                               const session_id& session, const call_id& call,
                               wall_time now);
  /// Where an earlier process sent the newest call of the session: sticky
  /// calls go on there, unless it is known here already.
  void remember(const std::string& tool, const session_id& session,
                const std::string& node);
  /// The place of this call refused it. Whether another one may take it now.
  bool on_refused(const call_id& call, wall_time now);
  /// The call needs its place no more.
  void release(const call_id& call);
  void release_run(const run_id& run);

  /// Calls given to a node and not released.
  [[nodiscard]] std::uint32_t given(const std::string& node,
                                    const std::string& tool) const;
  /// Whether any place has the tool now.
  [[nodiscard]] bool has(const std::string& tool) const;
  /// Why none has: as `choose` would say.
  [[nodiscard]] error problem(const std::string& tool, wall_time now) const;

 private:
  struct place {
    std::uint32_t places = 1;
    std::uint32_t given = 0;   ///< by us
    std::uint32_t others = 0;  ///< as the node says
    std::uint64_t last = 0;    ///< when it was chosen, by number
    std::uint64_t stay = 0;    ///< another one each time its node joins
    wall_time rests_until{};   ///< since it refused a call
    bool away = false;         ///< it is lost, and waited for
  };
  struct gone {
    std::string why;
    wall_time when{};
  };
  struct held {
    std::string node;
    std::string tool;
    run_id run;
    std::uint64_t stay = 0;
  };
  struct of_tool {
    placement_rule rule;
    std::map<std::string, place> places;  ///< by node; "": here
    std::map<std::string, gone> lost;
    std::map<std::string, std::string> unused;  ///< why, by node
  };

  [[nodiscard]] bool allows(const of_tool& x, const std::string& node) const;
  of_tool& tool_named(const std::string& tool);
  void stick(const std::string& tool, const session_id& session,
             const std::string& node);
  [[nodiscard]] error unavailable(const std::string& tool, const of_tool& x,
                                  wall_time now) const;
  std::string* stuck(const of_tool& x, const std::string& tool,
                     const session_id& session);

  std::map<std::string, of_tool, std::less<>> tools_;
  std::map<std::string, std::vector<std::string>> labels_;  ///< of nodes
  std::map<call_id, held> held_;
  std::map<run_id, std::set<call_id>> of_run_;
  /// (session, tool) -> node, the newest `most_stuck`.
  std::map<std::pair<session_id, std::string>, std::string> stuck_;
  std::uint64_t turn_ = 0;
};

}  // namespace riffle::core
