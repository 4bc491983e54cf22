// SPDX-License-Identifier: MIT
// riffle mcp approve: a person looks at a server's tools; and what goes with a
// server that is removed.
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/cli/commands/mcp_commands.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/mcp_approval.hpp"
#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/node/mcp_part.hpp"
#include "runtime/service/views.hpp"
#include "tools/mcp/names.hpp"
#include "tools/mcp/oauth/login.hpp"

namespace riffle::cli {

namespace {

using late_tools = std::map<std::string, mcp::approved_tool>;

/// What a person has been shown of a server.
struct shown_tools {
  const mcp::listing& has;
  late_tools late{};  ///< that it adds while it runs
  std::vector<mcp::change> changed{};
  effect_namer effect{};
};

void approve_all(mcp::remembered& known, const shown_tools& shown) {
  known.speaks = shown.has.about.speaks;
  known.approved = true;
  known.instructions = shown.has.about.instructions;
  auto late = shown.late;
  for (const auto& [name, tool] : known.tools)
    if (tool.late) late.try_emplace(name, tool);
  known.tools.clear();
  for (const auto& tool : shown.has.tools) {
    known.tools[tool.name] = mcp::approval_of(tool);
    known.pending.erase(tool.name);
  }
  for (auto& [name, tool] : late) {
    tool.late = true;
    known.tools.try_emplace(name, tool);
    known.pending.erase(name);
  }
}

int keep_approval(const mcp_command& x, const opened_servers& servers,
                  const shown_tools& shown, console& io) {
  const auto& server = servers.settings.mcp.at(x.name);
  std::size_t count = 0;
  const auto done = mcp::change_memory(
      mcp_memory(servers.settings), mcp_memory_name(x.name, server),
      mcp_identity(server), [&](mcp::remembered& known) {
        approve_all(known, shown);
        count = known.tools.size();
      });
  if (!done) return report(done.error(), io);
  if (x.common.output != output_kind::text) {
    const nlohmann::ordered_json told{
        {"server", x.name},
        {"approved", count},
        {"tools",
         mcp_tools_json(shown.has.tools, shown.changed, shown.effect)}};
    io.out.write(service::dump(told) + "\n");
  } else if (x.common.level != verbosity::quiet) {
    io.complain("the tools of " + x.name +
                " are approved as they are: " + std::to_string(count));
    io.err.write(mcp_preview_hint(x.name, server, shown.has.tools));
  }
  return io.out.good() ? completed : failed;
}

/// None of its tools is approved, so that none is used; what was approved
/// before stays. One that is not started here stays so.
int keep_refusal(const mcp_command& x, const opened_servers& servers,
                 console& io) {
  const auto& server = servers.settings.mcp.at(x.name);
  const auto memory = mcp_memory(servers.settings);
  const auto done =
      why_not_here(memory, x.name, server).empty()
          ? mcp::change_memory(
                memory, mcp_memory_name(x.name, server), mcp_identity(server),
                [](mcp::remembered& known) { known.approved = true; })
          : expected<void>{};
  if (!done) return report(done.error(), io);
  io.complain(
      "they are not approved, and no run uses them: 'riffle mcp "
      "approve " +
      x.name + "' asks again");
  return usage;
}

/// Whose tools they are.
std::string place_of(const config::mcp_config& x) {
  constexpr std::size_t longest = 4096;
  auto out = mcp_place_text(x) + "\n";
  if (x.command.empty()) return out;
  const auto identity = mcp::json::parse(mcp_identity(x), nullptr, false);
  if (const auto folder = identity.value("folder", ""); !folder.empty())
    out += "found in: " + safe_line(folder, longest) + "\n";
  return out;
}

}  // namespace

int mcp_approve(const mcp_command& x, console& io) {
  const auto servers = open_servers(x, servers_for::approval, io);
  if (!servers) return usage;
  if (!make_ready(*servers, x.name, io)) return failed;
  const auto& server = servers->settings.mcp.at(x.name);
  const auto has = servers->all->find(x.name)->status().has;
  auto known = mcp::recall(mcp_memory(servers->settings),
                           mcp_memory_name(x.name, server));
  if (known.identity != mcp_identity(server)) known = {};
  shown_tools shown{*has, known.pending, mcp::changes(known, has->tools)};
  for (const auto& tool : has->tools) shown.late.erase(tool.name);
  shown.effect = [&](const mcp::tool_def& tool) -> std::string {
    const auto one = servers->all->find_tool(mcp::tool_name(x.name, tool.name));
    return one ? std::string{to_string(one->spec().eff)} : "";
  };
  const auto advice =
      mcp_instructions_text(known.instructions, has->about.instructions);
  const auto late = mcp_late_text(shown.late, known.tools);
  const bool news = !advice.empty() || !late.empty() || !shown.changed.empty();
  const auto changes = mcp_changes_text(shown.changed, shown.effect);
  if (news) io.err.write(place_of(server));
  // Where nobody is asked nobody can ask for the rest of it.
  const auto keyboard = x.yes || !news ? std::nullopt : open_keyboard(false);
  if (!keyboard) io.err.write(advice + changes + late);
  if (x.yes || !news) return keep_approval(x, *servers, shown, io);
  if (!keyboard) {
    io.complain("nobody can be asked here: --yes approves them as they are");
    return usage;
  }
  io.err.write(advice +
               mcp_tools_text(has->tools, shown.changed, shown.effect,
                              io.err.columns()) +
               late);
  if (confirm(
          mcp_question(x.name, server, has->tools.size(), shown.changed),
          keyboard->get(), [] { return false; }, io,
          changes + mcp_whole_text(has->tools, shown.changed, shown.effect)))
    return keep_approval(x, *servers, shown, io);
  return keep_refusal(x, *servers, io);
}

namespace {

/// Of a file in the folder of what is remembered.
bool is_of_server(const std::filesystem::path& file,
                  const config::mcp_config& server) {
  if (file.extension() == ".login")
    return mcp::oauth::read_login(file, server.url).has_value();
  return file.extension() == ".json" &&
         is_memory_of(mcp::recall(file.parent_path(), file.stem().string()),
                      server);
}

}  // namespace

void forget_server(const mcp_command& x, const config::config& before,
                   console& io) {
  namespace fs = std::filesystem;
  const auto folder = mcp_memory(before);
  const auto server = before.mcp.find(x.name);
  if (folder.empty() || server == before.mcp.end()) return;
  std::error_code ignored;
  std::vector<fs::path> gone;
  for (const auto& entry : fs::directory_iterator{folder, ignored}) {
    const auto file = entry.path().filename().string();
    if ((file.starts_with(x.name + ".") || file.starts_with(x.name + "@")) &&
        is_of_server(entry.path(), server->second))
      gone.push_back(entry.path());
  }
  bool login = false;
  bool approval = false;
  for (const auto& file : gone) {
    login = login || file.extension() == ".login";
    approval = approval || (file.extension() == ".json" &&
                            mcp::recall(folder, file.stem()).approved);
    fs::remove(file, ignored);
  }
  if (x.common.level == verbosity::quiet || (!login && !approval)) return;
  io.complain(std::string{"with it went what was remembered of it: "} +
              (login ? "its login" : "") + (login && approval ? ", " : "") +
              (approval ? "what was approved" : "") +
              (login ? " (the token itself is good until it ends: 'riffle mcp "
                       "logout' before would have taken it back)"
                     : ""));
}

}  // namespace riffle::cli
