// SPDX-License-Identifier: MIT
#include "runtime/base/log.hpp"

#include <memory>
#include <mutex>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "messages/event_line.hpp"

namespace riffle {

namespace {

std::shared_ptr<spdlog::logger> make_logger() {
  auto made = std::make_shared<spdlog::logger>(
    "riffle", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  made->set_level(spdlog::level::warn);
  made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                    spdlog::pattern_time_type::utc);
  return made;
}

spdlog::logger& logger() {
  static const auto one = make_logger();
  return *one;
}

bool as_json = false;

void write(spdlog::level::level_enum level, std::string_view op,
           std::string_view message) {
  if (!logger().should_log(level)) return;
  std::string line;
  if (as_json) {
    line += R"("op":")";
    append_json_escaped(line, op);
    line += R"(","message":")";
    append_json_escaped(line, message);
    line += R"("})";
  } else {
    line.append(op).append(": ").append(message);
  }
  logger().log(level, spdlog::string_view_t{line.data(), line.size()});
}

}  // namespace

void init_log(const std::string& level, const std::string& format) {
  auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off")
    parsed = spdlog::level::info;
  logger().set_level(parsed);
  as_json = format == "json";
  logger().set_pattern(
    as_json ? R"({"timestamp":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v)"
            : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
    spdlog::pattern_time_type::utc);
}

void log_debug(std::string_view op, std::string_view message) {
  write(spdlog::level::debug, op, message);
}

void log_info(std::string_view op, std::string_view message) {
  write(spdlog::level::info, op, message);
}

void log_warn(std::string_view op, std::string_view message) {
  write(spdlog::level::warn, op, message);
}

void log_error(std::string_view op, std::string_view message) {
  write(spdlog::level::err, op, message);
}

}  // namespace riffle
