// SPDX-License-Identifier: MIT
#include "tools/process/process_tree.hpp"

#include <cctype>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "runtime/base/folders.hpp"
#include "runtime/base/proc_stat.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::tools {

namespace {

/// The whole of a small file of /proc; false if it cannot be read.
bool read_file(const std::string& path, std::string& out) {
  out.clear();
  const unique_fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return false;
  char buffer[4096];
  for (;;) {
    const auto count = ::read(fd.get(), buffer, sizeof(buffer));
    if (count <= 0) return count == 0;
    out.append(buffer, static_cast<std::size_t>(count));
  }
}

/// The numbers among the names in a folder.
template <class F>
void for_each_number(const std::string& folder, F f) {
  const unique_dir dir{::opendir(folder.c_str())};
  if (!dir) return;
  while (const auto* entry = ::readdir(dir.get()))
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])))
      f(static_cast<pid_t>(std::atoi(entry->d_name)));
}

/// From /proc/<pid>/task/<tid>/children; false where the kernel lacks it.
bool add_children(pid_t pid, std::vector<pid_t>& out) {
  const auto tasks = "/proc/" + std::to_string(pid) + "/task/";
  bool known = false;
  std::string text;
  for_each_number(tasks, [&](pid_t tid) {
    if (!read_file(tasks + std::to_string(tid) + "/children", text)) return;
    known = true;
    const char* at = text.c_str();
    char* end = nullptr;
    for (auto x = std::strtol(at, &end, 10); end != at;
         x = std::strtol(at, &end, 10)) {
      out.push_back(static_cast<pid_t>(x));
      at = end;
    }
  });
  return known;
}

/// 0: unknown, or none.
pid_t parent_of(pid_t pid) {
  return static_cast<pid_t>(proc_stat{pid}.number(4));
}

/// For kernels without CONFIG_PROC_CHILDREN: the parent in each stat file.
std::vector<pid_t> descendants_by_parent(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for_each_number("/proc", [&](pid_t pid) {
    if (const auto parent = parent_of(pid); parent != 0)
      children.emplace(parent, pid);
  });
  std::vector<pid_t> result;
  const auto add = [&](pid_t parent) {
    const auto [begin, end] = children.equal_range(parent);
    for (auto it = begin; it != end; ++it) result.push_back(it->second);
  };
  add(root);
  for (std::size_t i = 0; i < result.size(); ++i) add(result[i]);
  return result;
}

// A process with a pending SIGSTOP cannot complete a fork (the kernel
// restarts the call after the signal), so a round that finds nobody new has
// found all. The rounds are bounded for the caller must reap, too.
template <class F>
void freeze_and_kill(F find) {
  std::set<pid_t> frozen;
  for (int round = 0; round < 64; ++round) {
    const auto before = frozen.size();
    for (const auto pid : find())
      if (frozen.insert(pid).second) ::kill(pid, SIGSTOP);
    if (frozen.size() == before) break;
  }
  for (const auto pid : frozen) ::kill(pid, SIGKILL);
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  std::vector<pid_t> result;
  if (!add_children(root, result)) return descendants_by_parent(root);
  for (std::size_t i = 0; i < result.size(); ++i)
    add_children(result[i], result);
  return result;
}

std::vector<pid_t> descendants() { return descendants_of(::getpid()); }

std::vector<pid_t> children() {
  std::vector<pid_t> result;
  if (add_children(::getpid(), result)) return result;
  for (const auto pid : descendants_by_parent(::getpid()))
    if (parent_of(pid) == ::getpid()) result.push_back(pid);
  return result;
}

void signal_new_descendants(std::set<pid_t>& known,
                            std::initializer_list<int> signals) {
  for (const auto pid : descendants())
    if (known.insert(pid).second)
      for (const auto signal : signals) ::kill(pid, signal);
}

void kill_descendants() { kill_descendants_of(::getpid()); }

void kill_descendants_of(pid_t root) {
  freeze_and_kill([root] { return descendants_of(root); });
}

void kill_trees(const std::vector<pid_t>& roots) {
  freeze_and_kill([&roots] {
    auto all = roots;
    for (const auto root : roots)
      for (const auto pid : descendants_of(root)) all.push_back(pid);
    return all;
  });
}

unsigned long long start_time(pid_t pid) { return proc_stat{pid}.number(22); }

}  // namespace riffle::tools
