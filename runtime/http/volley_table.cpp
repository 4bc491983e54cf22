// SPDX-License-Identifier: MIT
#include "runtime/http/volley_table.hpp"

#include <utility>

#include "runtime/base/log.hpp"

namespace riffle::http {

/// With a failure something is left to do: the next server does it.
void volley_table::watch::all_over(const std::optional<error>& failure) {
  if (failure) return;
  if (const auto table = table_.lock())
    table->works_->submit([table, id = id] { table->remove(id); });
}

expected<void> volley_table::add(const std::string& id) {
  set(id, {});
  return notes_.set(id, "true");
}

void volley_table::set(const std::string& id,
                       std::weak_ptr<service::volley_run> x) {
  const std::lock_guard lock{mutex_};
  all_[id] = std::move(x);
}

void volley_table::remove(const std::string& id) {
  if (auto ok = notes_.set(id, ""); !ok)
    log_warn("server",
             "that " + id + " is over is not on record: " + render(ok.error()));
  // Behind the note: who finds none does not begin it again.
  const std::lock_guard lock{mutex_};
  all_.erase(id);
}

std::shared_ptr<service::volley_run> volley_table::find(
    const std::string& id) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : found->second.lock();
}

bool volley_table::knows(const std::string& id) const {
  const std::lock_guard lock{mutex_};
  return all_.contains(id);
}

std::vector<std::shared_ptr<service::volley_run>> volley_table::living() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::shared_ptr<service::volley_run>> out;
  for (const auto& x : all_)
    if (auto there = x.second.lock()) out.push_back(std::move(there));
  return out;
}

expected<bool> volley_table::is_left(const std::string& id) const {
  // First: `remove` takes the note away before it forgets the volley.
  if (knows(id)) return false;
  const auto noted = unfinished();
  if (!noted) return unexpected{noted.error()};
  return noted->contains(id);
}

expected<std::set<std::string>> volley_table::unfinished() const {
  const auto kept = notes_.all();
  if (!kept) return unexpected{kept.error()};
  std::set<std::string> out;
  for (const auto& [id, value] : *kept) out.insert(id);
  return out;
}

}  // namespace riffle::http
