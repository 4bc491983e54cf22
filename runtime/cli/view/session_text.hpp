// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/service/requests.hpp"

namespace riffle::cli {

/// Those in which a call waits for a person's answer.
using asking_sessions = std::unordered_set<session_id>;

/// How a volley stands as a whole, of which a list may show a part: its tasks,
/// and how many of them have gone well, went otherwise or have a run that is
/// not over; the others have not begun.
struct volley_standing {
  std::size_t tasks = 0;
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t cancelled = 0;
  std::size_t open = 0;
  std::size_t runs = 0;
};
/// By the id of the volley.
using volley_standings = std::unordered_map<std::string, volley_standing>;

/// How a session or a proposal is named in the shortest way: the last
/// characters of an id that Riffle made, else the whole.
std::string short_id(const std::string& id);

/// "3 min ago", "yesterday", "2026-11-21": local time.
std::string ago(wall_time then, wall_time now);

/// "2026-11-21 14:03", as clocks here show it.
std::string local_time(wall_time x);

/// "k3f9qz  3 min ago   completed    2 runs  its title", one line in columns,
/// cut to the width of the terminal (0: none). The ending of an id that Riffle
/// made is enough to name it.
/// Of a volley's it says so, unless that is known (`in_group`). `asks`: it
/// waits for a person's answer. `here`: the
/// folder of who looks; of a session that works in another one it says where.
std::string summary_text(const session_summary& x, wall_time now,
                         std::size_t columns, const std::string& here = {},
                         bool in_group = false, bool asks = false);

/// All of them; those of a volley or of a plan stand together below its id, or
/// below the plan's own session, where the newest of them would. A plan that
/// was stopped and what went on from it have one row: the newest, with all
/// runs. That of a volley says how it stands, and has its tasks in their order.
std::string summaries_text(const std::vector<session_summary>& all,
                           wall_time now, std::size_t columns,
                           const std::string& here = {},
                           const asking_sessions& asking = {},
                           const volley_standings& volleys = {});

/// The same, those of the folder `here` above the others.
std::string summaries_by_folder(const std::vector<session_summary>& all,
                                wall_time now, std::size_t columns,
                                const std::string& here,
                                const asking_sessions& asking = {},
                                const volley_standings& volleys = {});

/// "~/src/riffle", of a long path its end: "…/tests/cli".
std::string short_place(const std::string& folder, const std::string& home);

/// Calls whose outputs are kept, a line each: "call_…  read   1.2 KB told
/// a.md", in columns, cut to the width of the terminal (0: none).
std::string kept_calls_text(const std::vector<storage::call_record>& all,
                            std::size_t columns);

/// The conversation as Markdown: below its title each run's time and end, what
/// was said, and which calls were made. Of what was attached and told beside a
/// task the name and the size.
/// `interrupted`: of its unfinished runs those that nobody works on. `now`: for
/// who looks at it now, times say also how long ago that was.
std::string conversation_text(
    const storage::session_snapshot& x,
    const std::unordered_set<run_id>& interrupted = {},
    std::optional<wall_time> now = {});

}  // namespace riffle::cli
