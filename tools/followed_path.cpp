// SPDX-License-Identifier: MIT
#include "tools/followed_path.hpp"

#include <string>
#include <system_error>
#include <vector>

namespace riffle::tools {

namespace {

namespace fs = std::filesystem;
using how = followed_path::how;

bool is_stream(const std::string& path) {
  constexpr std::string_view numbered = "/dev/fd/";
  if (path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr")
    return true;
  return path.size() > numbered.size() && path.starts_with(numbered) &&
         path.find_first_not_of("0123456789", numbered.size()) == path.npos;
}

/// The next step is the last one.
void put_steps(std::vector<std::string>& steps, const fs::path& path) {
  std::vector<std::string> all;
  for (const auto& x : path.relative_path())
    if (!x.empty() && x != ".") all.push_back(x.string());
  steps.insert(steps.end(), all.rbegin(), all.rend());
}

class walk {
 public:
  walk(const fs::path& from, const fs::path& path) {
    out_.real = path.is_absolute() ? fs::path{"/"} : from;
    put_steps(steps_, path);
  }

  followed_path to_end() && {
    while (!steps_.empty() && out_.ends != how::nowhere &&
           out_.ends != how::unknown) {
      const auto name = std::move(steps_.back());
      steps_.pop_back();
      if (name == "..")
        up();
      else
        down(name);
    }
    return std::move(out_);
  }

 private:
  void up() {
    out_.real = out_.real.parent_path();
    if (missing_ > 0 && --missing_ == 0) out_.ends = how::there;
  }

  void down(const std::string& name) {
    constexpr std::size_t longest_name = 255;
    out_.real /= name;
    if (missing_ > 0 || name.size() > longest_name) return miss();
    ++out_.looks;
    std::error_code failed;
    const auto type = fs::symlink_status(out_.real, failed).type();
    if (out_.real.parent_path() == "/proc" &&
        (type != fs::file_type::regular || !steps_.empty()))
      out_.ends = how::unknown;
    else if (type == fs::file_type::not_found)
      miss();
    else if (type == fs::file_type::none)
      out_.ends = how::unknown;
    else if (type == fs::file_type::symlink)
      go_on();
  }

  void miss() {
    ++missing_;
    out_.ends = how::missing;
  }

  /// Where the link says.
  void go_on() {
    constexpr int most_links = 40;
    std::error_code failed;
    const auto to = fs::read_symlink(out_.real, failed);
    if (failed) {
      out_.ends = how::unknown;
      return;
    }
    if (++links_ > most_links) {
      out_.ends = how::nowhere;
      return;
    }
    out_.real = to.is_absolute() ? fs::path{"/"} : out_.real.parent_path();
    put_steps(steps_, to);
  }

  followed_path out_;
  std::vector<std::string> steps_;
  std::size_t missing_ = 0;  ///< so many steps beneath what is there
  int links_ = 0;
};

}  // namespace

followed_path follow_path(const fs::path& from, const fs::path& path) {
  auto normal = path.lexically_normal();
  if (is_stream(normal.string())) return {std::move(normal), how::there, 0};
  return walk{from, path}.to_end();
}

}  // namespace riffle::tools
