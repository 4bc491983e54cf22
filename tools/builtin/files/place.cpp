// SPDX-License-Identifier: MIT
#include "tools/builtin/files/place.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "tools/builtin/files/path_confinement.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

constexpr int most_links = 40;  ///< as the kernel

/// Goes over a path part by part and keeps the names of where it is. Each
/// folder on the way stays open, so that ".." leads back to where we came from
/// whatever is renamed meanwhile.
class finder {
 public:
  explicit finder(int root) : root_{root} {}

  tl::expected<std::string, int> run(const std::string& relative) {
    if (relative.starts_with('/')) return tl::unexpected{EXDEV};
    if (relative.size() >= PATH_MAX) return tl::unexpected{ENAMETOOLONG};
    parts_ = reversed_parts(relative);
    while (!parts_.empty()) {
      const auto part = std::exchange(parts_.back(), {});
      parts_.pop_back();
      if (const int number = take(part); number != 0)
        return tl::unexpected{number};
    }
    if (relative.ends_with('/') && at_file()) return tl::unexpected{ENOTDIR};
    return place();
  }

 private:
  enum class kind : std::uint8_t { folder, file, missing };
  struct step {
    std::string name;
    kind what = kind::missing;
    unique_fd fd;  ///< of a folder
  };

  [[nodiscard]] bool at_file() const {
    return !steps_.empty() && steps_.back().what == kind::file;
  }

  [[nodiscard]] tl::expected<std::string, int> place() const {
    std::string result;
    for (const auto& x : steps_) result += (result.empty() ? "" : "/") + x.name;
    if (result.size() >= PATH_MAX) return tl::unexpected{ENAMETOOLONG};
    return result.empty() ? "." : result;
  }

  int take(const std::string& part) {
    while (!rests_.empty() && rests_.back() > parts_.size()) rests_.pop_back();
    if (at_file()) return ENOTDIR;
    if (part == ".") return 0;
    if (part == "..") {
      if (steps_.empty()) return EXDEV;
      steps_.pop_back();
      return 0;
    }
    if (!steps_.empty() && steps_.back().what == kind::missing) {
      steps_.push_back({part, kind::missing, {}});
      return 0;
    }
    return enter(part);
  }

  int enter(const std::string& part) {
    const int here = steps_.empty() ? root_ : steps_.back().fd.get();
    unique_fd fd{::openat(here, part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    if (!fd && errno != ENOENT) return errno;
    if (!fd) {
      if (on_the_way()) return ENOENT;
      steps_.push_back({part, kind::missing, {}});
      return 0;
    }
    struct stat info{};
    if (::fstat(fd.get(), &info) != 0) return errno;
    if (S_ISLNK(info.st_mode)) return follow(fd.get());
    const auto what = S_ISDIR(info.st_mode) ? kind::folder : kind::file;
    steps_.push_back({part, what, std::move(fd)});
    return 0;
  }

  /// Whether we are in what a link stands for, with more of the path behind.
  [[nodiscard]] bool on_the_way() const {
    return std::ranges::any_of(rests_, [](std::size_t x) { return x > 0; });
  }

  int follow(int link) {
    if (++links_ > most_links) return ELOOP;
    std::array<char, PATH_MAX> target{};
    const auto size = ::readlinkat(link, "", target.data(), target.size());
    if (size < 0) return errno;
    const std::string_view text{target.data(), static_cast<std::size_t>(size)};
    if (text.starts_with('/')) return EXDEV;
    rests_.push_back(parts_.size());
    auto more = reversed_parts(text);
    parts_.insert(parts_.end(), more.begin(), more.end());
    return 0;
  }

  int root_;
  int links_ = 0;
  std::vector<std::string> parts_;  ///< still to go, the next one last
  std::vector<step> steps_;         ///< from the root to here
  std::vector<std::size_t> rests_;  ///< of the links that we are in: what was
                                    ///< to go behind them
};

bool is_utf8(std::string_view text) {
  std::string same;
  utf8_stream utf8;
  utf8.feed(text, same);
  utf8.finish(same);
  return same == text;
}

}  // namespace

std::vector<std::string> reversed_parts(std::string_view path) {
  std::vector<std::string> result;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    if (end > 0) result.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  std::reverse(result.begin(), result.end());
  return result;
}

tl::expected<std::string, int> place_beneath(int root,
                                             const std::string& relative) {
  return finder{root}.run(relative);
}

rule_subject path_subject(const std::filesystem::path& workspace,
                          std::string_view path) {
  rule_subject unknown{.text = {}, .known = false, .place = true};
  const auto relative = relative_path(workspace, path);
  if (!relative) return unknown;
  const unique_fd root{
      ::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return unknown;
  auto place = place_beneath(root.get(), *relative);
  if (!place || !is_utf8(*place)) return unknown;
  return {.text = std::move(*place), .place = true};
}

}  // namespace riffle::tools
