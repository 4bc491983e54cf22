// SPDX-License-Identifier: MIT
#include "runtime/service/run_folder.hpp"

#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>

#include "runtime/service/stored_request.hpp"

namespace riffle::service {

namespace fs = std::filesystem;

void put_configuration(nlohmann::json& out, const run_configuration& x) {
  if (x.file.empty()) return;
  out["configuration"] = {{"file", x.file}, {"digest", x.digest}};
}

run_configuration read_configuration(const nlohmann::json& from) {
  const auto x = from.find("configuration");
  if (x == from.end()) return {};
  return {x->value("file", ""), x->value("digest", "")};
}

run_configuration configuration_of(const storage::run_record& x) {
  return request_from_json(x.settings).configuration;
}

void work_in(config::tools_config& x, const fs::path& workspace) {
  if (workspace.empty()) return;
  x.defaults.workspace = workspace.string();
  for (auto& [name, tool] : x.by_name) tool.workspace = workspace.string();
}

void keep_folders(config::tools_config& x) {
  const auto keep = [](config::tool_config& tool) {
    std::error_code gone;
    const auto here = fs::absolute(tool.workspace, gone);
    if (!gone) tool.workspace = here.string();
  };
  keep(x.defaults);
  for (auto& [name, tool] : x.by_name) keep(tool);
  for (auto& [name, tool] : x.of_servers) keep(tool);
}

fs::path workspace_of(const storage::run_record& x) {
  return request_from_json(x.settings).request.workspace;
}

duration node_timeout(const config::config& x) {
  return x.cluster.orphan_after + x.tools.defaults.kill_grace +
         x.cluster.heartbeat;
}

duration node_timeout(const storage::run_record& x) {
  return request_from_json(x.settings).node_timeout;
}

std::string working_folder() {
  std::error_code gone;
  return fs::current_path(gone).string();
}

folder_state find_folder(const std::string& folder) {
  if (folder.empty()) return folder_state::here;
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) return folder_state::gone;
  const bool same = fs::equivalent(folder, ".", failed);
  return same && !failed ? folder_state::here : folder_state::elsewhere;
}

expected<void> check_folder(const std::string& folder,
                            const std::string& what) {
  const auto fail = [&](const std::string& why) {
    return unexpected{error{errc::invalid_request, "folder",
                            what + " is of the folder " + folder + why}};
  };
  switch (find_folder(folder)) {
    case folder_state::here: break;
    case folder_state::elsewhere:
      return fail(
          ", and its tools work nowhere else: use a process whose working "
          "directory that is");
    case folder_state::gone:
      return fail(
          ", which is not there any more, and its tools work nowhere else: "
          "make it again, or deny or cancel it");
  }
  return {};
}

}  // namespace riffle::service
