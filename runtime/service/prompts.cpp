// SPDX-License-Identifier: MIT
#include "runtime/service/prompts.hpp"

#include <utility>

#include "tools/mcp/names.hpp"
#include "tools/mcp/prompts.hpp"

namespace riffle::service {

namespace {

unexpected failure(errc code, std::string why) {
  return unexpected{error{code, "prompts", std::move(why), false, {}}};
}

server_prompt view_of(const std::string& server, const mcp::prompt& x) {
  server_prompt out{mcp::tool_name(server, x.name), x.about, {}};
  for (const auto& one : x.arguments)
    out.arguments.push_back({one.name, one.about, one.required});
  return out;
}

}  // namespace

std::vector<server_prompt> prompts::list(std::vector<std::string>& problems,
                                         const std::stop_token& stop) const {
  std::vector<server_prompt> out;
  if (!servers_) return out;
  const auto names = servers_->names();
  problems.clear();
  for (auto& x : servers_->ready({names.begin(), names.end()}, stop))
    problems.push_back(std::move(x.message));
  for (const auto& name : names) {
    auto& at = *servers_->find(name);
    if (at.status().state != mcp::server_state::ready) continue;
    if (stop.stop_requested()) break;
    const auto all = mcp::list_prompts(at, stop);
    if (!all) problems.push_back(all.error().message);
    if (all)
      for (const auto& x : *all) out.push_back(view_of(name, x));
  }
  if (stop.stop_requested()) problems.clear();
  return out;
}

expected<std::string> prompts::text(const std::string& name,
                                    std::string_view words,
                                    const std::stop_token& stop) const {
  const auto servers =
      servers_ ? servers_->names() : std::vector<std::string>{};
  for (const auto& server : servers) {
    if (!name.starts_with(server + "__")) continue;
    if (const auto why = servers_->ready({server}, stop); !why.empty())
      return failure(errc::tool_unavailable, why.front().message);
    auto& at = *servers_->find(server);
    const auto all = mcp::list_prompts(at, stop);
    if (!all) return unexpected{all.error()};
    for (const auto& x : *all) {
      if (mcp::tool_name(server, x.name) != name) continue;
      return mcp::prompt_arguments(x, words).and_then(
          [&](const mcp::json& arguments) {
            return mcp::get_prompt(at, x, arguments, stop);
          });
    }
  }
  return failure(errc::not_found, "no server has a prompt " + name);
}

}  // namespace riffle::service
