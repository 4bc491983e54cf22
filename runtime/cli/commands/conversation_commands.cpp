// SPDX-License-Identifier: MIT
// What begins with '/' in a conversation.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/core/context_window.hpp"
#include "actors/tools/call_records.hpp"
#include "messages/event_line.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/commands/new_file.hpp"
#include "runtime/cli/commands/own_commands.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/output_text.hpp"
#include "runtime/cli/view/plan_text.hpp"
#include "runtime/cli/view/run_stats.hpp"
#include "runtime/cli/view/running_output.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/agent_tools.hpp"

namespace riffle::cli {

namespace {

/// Bytes of an output at a terminal; of a longer one its end.
constexpr std::size_t most_shown = 256u << 10;
constexpr std::size_t most_lines = 200;

/// What each request tells of them; those of servers are not counted, since
/// they would have to be started.
std::uint64_t tokens_of_tools(const std::string& agent,
                              const config::config& settings) {
  const auto all = make_registry(settings, {});
  if (!all) return 0;
  std::uint64_t out = 0;
  for (const auto& name : service::tools_of_agent(settings, agent))
    if (const auto* tool = (*all)->find(name)) {
      const auto& about = (*tool)->spec();
      out += core::estimate_tokens(about.name + about.description +
                                   about.parameters);
    }
  return out;
}

/// As `/context` counts them.
std::string counted_tokens(std::uint64_t n) {
  constexpr std::uint64_t exact = 1000;
  return n < exact ? counted(n, "token") : short_count(n) + " tokens";
}

}  // namespace

bool conversation::show(const chat_line& x) {
  const auto& word = x.word;
  if (const auto why = not_understood(x); !why.empty())
    note(why);
  else if (word == "help")
    help();
  else if (word == "sessions")
    show_sessions();
  else if (word == "model" && x.rest.empty())
    list_models();
  else if (word == "agent" && x.rest.empty())
    list_agents();
  else if (word == "plan")
    plan();
  else if (word == "output")
    output(x.rest);
  else if (word == "diff")
    diff(x.rest);
  else if (word == "context")
    context();
  else if (word == "cost")
    cost();
  else
    return false;
  return true;
}

std::optional<std::string> conversation::answer(const std::string& text) {
  const auto line = parse_chat_line(text);
  if (line.what != chat_act::command) return std::nullopt;
  auto out = wrap_lines("> " + safe_line(text, 100) + "\n", io_.err.columns());
  shown_ = &out;
  bool known = show(line);
  // Whoever types it beside a question means that one, too.
  if (!known && line.word == "approve") {
    choose_approval(line.rest);
    known = true;
  }
  shown_ = nullptr;
  return known ? std::optional{std::move(out)} : std::nullopt;
}

bool conversation::command(const chat_line& x, interrupts& signals) {
  const auto& word = x.word;
  if (word == "quit" && x.rest.empty()) return false;
  if (x.rest.empty() && word == "model") {
    offer_models(signals);
    return true;
  }
  if (show(x)) return true;
  if (word == "new") {
    fresh();
  } else if (word == "resume") {
    resume(x.rest, signals);
  } else if (word == "title") {
    set_title(x.rest);
  } else if (word == "model") {
    choose_model(x.rest, signals);
  } else if (word == "agent") {
    choose_agent(x.rest);
  } else if (word == "approve") {
    choose_approval(x.rest);
  } else if (word == "tools") {
    execute(
        tools_command{
            options_.common, tools_command::what::list, {}, {}, agent_name()},
        io_);
  } else if (word == "compact") {
    compact(signals);
  } else if (word == "undo") {
    undo(signals);
  } else if (word == "save") {
    save(x.rest);
  } else if (word == "prompts") {
    list_prompts(signals);
  } else if (word.find("__") != word.npos) {
    run_prompt(x, signals);
  } else if (!run_own(x, signals)) {
    std::vector<std::string> own;
    for (const auto& one : find_own_commands().all) own.push_back(one.name);
    note(no_such_command(word, std::move(own)));
  }
  return true;
}

void conversation::fresh() {
  session_.reset();
  seen_ = 0;
  title_.clear();
  told_.clear();
  note("A new session.");
}

void conversation::set_title(const std::string& title) {
  if (title.empty()) return note("/title TEXT");
  if (!session_) {
    title_ = title;
    return note("The session that your next task begins is called: " +
                safe_line(title, 100));
  }
  if (!keep_title(title)) return;
  note("Session " + short_id(session_->value) +
       " is called: " + safe_line(title, 100));
}

bool conversation::keep_title(const std::string& title) {
  const auto done = rt_->set_state(*session_, "session_title", title);
  if (!done) complain(done.error());
  return done.has_value();
}

/// By its name, by how that begins, or by what stands behind the provider's.
void conversation::choose_model(const std::string& name, interrupts& signals) {
  std::set<std::string> all{listed_models_.begin(), listed_models_.end()};
  for (const auto& [known, what] : settings_.models) all.insert(known);
  std::vector<std::string> alike;
  for (const auto& x : all)
    if (x.starts_with(name) || x.ends_with("/" + name)) alike.push_back(x);
  const bool whole = all.contains(name) || alike.size() != 1;
  const auto& meant = whole ? name : alike.front();
  if (!use_model(meant, signals)) return;
  note("model " + named_model(meant));
  const auto provider = meant.substr(0, meant.find('/') + 1);
  const bool lists =
      !provider.empty() &&
      std::ranges::any_of(listed_models_, [&](const std::string& x) {
        return x.starts_with(provider);
      });
  if (lists && std::ranges::find(listed_models_, meant) == listed_models_.end())
    note(provider.substr(0, provider.size() - 1) +
         " does not list this model: the next task may fail.");
}

/// One that the runtime does not know yet needs a runtime that does. Never two
/// at once: a cluster's port is bound by one.
bool conversation::use_model(const std::string& name, interrupts& signals) {
  const bool known = settings_.models.contains(name);
  auto wanted = settings_;
  if (const auto ok = cli::choose_model(name, wanted); !ok) {
    note(ok.error().message);
    return false;
  }
  auto model = std::exchange(options_.choices.model, name);
  if (!known) {
    prompt_.go_on();  // Ctrl-C ends a wait for room
    auto before = std::exchange(settings_, std::move(wanted));
    rt_.reset();
    if (open(signals)) {
      settings_ = std::move(before);
      options_.choices.model = std::move(model);
      if (open(signals))
        note(
            "The conversation ends: neither this model nor the one of before "
            "can be used now.");
      return false;
    }
  }
  tell_unusable();
  return true;
}

void conversation::list_agents() {
  const auto now = agent_name();
  note("agent " + now);
  for (const auto& [name, agent] : settings_.agents)
    if (name != now)
      note("  or " + name + ", model " + named_model(agent.model));
  note(settings_.agents.size() > 1
           ? "/agent NAME takes another one"
           : "it is the only one; [agents.NAME] in riffle.toml makes another");
}

void conversation::choose_agent(const std::string& name) {
  if (const auto ok = check_agent(name, settings_); !ok)
    return note(ok.error().message);
  options_.agent = name;
  note("agent " + name + ", model " + named_model(model_name()));
  tell_unusable();
}

void conversation::plan() {
  const auto whole = snapshot();
  if (!whole || whole->runs.empty() || whole->runs.back().plan.empty())
    return note("There is no plan in this session.");
  const auto lines = plan_text(whole->runs.back().plan);
  const auto columns = io_.err.columns();
  write(wrap_lines(lines.summary + "\n", columns));
  for (const auto& x : lines.steps) write(wrap_lines("  " + x + "\n", columns));
}

/// Of the one that wrote last, as its run's log has it; false: none works. What
/// is there by now is read, and only what was not before: the keyboard waits.
bool conversation::show_running(const run_id& x) {
  constexpr auto longest = std::chrono::seconds{2};
  if (looked_at_.run != x) looked_at_ = {x};
  auto& calls = looked_at_.calls;
  auto log = rt_->events(x, looked_at_.seq);
  if (!log) return false;
  const auto until = std::chrono::steady_clock::now() + longest;
  bool all = false;
  while (std::chrono::steady_clock::now() < until) {
    const auto batch = log->next(duration::zero());
    all = !batch;
    if (all) break;
    for_each_line(batch->lines(), [&](std::string_view line) {
      // Of a long answer there are very many, and they say nothing of calls.
      if (line.find("\"llm_token\"") != line.npos) return;
      if (const auto e = parse_line(line)) calls.on(*e);
    });
    looked_at_.seq = batch->last_seq();
  }
  if (calls.any()) {
    note(calls.head(system_wall_time()));
    auto text = safe_text(calls.text());
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    write(wrap_exact(text, io_.err.columns()));
  }
  if (!all)
    note(
        "The log of this run is long, and was not read to its end: /output "
        "again reads on.");
  return calls.any() || !all;
}

/// Of a call that ended: the last one, or the N-th from the end. Alone it is
/// that of one which works, if one does.
void conversation::output(const std::string& which) {
  std::size_t n = 1;
  const auto* const end = which.data() + which.size();
  const auto read = std::from_chars(which.data(), end, n);
  if (!which.empty() && (read.ec != std::errc{} || read.ptr != end || n == 0))
    return note("/output N: a number, 1 is the last call");
  const auto whole = snapshot();
  if (which.empty() && works_ && whole && !whole->runs.empty() &&
      show_running(whole->runs.back().id))
    return;
  std::vector<const storage::call_record*> ended;
  if (whole)
    for (const auto& x : whole->calls)
      if (x.stage == storage::call_stage::settled && x.attempt > 0)
        ended.push_back(&x);
  if (ended.size() < n)
    return note(ended.empty()
                    ? "No call has ended yet."
                    : "Only " + counted(ended.size(), "call") +
                          (ended.size() == 1 ? " has" : " have") + " ended.");
  const auto& record = *ended[ended.size() - n];
  const auto& call = record.call;
  note(fit(words_of(call).on({}), 200));
  const auto kept = rt_->output(call.id);
  if (!kept && kept.error().code == errc::not_found &&
      told_output(record).empty())
    return note("It wrote nothing.");
  if (!kept) return complain(kept.error());
  const auto lines = output_lines({kept->file, kept->text}, most_shown);
  const auto newest = newest_lines(lines, most_lines);
  write(wrap_exact(newest, io_.err.columns()));
  if (newest != lines || lines.starts_with("…"))
    note("All of it: riffle sessions output " + call.id.value);
}

void conversation::context() {
  // It is answered beside a run, too, so nothing is waited for.
  const auto told =
      surroundings_of(agent_name(), settings_, service::git_answer::known);
  note(std::string{"The model is told the folder, the system, the date, where "
                   "git stands"} +
       (told.files.empty() ? "." : ", and what these files say:"));
  for (const auto& x : told.files)
    note("  " + x.path.string() + ", " + size_text(x.size) +
         (x.cut ? ", of which it gets the beginning" : ""));
  for (const auto& x : told.left_out) note("  not " + x);
  note(std::string{trimmed(context_text(context_in_use(told.text)))});
  const auto whole = snapshot();
  if (!whole) return note("Nothing yet: the session begins with your task.");
  note(counted(whole->runs.size(), "run") + ", " +
       counted(whole->messages.size(), "message") + ", " +
       counted(whole->calls.size(), "tool call"));
}

context_use conversation::context_in_use(const std::string& around) {
  context_use out;
  if (const auto model = settings_.models.find(model_name());
      model != settings_.models.end()) {
    out.window = model->second.context_window;
    auto key = "models." + model_name() + ".context_window";
    if (!settings_.origins.contains(key)) out.assumed_without = std::move(key);
  }
  if (const auto agent = settings_.agents.find(agent_name());
      agent != settings_.agents.end())
    out.instructions = core::estimate_tokens(agent->second.system_prompt);
  out.instructions += core::estimate_tokens(around);
  out.tools = tokens_of_tools(agent_name(), settings_);
  out.waits = core::estimate_tokens(told_);
  if (const auto whole = snapshot()) add_session(out, *whole);
  return out;
}

void conversation::cost() {
  const auto whole = snapshot();
  if (!whole) return note("Nothing yet.");
  token_usage sum;
  for (const auto& x : whole->runs) add(sum, x.usage);
  auto text = counted_tokens(sum.input_tokens) + " in";
  if (sum.cached_tokens.value_or(0) > 0)
    text += " (" + short_count(*sum.cached_tokens) + " of them cached)";
  text += ", " + counted_tokens(sum.output_tokens) + " out";
  text += sum.cost_usd ? ", " + money_text(*sum.cost_usd)
                       : "; no cost: its models have no price here";
  note(text);
}

void conversation::save(const std::string& file) {
  if (file.empty()) return note("/save FILE");
  const auto whole = snapshot();
  if (!whole) return note("There is nothing to save yet.");
  const int problem = make_file(file, conversation_text(*whole));
  if (problem == 0) return note("saved: " + file);
  note(problem == EEXIST ? file + " is there already: name another file"
                         : file + " cannot be written: " +
                               std::generic_category().message(problem));
}

}  // namespace riffle::cli
