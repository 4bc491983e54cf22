// SPDX-License-Identifier: MIT
#include "tools/program_folders.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

#include "tools/followed_path.hpp"

namespace riffle::tools {

namespace fs = std::filesystem;

program_folders::program_folders() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    if (rest.starts_with('/'))
      folders_.push_back(follow_path("/", rest.substr(0, end)).real);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

bool program_folders::has(const fs::path& x) const {
  return std::ranges::any_of(folders_, [&](const fs::path& folder) {
    return x == folder || x.parent_path() == folder;
  });
}

std::vector<std::string> program_folders::other_names(const fs::path& x) {
  const auto id = linked_file(x);
  if (!id || has(x)) return {};
  if (!std::exchange(listed_, true))
    for (const auto& folder : folders_) {
      std::error_code gone;
      fs::directory_iterator at{folder, gone};
      for (; !gone && at != fs::directory_iterator{}; at.increment(gone))
        if (const auto other = linked_file(at->path()))
          linked_.emplace(*other, at->path().string());
    }
  std::vector<std::string> out;
  const auto [begin, end] = linked_.equal_range(*id);
  for (auto i = begin; i != end; ++i) out.push_back(i->second);
  return out;
}

std::optional<program_folders::file_id> program_folders::linked_file(
    const fs::path& x) {
  struct stat found{};
  if (::lstat(x.c_str(), &found) != 0 || !S_ISREG(found.st_mode) ||
      found.st_nlink < 2)
    return {};
  return file_id{found.st_dev, found.st_ino};
}

}  // namespace riffle::tools
