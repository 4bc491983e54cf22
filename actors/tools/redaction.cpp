// SPDX-License-Identifier: MIT
#include "actors/tools/redaction.hpp"

#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"

namespace riffle {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
/// A longer line is cut, where a secret might be cut too.
constexpr std::size_t longest_line = 16 * piece_bytes;

/// No form of a secret is longer.
constexpr std::size_t longest_secret = std::size_t{64} << 10;

/// Where a text without line ends may be cut, so that no secret is cut that
/// ends in what is there; npos: nowhere yet.
std::size_t cut_within_line(std::string_view text) {
  if (text.size() < 4 * longest_secret) return std::string_view::npos;
  const auto cut = text.size() - 2 * longest_secret;
  const auto around = text.substr(cut - longest_secret, 2 * longest_secret);
  return redact(std::string{around}) == around ? cut : std::string_view::npos;
}

/// Calls `f` with the file in pieces that end with a line, until it says no.
void for_each_piece(std::ifstream& in,
                    const std::function<bool(std::string_view)>& f) {
  std::string text;
  for (bool more = true; more;) {
    const auto kept = text.size();
    text.resize(kept + piece_bytes);
    in.read(text.data() + kept, static_cast<std::streamsize>(piece_bytes));
    text.resize(kept + static_cast<std::size_t>(in.gcount()));
    more = !in.eof() && in.gcount() > 0;
    // What was kept has none.
    const auto end = std::string_view{text}.substr(kept).rfind('\n');
    auto cut = text.size();
    if (more && end != std::string::npos)
      cut = kept + end + 1;
    else if (more && text.size() < longest_line)
      cut = cut_within_line(text);
    if (cut == std::string::npos) continue;
    if (!f(std::string_view{text}.substr(0, cut))) return;
    text.erase(0, cut);
  }
}

bool holds_a_secret(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  bool found = false;
  for_each_piece(in, [&](std::string_view piece) {
    found = redact(std::string{piece}) != piece;
    return !found;
  });
  return found;
}

}  // namespace

void redact(call_result& x) {
  x.output = redact(std::move(x.output));
  if (!x.metadata.empty()) x.metadata = redact(std::move(x.metadata));
  if (x.err) x.err = redact(std::move(*x.err));
}

void redact(tool_progress_report& x) {
  x.message = redact(std::move(x.message));
}

void redact_file(const std::filesystem::path& file) {
  std::error_code failed;
  if (file.empty() || !std::filesystem::exists(file, failed)) return;
  if (!holds_a_secret(file)) return;
  auto fresh = file;
  fresh += ".clean";
  {
    std::ifstream in{file, std::ios::binary};
    std::ofstream out{fresh, std::ios::binary};
    ::chmod(fresh.c_str(), S_IRUSR | S_IWUSR);
    for_each_piece(in, [&](std::string_view piece) {
      return static_cast<bool>(out << redact(std::string{piece}));
    });
    if (!out.flush()) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) std::filesystem::rename(fresh, file, failed);
  if (!failed) return;
  std::error_code ignored;
  std::filesystem::remove(fresh, ignored);
  std::filesystem::remove(file, ignored);
  log_error("tool_worker", "an output that held a secret could not be kept: " +
                               failed.message());
}

}  // namespace riffle
