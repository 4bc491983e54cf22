// SPDX-License-Identifier: MIT
#include "runtime/cli/view/output_text.hpp"

#include <fstream>
#include <functional>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "messages/utf8.hpp"
#include "runtime/cli/terminal/program_output.hpp"
#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t piece_bytes = 256u << 10;

/// Calls `f` with pieces that end where a character ends ("\r\n" counts as
/// one). False if the file cannot be read to its end, or `f` wants no more.
bool for_each_piece(const whole_output& x,
                    const std::function<bool(std::string_view)>& f) {
  std::error_code ignored;
  if (x.file.empty() || !std::filesystem::exists(x.file, ignored)) {
    return f(x.text);
  }
  std::ifstream in{x.file, std::ios::binary};
  std::string piece;
  while (in) {
    const auto kept = piece.size();
    piece.resize(kept + piece_bytes);
    in.read(piece.data() + kept, piece_bytes);
    piece.resize(kept + static_cast<std::size_t>(in.gcount()));
    auto rest = in ? begun_character(piece) : 0;
    if (in && piece.ends_with('\r')) rest = 1;
    const auto whole = piece.size() - rest;
    if (!f(std::string_view{piece}.substr(0, whole))) return false;
    piece.erase(0, whole);
  }
  return in.eof();
}

}  // namespace

namespace {

constexpr std::string_view left_out = "… what comes before is left out\n";

std::string end_within(const whole_output& x, std::size_t most) {
  std::string out;
  for_each_piece(x, [&](std::string_view piece) {
    out.append(piece);
    auto cut = out.size() > most ? out.size() - most : 0;
    while (cut > 0 && cut < out.size() && continues_character(out[cut])) ++cut;
    out.erase(0, cut);
    return true;
  });
  return out;
}

}  // namespace

std::string end_of(const whole_output& x) { return end_within(x, longest_end); }

std::string output_lines(const whole_output& x, std::size_t most) {
  const auto all = end_within(x, most + 1);
  const bool cut = all.size() > most;
  const auto begin = cut ? all.find('\n') + 1 : 0;
  auto out = safe_text(settled_lines(std::string_view{all}.substr(begin)));
  if (out.empty()) return "(no output)\n";
  if (!out.ends_with('\n')) out += '\n';
  return cut ? std::string{left_out} + out : out;
}

std::string newest_lines(std::string lines, std::size_t most) {
  auto at = lines.size();
  for (std::size_t n = 0; n <= most && at > 0; ++n) {
    const auto end = lines.rfind('\n', at - 1);
    if (end == std::string::npos) return lines;
    if (n == most) return std::string{left_out} + lines.substr(end + 1);
    at = end;
  }
  return lines;
}

bool write_text(const whole_output& x, fd_writer& out) {
  const bool terminal = out.is_terminal();
  char last = '\n';
  const bool read = for_each_piece(x, [&](std::string_view piece) {
    if (!piece.empty()) last = piece.back();
    return terminal ? out.write(safe_text(piece)) : out.write(piece);
  });
  if (terminal && last != '\n') out.write("\n");
  return read && out.good();
}

bool write_json(const whole_output& x, std::string head, fd_writer& out) {
  head.pop_back();
  head += head == "{" ? R"("output":")" : R"(,"output":")";
  out.write(head);
  const bool read = for_each_piece(x, [&](std::string_view piece) {
    std::string text;
    append_json_escaped(text, piece);
    return out.write(text);
  });
  return out.write("\"}\n") && read;
}

std::string json_head(const events::tool_result& x) {
  nlohmann::ordered_json out = {{"id", x.id.value},
                                {"tool", x.tool},
                                {"outcome", to_string(x.how)},
                                {"success", x.how == outcome::ok},
                                {"duration_ms", x.duration_ms}};
  if (x.err) {
    out["error"] = {{"code", to_string(x.err->code)},
                    {"message", x.err->message}};
  }
  auto metadata = nlohmann::ordered_json::parse(x.metadata, nullptr, false);
  if (metadata.is_object()) out["metadata"] = std::move(metadata);
  return out.dump(-1, ' ', false,
                  nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace riffle::cli
