// SPDX-License-Identifier: MIT
// Calls of a run: cancelled, and what they put out.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/http/run_routes.hpp"

namespace riffle::http {

namespace {

/// A call that belongs to the run of the path.
struct known_call {
  run_id run;
  call_id id;
  bool ended = false;
};

expected<known_call> named_call(const call& c) {
  const auto run = visible_run(c, run_id{c.names.at(0)});
  if (!run) return unexpected{run.error()};
  const call_id id{c.names.at(1)};
  const bool over = run->state != storage::run_state::active;
  if (const auto all = c.at->calls().of(run->id); all && all->contains(id))
    return known_call{run->id, id, true};
  const auto session = c.at->parts().sessions.show(run->session);
  if (!session) return unexpected{session.error()};
  std::optional<known_call> found;
  ended_calls::set all;
  for (const auto& one : session->calls) {
    if (one.run != run->id) continue;
    const bool settled = one.stage == storage::call_stage::settled;
    if (settled) all.insert(one.call.id);
    if (one.call.id == id) found = {run->id, id, settled};
  }
  if (over) c.at->calls().keep(run->id, std::move(all));
  if (found) return *found;
  return unexpected{error{errc::not_found, "server",
                          "the run has no call \"" + c.names.at(1) + "\""}};
}

struct byte_range {
  std::uint64_t from = 0;
  std::uint64_t size = 0;
};

/// RFC 9110, 14.2, of one range; others are left out, as it allows. Nothing:
/// not satisfiable.
std::optional<byte_range> range_of(std::string_view header,
                                   std::uint64_t size) {
  const byte_range all{0, size};
  constexpr std::string_view unit = "bytes=";
  if (lower(header.substr(0, unit.size())) != unit) return all;
  header.remove_prefix(unit.size());
  const auto dash = header.find('-');
  if (dash == std::string_view::npos) return all;
  const auto begin = header.substr(0, dash);
  const auto stop = header.substr(dash + 1);
  const auto first = parse_seq(begin);
  const auto last = parse_seq(stop);
  // What is ill-formed counts as if it were not there.
  if ((!first && !begin.empty()) || (!last && !stop.empty())) return all;
  if (!first && !last) return all;
  if (!first)
    return *last == 0 ? std::nullopt
                      : std::optional{byte_range{size - std::min(*last, size),
                                                 std::min(*last, size)}};
  if (*first >= size) return {};
  const auto end = last ? std::min(*last, size - 1) : size - 1;
  if (end < *first) return all;
  return byte_range{*first, end - *first + 1};
}

}  // namespace

void cancel_call(call c) {
  work(std::move(c), [](call& x) -> reply {
    const auto one = named_call(x);
    if (!one) return problem(one.error());
    if (!one->ended)
      x.at->parts().runs.cancel_call(one->run, one->id,
                                     "over HTTP by " + x.who->name);
    return json_reply(
        one->ended ? 200 : 202,
        {{"id", one->id.value}, {"cancel", one->ended ? "finished" : "asked"}});
  });
}

void call_output(call c) {
  work(std::move(c), [](call& x) -> reply {
    const auto one = named_call(x);
    if (!one) return problem(one.error());
    auto kept = x.at->parts().sessions.output(one->id);
    if (!kept) return problem(kept.error());
    // Where a tool may write, it may have put anything in its place.
    std::error_code failed;
    const auto size = kept->file.empty()
                          ? kept->text.size()
                          : std::filesystem::file_size(kept->file, failed);
    if (!kept->file.empty() &&
        (failed || !std::filesystem::is_regular_file(
                       std::filesystem::symlink_status(kept->file, failed))))
      return problem(500, "storage_unavailable",
                     "the file of this output is no file any more");
    const auto range = range_of(x.in.header("range"), size);
    if (!range)
      return std::move(
          problem(416, "invalid_request", "the output is shorter")
              .with("Content-Range", "bytes */" + std::to_string(size)));
    reply out;
    out.type = "text/plain; charset=utf-8";
    out.with("Accept-Ranges", "bytes");
    if (range->size != size) {
      out.status = 206;
      out.with("Content-Range",
               "bytes " + std::to_string(range->from) + "-" +
                   std::to_string(range->from + range->size - 1) + "/" +
                   std::to_string(size));
    }
    if (kept->file.empty()) {
      out.body = kept->text.substr(range->from, range->size);
    } else {
      out.length = range->size;
      out.source = std::make_shared<file_source>(
          x.at->hub()->parts(), kept->file.string(), range->from, range->size);
    }
    return out;
  });
}

}  // namespace riffle::http
