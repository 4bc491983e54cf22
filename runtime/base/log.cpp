// SPDX-License-Identifier: MIT
#include "runtime/base/log.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "messages/enum_text.hpp"
#include "messages/error.hpp"
#include "messages/event_line.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/secrets.hpp"

namespace riffle {

namespace {

constexpr text_table<6> levels = {
    "trace", "debug", "info", "warn", "error", "off",
};
static_assert(covers(levels, log_level::off));

constexpr text_table<2> formats = {"text", "json"};
static_assert(covers(formats, log_format::json));

std::atomic<log_level> lowest{log_level::warn};
std::atomic<log_format> form{log_format::text};

// Not in spdlog's registry: that one is shared with whoever links the library.
spdlog::logger& sink() {
  static auto* const logger = [] {  // threads may outlive statics
    auto* result = new spdlog::logger(
        "riffle", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    result->set_level(spdlog::level::trace);
    result->set_pattern("%v");
    result->flush_on(spdlog::level::trace);
    return result;
  }();
  return *logger;
}

/// Marks that reorder what a person reads (Unicode TR 9), and ends of lines.
bool turns_text(std::uint32_t code) {
  return (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x200E ||
         code == 0x200F || code == 0x061C;
}

void append_number(std::string& out, std::uint32_t code) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += "\\u{";
  for (int shift = 12; shift >= 0; shift -= 4) out += hex[code >> shift & 15];
  out += '}';
}

/// Nothing that a terminal obeys, also none of the controls beyond ASCII.
void append_plain(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto c = first_character(text);
    if (!c.valid)
      out += replacement_character;
    else if (c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0))
      out.push_back(' ');
    else if (turns_text(c.code))
      append_number(out, c.code);
    else
      out += text.substr(0, c.size);
    text.remove_prefix(c.size);
  }
}

void append_member(std::string& out, std::string_view key,
                   std::string_view value) {
  out.append(out.empty() ? "{\"" : ",\"").append(key).append("\":\"");
  append_json_escaped(out, value);
  out.push_back('"');
}

/// Where lines go instead of standard error.
struct other_place {
  std::mutex mutex;
  log_sink to;
};

other_place& elsewhere() {
  static auto* const place = new other_place;  // threads may outlive statics
  return *place;
}

/// Whether this thread is in the sink of somebody else.
thread_local bool in_sink = false;

/// False: there is nobody else, or this line comes out of that sink itself,
/// which would wait for its own lock, and could go on for ever.
bool tell_elsewhere(const log_line& line) {
  if (in_sink) return false;
  auto& place = elsewhere();
  const std::lock_guard lock{place.mutex};
  if (!place.to) return false;
  in_sink = true;
  try {
    place.to(line);
  } catch (...) {  // a log that fails stops nothing
  }
  in_sink = false;
  return true;
}

void write_line(log_level level, std::string_view op, std::string_view message,
                std::span<const log_field> fields = {}) {
  if (!log_enabled(level)) return;
  const auto shown = redact(std::string{message});
  std::vector<std::string> values;
  values.reserve(fields.size());
  std::vector<log_field> safe;
  for (const auto& x : fields)
    safe.push_back({x.key, values.emplace_back(redact(std::string{x.value}))});
  const log_line line{system_wall_time(), level, op, shown, safe};
  if (tell_elsewhere(line)) return;
  sink().log(spdlog::level::info, spdlog::string_view_t{render(line)});
}

}  // namespace

std::string_view to_string(log_level x) noexcept { return text_of(levels, x); }

std::optional<log_level> parse_log_level(std::string_view text) noexcept {
  return enum_of<log_level>(levels, text);
}

std::optional<log_format> parse_log_format(std::string_view text) noexcept {
  return enum_of<log_format>(formats, text);
}

void init_log(std::string_view level, std::string_view format) {
  lowest = parse_log_level(level).value_or(log_level::info);
  form = parse_log_format(format).value_or(log_format::text);
}

bool log_enabled(log_level level) noexcept {
  return level >= lowest.load(std::memory_order_relaxed);
}

void set_log_sink(log_sink sink) {
  auto& place = elsewhere();
  const std::lock_guard lock{place.mutex};
  place.to = std::move(sink);
}

std::string render_chain(const error& x) {
  auto result = render(x);
  if (!x.cause.empty()) result.append(", because: ").append(x.cause);
  return result;
}

std::string render(const log_line& x) {
  return render_log_line(form.load(std::memory_order_relaxed), x.at, x.level,
                         x.op, x.message, x.fields);
}

void log_debug(std::string_view op, std::string_view message) {
  write_line(log_level::debug, op, message);
}

void log_info(std::string_view op, std::string_view message) {
  write_line(log_level::info, op, message);
}

void log_warn(std::string_view op, std::string_view message) {
  write_line(log_level::warn, op, message);
}

void log_error(std::string_view op, std::string_view message) {
  write_line(log_level::error, op, message);
}

void log_about(log_level level, std::string_view op, std::string_view message,
               std::initializer_list<log_field> fields) {
  write_line(level, op, message, {fields.begin(), fields.size()});
}

std::string render_log_line(log_format format, wall_time now, log_level level,
                            std::string_view op, std::string_view message,
                            std::span<const log_field> fields) {
  std::string line;
  if (format == log_format::json) {
    append_member(line, "timestamp", to_string(now));
    append_member(line, "level", to_string(level));
    append_member(line, "op", op);
    append_member(line, "message", message);
    for (const auto& x : fields)
      if (!x.value.empty()) append_member(line, x.key, x.value);
    line.push_back('}');
    return line;
  }
  line.append(to_string(now)).append(" ").append(to_string(level));
  line.push_back(' ');
  append_plain(line, op);
  line.append(": ");
  append_plain(line, message);
  return line;
}

}  // namespace riffle
