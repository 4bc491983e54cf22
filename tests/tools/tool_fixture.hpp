// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/tool.hpp"

namespace riffle::testing {

using namespace std::chrono_literals;

/// A folder of its own, removed at the end.
class temp_folder {
 public:
  temp_folder();
  ~temp_folder();
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file; folders on the way are made.
  void write(const std::string& name, std::string_view text) const;
  [[nodiscard]] bool has(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

/// The whole of a file; empty if there is none.
std::string slurp(const std::filesystem::path& file);

/// Looks again and again until the condition holds or the time is up.
bool eventually(const std::function<bool()>& condition, duration limit = 10s);

/// A workspace with a context that records progress.
class tool_fixture {
 public:
  tool_fixture();

  tools::tool_output run(tools::tool& x, const nlohmann::json& arguments);
  [[nodiscard]] std::vector<tool_progress_report> reports() const;
  /// All messages of one stream, joined.
  [[nodiscard]] std::string joined(std::string_view stream) const;

  temp_folder folder;
  std::stop_source stop;
  tools::tool_context context;

 private:
  mutable std::mutex mutex_;
  std::vector<tool_progress_report> reports_;
};

/// Peak resident memory of this process, in bytes.
std::size_t peak_memory();

/// Starts the count of `peak_memory` again, where the kernel allows it.
void reset_peak_memory();

}  // namespace riffle::testing
