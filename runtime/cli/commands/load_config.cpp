// SPDX-License-Identifier: MIT
// The configuration of a command: found, read once, checked, trusted.
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/log.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/config/trust.hpp"

namespace riffle::cli {

namespace {

using loaded =
    tl::expected<config::config, std::vector<riffle::config::mistake>>;

riffle::config::load_request request_of(const common_options& x) {
  return {x.config, x.sets, riffle::config::builtin_tools(), std::nullopt};
}

/// True: the person looked at it and trusts it from now on.
bool is_trusted_now(const riffle::config::trust_state& x,
                    const std::vector<riffle::config::mistake>& mistakes,
                    config_use use, bool stdin_is_taken, console& io,
                    const other_typing* other) {
  const auto keyboard = open_keyboard(stdin_is_taken);
  if (!keyboard && use == config_use::acts_there) {
    const auto file = safe_line(x.file.string(), 4096);
    io.complain(file + " " + trust_problem(x) +
                ". Nothing was started. It is: riffle config trust '" + file +
                "'");
    return false;
  }
  if (!keyboard) {
    io.complain("riffle.toml of this folder " + trust_problem(x) +
                ". Nothing was started");
    return false;
  }
  // Who would be asked need not look at what cannot count.
  if (!mistakes.empty()) {
    report(mistakes, io, "nothing was started");
    return false;
  }
  // What could not be kept must not be asked for again and again.
  const auto store = riffle::config::trust_store::of_user();
  if (!store) {
    report(store.error(), io);
    return false;
  }
  if (!ask_for_trust(x, keyboard->get(), io,
                     other == nullptr ? other_typing{} : *other)) {
    io.complain(
        "it is not trusted, nothing was started; --config " +
        (x.displaces.empty()
             ? std::string{"FILE takes another configuration"}
             : safe_line(x.displaces.string(), 4096) + " goes on with yours"));
    return false;
  }
  const auto kept = store->trust(x.file, x.text, system_wall_time());
  if (!kept) report(kept.error(), io);
  return kept.has_value();
}

/// What counts without the folder's file.
loaded load_own(const common_options& x) {
  const auto request = request_of(x);
  const auto from =
      find_own_source(request).and_then(riffle::config::read_source);
  if (!from) return tl::unexpected{std::vector{from.error()}};
  return load(request, *from);
}

std::optional<config::config> settle(loaded x, const common_options& options,
                                     config_use use, console& io) {
  if (x && use == config_use::again) return std::move(*x);
  if (x) {
    // From here on, so that what a store complains of obeys it too.
    auto log = *x;
    choose_log_level(options.level, log);
    init_log(log.runtime.log.level, log.runtime.log.format);
    return std::move(*x);
  }
  report(x.error(), io,
         use == config_use::again ? "nothing was read again"
                                  : "nothing was started");
  return std::nullopt;
}

}  // namespace

std::optional<config::config> load_config(const common_options& options,
                                          config_use use, bool stdin_is_taken,
                                          console& io,
                                          const other_typing* other) {
  const auto request = request_of(options);
  const auto found = find_source(request);
  const auto from = found.and_then(riffle::config::read_source);
  if (!from && found && found->found_in_folder && use == config_use::looks) {
    io.complain("left out: " + render(from.error()));
    return settle(load_own(options), options, use, io);
  }
  if (!from)
    return settle(tl::unexpected{std::vector{from.error()}}, options, use, io);
  const auto judged = judge_trust(*from);
  if (!judged) {
    report(judged.error(), io);
    return std::nullopt;
  }
  if (judged->trusted) return settle(load(request, *from), options, use, io);
  if (use == config_use::looks) {
    if (options.level != verbosity::quiet)
      io.complain("riffle.toml of this folder is left out: it " +
                  trust_problem(*judged));
    return settle(load_own(options), options, use, io);
  }
  if (use == config_use::again) {
    io.complain("riffle.toml of this folder " + trust_problem(*judged) +
                ". Nothing was read again");
    return std::nullopt;
  }
  // Where nobody is there to read it nothing of it is read out before that.
  if (!is_trusted_now(*judged, riffle::config::mistakes_in_text(request, *from),
                      use, stdin_is_taken, io, other))
    return std::nullopt;
  return settle(load(request, *from), options, use, io);
}

}  // namespace riffle::cli
