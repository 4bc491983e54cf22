// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "messages/utf8.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/commands/file_part.hpp"
#include "runtime/cli/view/chat_line.hpp"

extern char** environ;

namespace riffle::cli {

namespace {

bool is_text(std::string_view x) { return x.find('\0') == std::string::npos; }

/// The last may have no end.
std::size_t lines_in(std::string_view x) {
  const auto ends = static_cast<std::size_t>(std::ranges::count(x, '\n'));
  return ends + (x.empty() || x.ends_with('\n') ? 0 : 1);
}

std::size_t not_utf8(std::string_view x) {
  std::size_t out = 0;
  while (!x.empty()) {
    const auto c = first_character(x);
    if (!c.valid) ++out;
    x.remove_prefix(c.size);
  }
  return out;
}

/// What a person does not see in its name.
std::string about_text(const file_part& part, std::string_view text) {
  auto out = part.first == 0 ? counted(lines_in(text), "line") : std::string{};
  if (const auto n = not_utf8(text); n > 0)
    out += (out.empty() ? "" : "; ") + counted(n, "place") +
           (n == 1 ? " is" : " are") +
           " not UTF-8, the model gets U+FFFD there";
  return out.empty() ? out : " (" + out + ")";
}

error too_large(const std::string& name, const char* limit) {
  return {errc::invalid_request, "chat",
          name + " is larger than " + limit +
              ": attach some lines of it (@FILE:10-20), or name it without '@' "
              "and let the model read parts of it"};
}

}  // namespace

expected<std::string> attach_mentioned(run_request& x,
                                       std::span<const std::string> but) {
  constexpr std::size_t most_each = 256u << 10;
  constexpr std::size_t most_all = 1u << 20;
  std::string names;
  std::size_t used = 0;
  for (const auto& word : mentioned_files(x.task)) {
    if (std::ranges::find(but, word) != but.end()) continue;
    auto part = find_part(word).part;
    if (!part) continue;
    const auto& name = part->name;
    auto text = text_of(*part, most_each);
    if (!text) return unexpected{std::move(text.error())};
    names += (names.empty() ? "" : ", ") + shown(*part);
    const bool is_media = !media_type_of(*text).empty();
    if (!is_media && is_text(*text)) names += about_text(*part, *text);
    if (is_media) {
      x.attachments.push_back({name});
      continue;
    }
    if (text->size() > most_each) return unexpected{too_large(name, "256 KiB")};
    used += text->size();
    if (used > most_all)
      return unexpected{too_large("what is attached", "1 MiB together")};
    if (!is_text(*text))
      return unexpected{error{errc::invalid_request, "chat",
                              name + " is neither a text, nor a picture, nor "
                                     "a PDF"}};
    x.context += (x.context.empty() ? "" : "\n\n") + std::string{"File "} +
                 (part->first == 0 ? name : shown(*part)) + ":\n" + *text;
  }
  return names;
}

std::vector<std::string> not_attached(const std::string& task) {
  std::vector<std::string> out;
  // In a text of several lines it may be code.
  const bool one_line = task.find('\n') == task.npos;
  for (const auto& word : mentioned_files(task)) {
    auto found = find_part(word);
    if (!found.problem.empty() && (one_line || !found.is_word))
      out.push_back(std::move(found.problem));
  }
  return out;
}

namespace {

/// Reads all that comes, shows it, and keeps both ends of what is long.
void follow(int fd, const std::function<void(std::string_view)>& show,
            shell_result& to) {
  constexpr std::size_t half = longest_kept / 2;
  std::string head;
  std::string tail;
  std::size_t left_out = 0;
  std::array<char, 16384> piece{};
  for (;;) {
    const auto n = ::read(fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const std::string_view x{piece.data(), static_cast<std::size_t>(n)};
    show(x);
    to.wrote += x.size();
    const auto first = std::min(x.size(), half - head.size());
    head += x.substr(0, first);
    tail += x.substr(first);
    if (tail.size() > 2 * half) {
      left_out += tail.size() - half;
      tail.erase(0, tail.size() - half);
    }
  }
  if (tail.size() > half) {
    left_out += tail.size() - half;
    tail.erase(0, tail.size() - half);
  }
  if (left_out > 0)
    head += "\n… " + std::to_string(left_out) + " bytes left out …\n";
  to.output = head + tail;
}

int status_of_process(pid_t pid) {
  constexpr int by_signal = 128;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status);
}

}  // namespace

expected<shell_result> run_shell(
    const std::string& command,
    const std::function<void(std::string_view)>& show) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return unexpected{error{errc::internal, "chat", "no pipe can be made"}};
  const unique_fd read_end{ends[0]};
  unique_fd write_end{ends[1]};
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  // Who would read from the keyboard would wait for what nobody knows of.
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (const int fd : {1, 2})
    ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), fd);
  std::array<std::string, 3> words = {"sh", "-c", command};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(),
                                 words[2].data(), nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr,
                                   arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  write_end = unique_fd{};
  if (failed != 0)
    return unexpected{error{errc::internal, "chat",
                            "the command cannot be started: " +
                                std::generic_category().message(failed)}};
  shell_result out;
  follow(read_end.get(), show, out);
  out.status = status_of_process(pid);
  return out;
}

}  // namespace riffle::cli
