// SPDX-License-Identifier: MIT
// What a conversation lists, and lets a person choose from.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/chat_names.hpp"
#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/commands/known_volley.hpp"
#include "runtime/cli/commands/model_talk.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/commands/waiting_run.hpp"
#include "runtime/cli/terminal/approval_dialog.hpp"
#include "runtime/cli/terminal/list_picker.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/service/match_id.hpp"
#include "runtime/service/sessions.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t most_listed = 20;

std::string this_folder() {
  std::error_code gone;
  return std::filesystem::current_path(gone).string();
}

/// A script has no server that could be asked what there is.
const config::provider* provider_asked(const config::model_config& x) {
  return x.dialect == "scripted" ? nullptr : config::provider_of(x);
}

asking_sessions find_asking(runtime& rt) {
  asking_sessions out;
  const auto open = rt.proposals({.undecided = true});
  if (!open) return out;
  for (const auto& x : *open) out.insert(x.what.session);
  return out;
}

/// What the server is asked for by, first or again.
std::string way_on_text(const std::string& provider,
                        const std::vector<std::string>& listed) {
  const bool asked = std::ranges::any_of(listed, [&](const std::string& x) {
    return x.starts_with(provider + "/");
  });
  return asked ? "… ask " + provider + " again for its models"
               : "… the models of " + provider;
}

}  // namespace

void conversation::show_sessions() {
  auto all = rt_->sessions(most_listed);
  if (!all) return complain(all.error());
  for (auto& x : *all)
    if (x.id == session_)
      x.title = "(this one) " + (x.title.empty() ? x.last.task : x.title);
  write(summaries_by_folder(*all, system_wall_time(), io_.err.columns(),
                            this_folder(), find_asking(*rt_),
                            standings_of(*all, settings_)));
}

std::optional<std::string> conversation::on_typed(const std::string& text) {
  const auto line = trimmed(text);
  if (is_answer_key(line) && session_ &&
      !question_elsewhere(*rt_, *session_).empty())
    return "\"" + std::string{line} +
           "\" was no answer: press the key alone, without Enter; Tab goes to "
           "the question.\n";
  auto shown = answer(text);
  if (!shown && keep_queued_) keep_queued_(text);
  return shown;
}

/// By its id or part of it, else by words of its title.
void conversation::resume(const std::string& named, interrupts& signals) {
  // A whole id needs no look at all the others.
  if (const session_id whole{named}; !named.empty() && rt_->session(whole))
    return go_on_with(whole, signals);
  const auto all = rt_->find_sessions({});
  if (!all) return complain(all.error());
  if (named.empty()) return offer_sessions(begun_alone(*all), signals);
  std::vector<session_id> ids;
  for (const auto& x : *all) ids.push_back(x.id);
  if (const auto found = service::match_id(named, ids))
    return go_on_with(*found, signals);
  std::vector<session_summary> called;
  const service::word_search wanted{named};
  for (const auto& x : *all)
    if (x.runs > 0 && wanted.finds(x.title + " " + x.id.value))
      called.push_back(x);
  if (called.empty())
    return note("No session is called so: " + safe_line(named, 100) +
                ". /resume shows all.");
  if (called.size() == 1) return go_on_with(called.front().id, signals);
  offer_sessions(called, signals);
}

void conversation::go_on_with(session_id session, interrupts& signals) {
  session_ = std::move(session);
  title_.clear();
  told_.clear();
  take_its_use(signals);
  if (!can_go_on()) return;
  note("Session " + short_id(session_->value) + ", model " +
       named_model(model_name()) + told_agent() + ".");
  const auto whole = snapshot();
  const auto there =
      whole && !whole->runs.empty() ? folder_of(whole->runs.back()) : "";
  const bool told = tell_left_elsewhere();
  if (const auto here = this_folder(); !told && !there.empty() && there != here)
    note("Its last task worked in " + exact_name(there, 300) +
         (here.empty() ? "; the folder that you are in is gone."
                       : "; the next one works here, in " +
                             exact_name(here, 300) + "."));
  if (is_offered())
    catch_up(signals);
  else
    show_recap(false);
}

/// As `-c` does, from the records.
void conversation::take_its_use(interrupts& signals) {
  const auto whole = snapshot();
  if (!whole || whole->runs.empty()) return;
  auto with_model = settings_;
  const auto use =
      use_of(service::request_from_json(whole->runs.back().settings).request,
             named_, with_model);
  for (const auto& x : use.gone) io_.complain(x);
  options_.agent = use.agent;
  if (use.model && use.model != options_.choices.model)
    use_model(*use.model, signals);
  else
    options_.choices.model = use.model;
}

std::vector<named_choice> conversation::names_for(
    std::string_view command) const {
  std::vector<named_choice> out;
  if (command == "agent")
    for (const auto& [name, x] : settings_.agents)
      out.push_back({name, "model " + x.model});
  if (command == "model") {
    for (const auto& [name, x] : settings_.models)
      out.push_back({name, x.model});
    for (const auto& name : listed_models_)
      if (!settings_.models.contains(name)) out.push_back({name, ""});
  }
  if (command == "approve") out = {{"ask", ""}, {"all", ""}, {"none", ""}};
  return out;
}

name_finder conversation::finder_for(std::string_view command) const {
  const auto data = config::data_folder(settings_.runtime);
  if (!data) return {};
  const char* home = std::getenv("HOME");
  if (command == "resume")
    return titles_in(*data, session_, {this_folder(), home ? home : ""});
  if (command == "diff" && session_) return changed_files_in(*data, *session_);
  return {};
}

/// Those of this folder, and behind them those of others.
void conversation::offer_sessions(const std::vector<session_summary>& all,
                                  interrupts& signals) {
  const auto here = this_folder();
  std::vector<session_summary> offered;
  for (const bool anywhere : {false, true})
    for (const auto& x : all)
      if (x.id != session_ && (folder_of(x.last) != here) == anywhere)
        offered.push_back(x);
  if (offered.empty()) return note("There is no other session yet.");
  std::vector<std::string> rows;
  std::vector<std::string> words;
  const auto asking = find_asking(*rt_);
  const auto now = system_wall_time();
  const auto room = std::max<std::size_t>(io_.err.columns(), 8) - 6;
  for (const auto& x : offered) {
    rows.push_back(
        summary_text(x, now, room, here, false, asking.contains(x.id)));
    rows.back().pop_back();
    words.push_back(x.title + " " + x.id.value);
  }
  const auto chosen =
      prompt_.pick({"Go on with which session? What you type narrows the list.",
                    std::move(rows), words},
                   signals);
  if (!chosen) return note("None was chosen: this session goes on.");
  go_on_with(offered[*chosen].id, signals);
}

void conversation::list_models() {
  const auto now = model_name();
  note("model " + named_model(now));
  for (const auto& [name, model] : settings_.models)
    if (name != now) note("  or " + named_model(name));
  note("/model NAME takes another one; any PROVIDER/MODEL is a name");
}

/// The models of the server that is talked to, as `/model` names them.
expected<std::vector<std::string>> conversation::models_of_server(
    interrupts& signals) {
  const auto name = model_name();
  const auto known = settings_.models.find(name);
  if (known == settings_.models.end()) return std::vector<std::string>{};
  const auto& model = known->second;
  const auto* provider = provider_asked(model);
  if (provider == nullptr) return std::vector<std::string>{};
  prompt_.go_on();  // Ctrl-C ends the wait
  const stop_while_starting stop{signals, std::nullopt};
  model_talk with{std::make_shared<const config::config>(settings_)};
  auto all = service::list_models(with.links, name, model, stop.token());
  if (!all) return unexpected{std::move(all.error())};
  for (auto& x : *all) x.insert(0, provider->name + "/");
  return all;
}

/// Those of the configuration, and those that a server has listed by now; it is
/// asked if that is wanted.
void conversation::offer_models(interrupts& signals) {
  const auto now = model_name();
  std::vector<std::string> names{now};
  for (const auto& [name, model] : settings_.models)
    if (name != now) names.push_back(name);
  for (const auto& x : listed_models_)
    if (x != now && !settings_.models.contains(x)) names.push_back(x);
  std::vector<std::string> rows;
  for (const auto& x : names)
    rows.push_back(safe_line(named_model(x), 200) +
                   (x == now ? "  (now)" : ""));
  const auto known = settings_.models.find(now);
  const auto* provider =
      known == settings_.models.end() ? nullptr : provider_asked(known->second);
  const std::string question =
      "Which model? /model PROVIDER/MODEL names any other.";
  list_picker list{question, rows};
  if (provider != nullptr) {
    rows.push_back(way_on_text(provider->name, listed_models_));
    list = list_picker{question, rows}.with_way_on();
  }
  auto chosen = prompt_.pick(list, signals);
  if (chosen && *chosen == names.size()) {
    auto all = models_of_server(signals);
    if (signals.asked_to_stop()) return note("Stopped.");
    if (!all) return complain(all.error());
    names = *std::move(all);
    listed_models_ = names;
    if (names.empty()) return note(provider->name + " lists no models.");
    rows.clear();
    for (const auto& x : names) rows.push_back(safe_line(x, 200));
    chosen = prompt_.pick({question, rows}, signals);
  }
  if (!chosen || names[*chosen] == now)
    return note("model " + named_model(now));
  choose_model(names[*chosen], signals);
}

}  // namespace riffle::cli
