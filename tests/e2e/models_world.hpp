// SPDX-License-Identifier: MIT
#pragma once

// Programs that reach the models of providers at servers of the test.

#include <map>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "tests/e2e/program.hpp"

namespace riffle::testing {

/// A riffle.toml in which provider models are reached at `url`.
inline void configure_model(const work_folder& folder, const std::string& url,
                            const std::string& model,
                            const std::string& more = {}) {
  folder.write("riffle.toml", "[runtime]\ndata_dir = \"data\"\n[models.\"" +
                                  model + "\"]\nbase_url = \"" + url + "\"\n" +
                                  more);
}

inline finished run_configured(const work_folder& folder,
                               std::vector<std::string> arguments,
                               std::map<std::string, std::string> env = {}) {
  env["RIFFLE_CONFIG"] = (folder.path() / "riffle.toml").string();
  return riffle(folder, std::move(arguments), env);
}

/// A program in the folder.
inline void write_program(const work_folder& folder, const std::string& name,
                          std::string_view text) {
  folder.write(name, text);
  ::chmod((folder.path() / name).c_str(), 0755);
}

}  // namespace riffle::testing
