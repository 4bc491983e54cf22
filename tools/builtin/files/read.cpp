// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/json_members.hpp"
#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/files.hpp"
#include "tools/builtin/files/line_window.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_tool.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/builtin/files/shown_file.hpp"
#include "tools/builtin/files/workspace_file.hpp"
#include "tools/text.hpp"

namespace riffle::embedded {
extern const std::string_view read_md;
}

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr const char* parameters = R"({
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1,
             "description": "The file, relative to the workspace"},
    "offset": {"type": "integer", "minimum": 1, "maximum": 1000000000000,
               "description": "The first line to read, from 1"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000000000000,
              "description": "How many lines to read"}
  },
  "required": ["path"],
  "additionalProperties": false
})";

constexpr std::string_view read_op = "read";
constexpr std::size_t chunk_size = 256u << 10;
constexpr std::size_t least_chunk = 8u << 10;
constexpr std::uint64_t progress_step = 1u << 20;
constexpr std::size_t longest_line = 16u << 10;
constexpr std::size_t room_for_notes = 256;

line_window::limits limits_of(const json& arguments,
                              const tool_context& context) {
  const auto cap = context.output_cap;
  line_window::limits result;
  result.offset = arguments.value("offset", std::uint64_t{1});
  if (arguments.contains("limit"))
    result.lines = arguments.at("limit").get<std::uint64_t>();
  result.bytes = cap > 2 * room_for_notes ? cap - room_for_notes : cap / 2;
  result.line_bytes = std::min(longest_line, result.bytes / 2);
  return result;
}

/// Goes through a file once, with progress and without its holes.
class scanner {
 public:
  scanner(const open_file& file, line_window& window, tool_context& context)
      : file_{file}, window_{window}, context_{context} {}

  /// `head`: what it begins with. 0 or an errno; ECANCELED: stopped.
  int run(std::string_view head) {
    if (context_.stop.stop_requested()) return ECANCELED;
    if (!head.empty() && head.size() == file_.size && !file_.sparse) {
      window_.feed(head);  // that is all of it
      window_.finish();
      return 0;
    }
    // What the system makes up as it is read (/proc) says that it has no size.
    const auto room =
        std::clamp<std::uint64_t>(file_.size + 1, least_chunk, chunk_size);
    const auto buffer = std::make_unique_for_overwrite<char[]>(room);
    for (;;) {
      if (context_.stop.stop_requested()) return ECANCELED;
      if (!window_.feed_zeros(skip_hole())) break;
      const auto count = ::read(file_.fd.get(), buffer.get(), room);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      if (count == 0) break;
      const auto size = static_cast<std::size_t>(count);
      done_ += size;
      if (done_ - reported_ >= progress_step) report();
      if (!window_.feed({buffer.get(), size})) break;
      // Nothing is left of a file that says its size, so it is not asked.
      if (size < room && done_ == file_.size) break;
    }
    if (reported_ > 0 && done_ != reported_) report();
    window_.finish();
    return 0;
  }

 private:
  /// Moves to the next data; the number of bytes skipped.
  std::uint64_t skip_hole() {
    if (!file_.sparse || done_ >= file_.size) return 0;
    const auto here = static_cast<off_t>(done_);
    auto data = ::lseek(file_.fd.get(), here, SEEK_DATA);
    if (data < 0 && errno == ENXIO)  // a hole up to the end
      data = ::lseek(file_.fd.get(), static_cast<off_t>(file_.size), SEEK_SET);
    if (data <= here) return 0;  // not a hole, or the system cannot tell
    done_ = static_cast<std::uint64_t>(data);
    return done_ - static_cast<std::uint64_t>(here);
  }

  void report() {
    reported_ = done_;
    if (!context_.progress || file_.size <= progress_step) return;
    context_.progress({.progress = static_cast<double>(done_),
                       .total = static_cast<double>(file_.size)});
  }

  const open_file& file_;
  line_window& window_;
  tool_context& context_;
  std::uint64_t done_ = 0;
  std::uint64_t reported_ = 0;
};

/// Members in the order of their names, as everywhere.
std::string metadata_of(const open_file& file, const line_window& window) {
  std::string out = "{";
  json_members members{out};
  members.number("bytes", window.text().size());
  members.number("lines", window.taken());
  if (window.next()) members.number("next_offset", *window.next());
  members.text("path", file.name);
  if (window.next()) {
    members.number("total_bytes", file.size);
    members.flag("truncated", true);
  }
  return out += '}';
}

tool_output result_of(const open_file& file, const line_window& window,
                      std::uint64_t offset) {
  if (window.taken() == 0 && offset > 1)
    return file_failure(read_op, errc::invalid_arguments,
                        "the offset " + std::to_string(offset) +
                            " is beyond the end: " + file.name + " has " +
                            std::to_string(window.seen()) + " lines");
  tool_output result{.text = window.text()};
  std::string notes;
  if (window.taken() == 0) notes = "[the file is empty]";
  if (window.next())
    notes = "[the file goes on; next: offset " +
            std::to_string(*window.next()) + "]";
  if (window.replaced())
    notes += "[some bytes were not UTF-8; they are shown as U+FFFD]";
  result.metadata = metadata_of(file, window);
  if (!notes.empty() && !result.text.empty() && result.text.back() != '\n')
    result.text += '\n';
  result.text += notes;
  return result;
}

class read final : public path_tool {
 public:
  explicit read(read_rules rules)
      : path_tool{"Reading ",
                  {.name = "read",
                   .description = std::string{embedded::read_md},
                   .parameters = parameters,
                   .eff = effect::read_only,
                   .idempotent = true,
                   .guarded = false}},
        rules_{std::move(rules)} {}

  tool_output run(const json& arguments, tool_context& context) override {
    auto file =
        open_regular(read_op, context.workspace, text_at(arguments, "path"),
                     context.judged, rules_.others());
    if (!file) return std::move(file).error();
    const file_head head{file->fd.get()};
    if (auto result = show_file(read_op, *file, head.text(), context))
      return *std::move(result);
    if (head.looks_binary())
      return file_failure(read_op, errc::tool_execution_error,
                          file->name + " is a binary file of " +
                              size_text(file->size) +
                              ", which has no lines to read; a program may "
                              "show what is in it, e.g. `file` or `xxd`");
    const auto limits = limits_of(arguments, context);
    line_window window{limits};
    const auto number = scanner{*file, window, context}.run(head.text());
    if (number == ECANCELED)
      return file_failure(read_op, errc::cancelled, "cancelled");
    if (number != 0) return cannot_read(read_op, file->name, number);
    return result_of(*file, window, limits.offset);
  }

 private:
  const read_rules rules_;
};

}  // namespace

tool_ptr make_read(read_rules rules) {
  return std::make_shared<read>(std::move(rules));
}

}  // namespace riffle::tools
