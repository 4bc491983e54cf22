// SPDX-License-Identifier: MIT
#pragma once

// A folder with a provider of two models, and what that was asked.

#include <cstddef>
#include <string>
#include <vector>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// All that somebody says in a request.
inline std::string said_by(const nlohmann::json& request,
                           const std::string& role) {
  std::string all;
  for (const auto& m : request.at("messages"))
    if (m.at("role") == role) all += m.at("content").get<std::string>() + "\n";
  return all;
}

/// The first id that begins so.
inline std::string id_in(const std::string& text, const std::string& prefix) {
  const auto at = text.find(prefix);
  REQUIRE(at != std::string::npos);
  return text.substr(at, text.find_first_of(", \n", at) - at);
}

inline constexpr auto two_steps =
    R"({"steps": [{"id": "a", "instruction": "do a"},
                  {"id": "b", "instruction": "do b"}]})";

/// Answers "ok" to all.
struct tasks_place {
  tasks_place() {
    folder.configure(server.url("/v1"),
                     "model = \"m\"\n[models.other]\nbase_url = \"" +
                         server.url("/v1") +
                         "\"\nmodel = \"m2\"\n[agents.default]\n"
                         "model = \"default\"\n[agents.writer]\n"
                         "model = \"default\"\n"
                         "system_prompt = \"You write.\"\n");
  }
  [[nodiscard]] finished run(std::vector<std::string> arguments) const {
    return riffle(folder, std::move(arguments));
  }
  [[nodiscard]] finished sh(const std::string& line) const {
    return program{
        "/bin/sh",
        folder,
        {"-c", line},
        {{"RIFFLE", installed_riffle().string() + " run --config riffle.toml"}}}
        .wait();
  }
  /// What was asked since the last time.
  std::vector<nlohmann::json> asked() {
    std::vector<nlohmann::json> out;
    const auto all = server.requests();
    for (; seen < all.size(); ++seen)
      out.push_back(nlohmann::json::parse(all[seen].body));
    return out;
  }

  const work_folder folder;
  std::size_t seen = 0;
  http_server server{respond_sse(answer("ok"))};
};

}  // namespace riffle::testing
