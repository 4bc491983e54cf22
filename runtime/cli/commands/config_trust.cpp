// SPDX-License-Identifier: MIT
// riffle config trust [FILE] | --list | --revoke [FILE]
#include <nlohmann/json.hpp>

#include "runtime/base/clock.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/trust_text.hpp"
#include "runtime/config/trust.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

std::string dump(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

json facts(const config::trusted_file& x) {
  return {{"file", x.file.string()},
          {"digest", x.digest},
          {"since", to_string(x.since)}};
}

int list(const config_command& x, const config::trust_store& store,
         console& io) {
  const auto found = store.list();
  if (!found) return report(found.error(), io);
  auto all = json::array();
  for (const auto& entry : *found) {
    constexpr std::size_t shown = 12;
    constexpr std::size_t longest = 4096;
    switch (x.common.output) {
      case output_kind::text:
        io.out.write(to_string(entry.since) + "  " +
                     entry.digest.substr(0, shown) + "  " +
                     safe_line(entry.file.string(), longest) + "\n");
        break;
      case output_kind::jsonl: io.out.write(dump(facts(entry))); break;
      case output_kind::json: all.push_back(facts(entry)); break;
    }
  }
  if (x.common.output == output_kind::json) io.out.write(dump(all));
  return io.out.good() ? completed : failed;
}

/// Says what is now so.
int done(const config_command& x, const std::filesystem::path& file,
         bool trusted, const std::string& text, console& io) {
  if (x.common.output != output_kind::text)
    io.out.write(dump({{"file", file.string()}, {"trusted", trusted}}));
  else if (x.common.level != verbosity::quiet)
    io.complain(file.string() + " " + text);
  return io.out.good() ? completed : failed;
}

int revoke(const config_command& x, const config::trust_store& store,
           console& io) {
  const auto file = config::trust_name(x.file);
  const auto was = store.revoke(file);
  if (!was) return report(was.error(), io);
  const int status = done(
      x, file, false, *was ? "is not trusted any more" : "was not trusted", io);
  return *was ? status : usage;  // a name with a mistake took nothing away
}

/// A file with mistakes cannot be used, so it is not trusted either.
std::optional<config::trust_state> judge(const config_command& x, console& io) {
  config::load_request request;
  request.file = x.file;
  request.sets = x.common.sets;
  request.tools = config::builtin_tools();
  auto from = find_source(request).and_then(config::read_source);
  if (!from) {
    report({from.error()}, io);
    return std::nullopt;
  }
  if (const auto settings = load(request, *from); !settings) {
    report(settings.error(), io);
    return std::nullopt;
  }
  from->found_in_folder = true;  // as it will be by who works there
  auto judged = judge_trust(*from);
  if (judged) return std::move(*judged);
  report(judged.error(), io);
  return std::nullopt;
}

int trust(const config_command& x, const config::trust_store& store,
          console& io) {
  const auto judged = judge(x, io);
  if (!judged) return usage;
  const auto keep = [&](const std::string& text) {
    const auto kept =
        store.trust(judged->file, judged->text, system_wall_time());
    if (!kept) return report(kept.error(), io);
    return done(x, judged->file, true, text, io);
  };
  if (judged->trusted)
    return keep(judged->before ? "is trusted already"
                               : "needs no trust; it is kept all the same");
  if (x.yes) return keep("is trusted from now on, as it is");
  const auto keyboard = open_keyboard(false);
  if (!keyboard) {
    io.err.write(trust_text(*judged));
    io.complain("nobody can be asked here: --yes trusts it as it is");
    return usage;
  }
  if (ask_for_trust(*judged, keyboard->get(), io))
    return keep("is trusted from now on, as it is");
  io.complain("it is not trusted");
  return usage;
}

}  // namespace

int execute_trust(const config_command& x, console& io) {
  const auto store = config::trust_store::of_user();
  if (!store) return report(store.error(), io);
  if (x.list) return list(x, *store, io);
  return x.revoke ? revoke(x, *store, io) : trust(x, *store, io);
}

}  // namespace riffle::cli
