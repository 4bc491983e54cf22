// SPDX-License-Identifier: MIT
// What belongs together in a list of sessions.
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/stopped_plan.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/service/views.hpp"
#include "runtime/service/volley_record.hpp"
#include "runtime/storage/last_use.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view indent = "  ";

/// Of the volley or plan that the session belongs to; empty: none.
std::string group_of(const session_summary& x) {
  if (x.runs == 0) return {};
  auto volley = volley_of(x.last);
  return volley.empty() ? plan_of(x.last) : volley;
}

/// Which sessions belong to which group: a plan that was stopped and all that
/// goes on from it are one, called as the newest that is listed.
class session_groups {
 public:
  explicit session_groups(const std::vector<session_summary>& all) {
    for (const auto& x : all)
      if (x.runs > 0) listed_.insert(x.id.value);
    for (const auto& x : all)
      if (const auto name = name_of(x); !name.empty())
        members_[name].push_back(&x);
  }

  /// Empty: the session is in none.
  [[nodiscard]] std::string name_of(const session_summary& x) const {
    auto name = group_of(x);
    if (name.empty() || service::is_volley(name)) return name;
    for (auto next = service::next_plan({name}).value; listed_.contains(next);
         next = service::next_plan({name}).value)
      name = std::move(next);
    return name;
  }

  /// Once; then none: they stand where the newest of them does.
  std::vector<const session_summary*> take(const std::string& name) {
    return std::exchange(members_[name], {});
  }

 private:
  std::unordered_set<std::string> listed_;
  std::map<std::string, std::vector<const session_summary*>> members_;
};

using member_list = std::vector<const session_summary*>;

/// Of a volley: what of its tasks needs a person most, of all that has ended
/// the worst.
std::string state_of_volley(const member_list& members,
                            const asking_sessions& asking,
                            const std::optional<volley_standing>& stands) {
  const auto any = [&](std::string_view state) {
    return std::ranges::any_of(members, [&](const session_summary* x) {
      return service::state_of(*x) == state;
    });
  };
  for (const auto* x : members)
    if (asking.contains(x->id) && service::state_of(*x) == "active")
      return "asks";
  const auto all = stands.value_or(volley_standing{});
  if (any("active")) return "active";
  // Who works uses it, and would be in the list.
  if (any("interrupted") || all.open > 0) return "interrupted";
  if (any("cancelled") || all.cancelled > 0) return "cancelled";
  if (any("failed") || all.failed > 0) return "failed";
  // Some have not begun, and nobody works on it.
  return all.done < all.tasks ? "interrupted" : "completed";
}

/// Above the sessions of a volley, in the columns of theirs.
std::string head_of_volley(const std::string& group, const member_list& members,
                           wall_time now, std::size_t columns,
                           const asking_sessions& asking,
                           const volley_standings& volleys) {
  const auto found = volleys.find(group);
  const auto stands =
      found == volleys.end() ? std::nullopt : std::optional{found->second};
  wall_time last{};
  std::size_t runs = 0;
  for (const auto* x : members) {
    last = std::max(last, storage::last_use(x->last));
    runs += x->runs;
  }
  if (stands) runs = stands->runs;
  const auto out = padded(safe_line(short_id(group), 64), 6) + "  " +
                   padded(ago(last, now), 10) + "  " +
                   padded(state_of_volley(members, asking, stands), 11) + "  " +
                   padded(counted(runs, "run"), 7) + "  volley, " +
                   (stands ? std::to_string(stands->done) + " of " +
                                 std::to_string(stands->tasks) + " done"
                           : counted(members.size(), "session"));
  return (columns > 1 ? fit(out, columns - 1) : out) + "\n";
}

/// Above sessions whose plan has no row of its own.
std::string head_of_plan(const std::string& group, std::size_t sessions,
                         std::size_t columns) {
  const auto out = safe_line(short_id(group), 64) + "  plan, " +
                   counted(sessions, "session");
  return (columns > 1 ? fit(out, columns - 1) : out) + "\n";
}

/// As the tasks of their volley are numbered.
void sort_tasks(member_list& members) {
  std::ranges::stable_sort(members, {}, [](const session_summary* x) {
    const auto place = service::request_from_json(x->last.settings).place;
    return place ? place->task : 0;
  });
}

/// The logs of a plan and of those that it goes on from are alone in sessions
/// of their names: one row has them all.
bool is_log_of_plan(const session_summary& x) {
  return x.last.id.value == x.id.value;
}

}  // namespace

std::string summaries_text(const std::vector<session_summary>& all,
                           wall_time now, std::size_t columns,
                           const std::string& here,
                           const asking_sessions& asking,
                           const volley_standings& volleys) {
  session_groups groups{all};
  const auto row = [&](const session_summary& x, std::size_t room,
                       bool inside) {
    return summary_text(x, now, room, here, inside, asking.contains(x.id));
  };
  const auto room = columns > indent.size() ? columns - indent.size() : 0;
  std::string out;
  for (const auto& x : all) {
    const auto group = groups.name_of(x);
    if (group.empty()) {
      out += row(x, columns, false);
      continue;
    }
    auto members = groups.take(group);
    if (members.empty()) continue;
    if (service::is_volley(group)) {
      sort_tasks(members);
      out += head_of_volley(group, members, now, columns, asking, volleys);
      for (const auto* y : members)
        out.append(indent).append(row(*y, room, true));
      continue;
    }
    session_summary own;
    std::size_t runs = 0;
    std::string rest;
    for (const auto* y : members) {
      if (!is_log_of_plan(*y)) {
        rest.append(indent).append(row(*y, room, true));
        continue;
      }
      runs += y->runs;
      if (y->id.value == group) own = *y;
    }
    own.runs = runs;
    out += runs == 0 ? head_of_plan(group, members.size(), columns)
                     : row(own, columns, false);
    out += rest;
  }
  return out;
}

std::string summaries_by_folder(const std::vector<session_summary>& all,
                                wall_time now, std::size_t columns,
                                const std::string& here,
                                const asking_sessions& asking,
                                const volley_standings& volleys) {
  auto sorted = all;
  const auto others =
      std::ranges::stable_partition(sorted, [&](const session_summary& x) {
        return x.runs == 0 || folder_of(x.last) == here;
      });
  const std::vector<session_summary> elsewhere{others.begin(), others.end()};
  sorted.erase(others.begin(), sorted.end());
  auto out = summaries_text(sorted, now, columns, here, asking, volleys);
  if (!out.empty() && !elsewhere.empty()) out += "Of other folders:\n";
  return out + summaries_text(elsewhere, now, columns, here, asking, volleys);
}

}  // namespace riffle::cli
