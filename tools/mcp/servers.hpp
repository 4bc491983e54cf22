// SPDX-License-Identifier: MIT
#pragma once

// All servers of a process, and the tools that they have.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mcp/mcp_tool.hpp"
#include "tools/mcp/memory.hpp"
#include "tools/mcp/server.hpp"
#include "tools/mcp/server_view.hpp"

namespace riffle::mcp {

struct server_setup {
  server_options how{};
  /// Of a tool, by the server's name for it.
  std::function<tool_rules(const std::string& tool)> rules{};
  /// What it is: another command or URL is another server.
  std::string identity{};
  bool guarded = false;  ///< it runs processes
  /// The name of what is remembered of it; empty: its own.
  std::string memory_name{};
  /// Tools that the configuration has rules for, by the server's names.
  std::vector<std::string> named{};

  [[nodiscard]] const std::string& kept_as() const noexcept {
    return memory_name.empty() ? how.name : memory_name;
  }
};

struct servers_options {
  std::filesystem::path memory{};  ///< folder; empty: nothing is remembered
  std::vector<server_setup> all{};
  /// Told of all tools that there are now, on a thread of a server.
  std::function<void(const std::vector<tools::tool_ptr>&)> on_tools{};
  /// See `server_options::on_change`; of any of them.
  std::function<void()> on_change{};
  /// A tool is used as it is, whatever was approved: to look at it.
  bool shows_all = false;
};

/// A server that is not ready, and why: a line, and what it ended by.
struct missing_server {
  std::string server{};
  std::string message{};
  std::string cause{};
};

class servers {
 public:
  explicit servers(servers_options options);
  ~servers();
  servers(const servers&) = delete;
  servers& operator=(const servers&) = delete;

  /// Ends all at once: each has a grace. False: one has not ended by `until`;
  /// then nobody may destroy this.
  [[nodiscard]] bool end(time_point until);

  /// Null: there is none with this name.
  [[nodiscard]] server* find(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

  /// Starts these, all at once, and waits for each up to its start-up timeout
  /// (which counts once for all who wait, as long as it is not there), not
  /// beyond a stop, nor longer than `limit` (0: none). What a person approved
  /// meanwhile, by another process, counts from then on. Those that are not
  /// ready.
  std::vector<missing_server> ready(const std::set<std::string>& names,
                                    const std::stop_token& stop = {},
                                    duration limit = {});

  /// Tools of a server as they were listed, by Riffle's names, in the server's
  /// order; also of one that is not there just now.
  [[nodiscard]] std::vector<std::string> tools_of(
      const std::string& name) const;
  [[nodiscard]] tools::tool_ptr find_tool(const std::string& name) const;

  /// How they are now, in the order of their names; not those that were ended.
  [[nodiscard]] std::vector<server_view> views() const;
  /// Tools, by Riffle's names, whose calls would be refused now, and why.
  [[nodiscard]] std::map<std::string, std::string> refused_tools() const;

  /// What a person must look at before it is used.
  [[nodiscard]] std::vector<change> held_back(const std::string& name) const;
  [[nodiscard]] review reviewed(const std::string& name) const;
  /// What it says of its use, if a person has read it, or its configuration
  /// trusts it; cut.
  [[nodiscard]] std::string instructions_of(const std::string& name) const;
  /// What a model is sent of all of its tools, if that is `large`; once, then
  /// 0.
  [[nodiscard]] std::size_t definition_bytes(const std::string& name,
                                             std::size_t large);
  /// Its tools can be used, and nobody has looked at them; true once.
  [[nodiscard]] bool tells_unseen(const std::string& name);
  /// See `review::other_advice`; true once.
  [[nodiscard]] bool tells_advice(const std::string& name);
  /// Whether one of these would be waited for.
  [[nodiscard]] bool would_wait(const std::set<std::string>& names) const;
  /// The same, and it is under way: none that was given up.
  [[nodiscard]] bool are_starting(const std::set<std::string>& names) const;

 private:
  /// What one of `tools` calls.
  struct meant_tool {
    std::string tool{};    ///< the server's name for it; empty: it reads
    std::string digest{};  ///< empty: the same
  };

  struct entry {
    server_setup setup;
    remembered known;
    std::vector<tools::tool_ptr> tools;
    std::vector<std::string> order;  ///< names of tools of the last list
    std::vector<change> held;
    std::shared_ptr<server> at;
    std::string stamp{};       ///< of what is `known`
    bool told = false;         ///< that nobody has looked at it
    bool told_advice = false;  ///< that it is another one
    std::map<std::string, meant_tool> meant{};  ///< by `tools`, by name
    std::set<std::string> told_held{};  ///< those of `held` that were logged
    int held_lines = 0;                 ///< of the log, about them
    bool told_large = false;            ///< what its definitions cost
    bool told_named = false;            ///< what has rules and is not there
  };

  void on_listing(const std::string& name, const listing& has);
  void look_again(const std::string& name);
  [[nodiscard]] std::vector<tools::tool_ptr> tools_of_all() const;
  void note(entry& x, const listing& has) const;
  void use(entry& x, const std::string& as, meant_tool what,
           const std::function<tools::tool_ptr()>& make) const;
  void tell_held(entry& x) const;
  void keep_pending(const entry& x, const std::vector<change>& fresh) const;
  static void tell_unknown(entry& x, const listing& has);
  static bool has_other_advice(const entry& x);
  static review review_of(const entry& x);

  const servers_options options_;
  std::mutex telling_;  ///< before mutex_; held while on_tools is told
  mutable std::mutex mutex_;
  std::map<std::string, entry> all_;
};

}  // namespace riffle::mcp
