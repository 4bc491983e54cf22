// SPDX-License-Identifier: MIT
#include "tests/tools/tool_fixture.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <stdlib.h>
#include <thread>
#include <utility>

#include "tests/support/time_scale.hpp"

namespace riffle::testing {

temp_folder::temp_folder() {
  auto name =
      (std::filesystem::temp_directory_path() / "riffle-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error{"cannot make " + name};
  path_ = std::filesystem::canonical(name);
}

temp_folder::~temp_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void temp_folder::write(const std::string& name, std::string_view text) const {
  const auto file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream{file, std::ios::binary} << text;
}

bool temp_folder::has(const std::string& name) const {
  return std::filesystem::exists(path_ / name);
}

std::string slurp(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file, std::ios::binary}.rdbuf();
  return text.str();
}

bool eventually(const std::function<bool()>& condition, duration limit) {
  const auto deadline = std::chrono::steady_clock::now() + scaled(limit);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

tool_fixture::tool_fixture() {
  context.stop = stop.get_token();
  context.workspace = folder.path();
  context.kill_grace = 200ms;
  context.progress = [this](tool_progress_report x) {
    const std::lock_guard lock{mutex_};
    reports_.push_back(std::move(x));
  };
}

tools::tool_output tool_fixture::run(tools::tool& x,
                                     const nlohmann::json& arguments) {
  return x.run(arguments, context);
}

std::vector<tool_progress_report> tool_fixture::reports() const {
  const std::lock_guard lock{mutex_};
  return reports_;
}

std::string tool_fixture::joined(std::string_view stream) const {
  std::string result;
  for (const auto& x : reports())
    if (x.stream == stream) result += x.message;
  return result;
}

std::size_t peak_memory() {
  std::ifstream status{"/proc/self/status"};
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    std::size_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

void reset_peak_memory() { std::ofstream{"/proc/self/clear_refs"} << "5"; }

}  // namespace riffle::testing
