// SPDX-License-Identifier: MIT
// riffle mcp
#include "messages/duration_text.hpp"
#include "runtime/cli/help.hpp"
#include "runtime/cli/parser.hpp"

namespace riffle::cli {

namespace {

std::string check_wait(const std::string& text) {
  const auto x = parse_duration(text);
  if (x && *x > duration{}) return {};
  return "\"" + text + "\" is not a duration such as 90s or 5m";
}

template <class Text>
void add_approval_of_runs(CLI::App& sub, Text& to) {
  sub.add_option("--approve", to,
                 "What its runs do where a person would be asked (default: "
                 "none, calls that need approval are denied)")
      ->type_name("ask|all|none")
      ->check(CLI::IsMember({"ask", "all", "none"}));
}

CLI::Option* add_server_name(CLI::App& sub, mcp_command& x) {
  return sub.add_option("NAME", x.name, "The server");
}

void add_approve_options(CLI::App& sub, mcp_command& x) {
  add_server_name(sub, x)->required();
  sub.add_flag("--yes", x.yes, "Approve them without being asked");
}

void add_import_options(CLI::App& sub, mcp_command& x) {
  sub.add_option("FILE", x.file,
                 "Its JSON: .mcp.json, .vscode/mcp.json, "
                 "claude_desktop_config.json")
      ->required();
}

}  // namespace

void parser::add_mcp() {
  auto* x = app.add_subcommand(
      "mcp", "Servers of the Model Context Protocol, and their tools");
  x->require_subcommand(1);
  x->footer(help::mcp);
  using what = mcp_command::what;
  const auto add = [&](const char* name, const char* about, what action) {
    auto* sub = x->add_subcommand(name, about);
    sub->footer(help::mcp);
    add_common(*sub);
    sub->final_callback([this, action] {
      mcp.common = finish_common();
      mcp.action = action;
      mcp.approval = finish_choices().approval.value_or(approve::none);
      result = mcp;
    });
    return sub;
  };
  add_mcp_add(*add("add", "Write a server into the configuration", what::add));
  add("list", "Every server: its state, version and tools", what::list);
  auto* tools = add("tools", "The tools of one server, or of all", what::tools);
  add_server_name(*tools, mcp);
  tools->add_option("TOOL", mcp.tool,
                    "This one alone: all that is known of it, and what it "
                    "takes");
  add_mcp_call(*add("call", "Run one tool of a server by hand", what::call));
  add_approve_options(
      *add("approve", "Look at a server's tools, and let them count",
           what::approve),
      mcp);
  add_server_name(
      *add("remove", "Take a server out of the configuration", what::remove),
      mcp)
      ->required();
  add_import_options(
      *add("import", "Take servers over from another client's file",
           what::import),
      mcp);
  add_approval_of_runs(
      *add("serve", "Be such a server: runs, sessions and outputs, over stdin",
           what::serve),
      raw.approval);
  add_mcp_read(*add("read", "Print a resource of a server", what::read));
  add_mcp_login(*add("login", "Log in at a server over HTTP", what::login));
  add_server_name(*add("logout", "Forget the login at a server", what::logout),
                  mcp)
      ->required();
}

void parser::add_mcp_login(CLI::App& sub) {
  sub.add_option("NAME", mcp.name, "The server")->required();
  sub.add_option("--scope", mcp.scope,
                 "What the token is to allow, names between blanks (default: "
                 "what the server asks for)");
  sub.add_option("--client-id", mcp.client_id,
                 "A program that the authorization server knows (default: "
                 "Riffle is registered there)")
      ->type_name("ID");
  sub.add_option("--client-secret-env", mcp.client_secret_env,
                 "The variable that holds its secret, if it has one")
      ->type_name("NAME")
      ->needs("--client-id");
  sub.add_option("--port", mcp.port,
                 "Where the browser brings the answer, on 127.0.0.1 (default: "
                 "a free port)")
      ->type_name("N");
  sub.add_flag("--no-browser", mcp.no_browser,
               "Print the page's address, and open nothing");
  sub.add_option_function<std::string>(
         "--timeout",
         [this](const std::string& text) {
           mcp.limit = parse_duration(text).value_or(mcp.limit);
         },
         "Longest wait for your answer (default: 5m)")
      ->type_name("DURATION")
      ->check(CLI::Validator{check_wait, ""});
}

void parser::add_mcp_read(CLI::App& sub) {
  sub.add_option("URI", mcp.uri, "The resource; without it: what there is");
  sub.add_option("--server", mcp.name, "Of this server only")
      ->type_name("NAME");
}

void parser::add_mcp_call(CLI::App& sub) {
  sub.add_option("NAME", mcp.name, "The server")->required();
  sub.add_option("TOOL", mcp.tool, "The tool, as its server names it")
      ->required();
  sub.add_option("JSON", mcp.arguments,
                 "Its arguments, an object; '-' reads standard input");
}

void parser::add_mcp_add(CLI::App& sub) {
  sub.add_option("NAME", mcp.name, "What its tools begin with")->required();
  auto* words = sub.add_option("COMMAND", mcp.words,
                               "The program and its arguments, behind \"--\"");
  sub.add_option("--url", mcp.url, "Where it is reached, instead of a command")
      ->type_name("URL")
      ->excludes(words);
  sub.add_option("--env", mcp.env, "A variable that it sees; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  sub.add_option("--header", mcp.headers,
                 "A header of each request, such as 'X-Key=${VARIABLE}'; may "
                 "be repeated")
      ->type_name("NAME=VALUE")
      ->needs("--url")
      ->allow_extra_args(false);
  sub.add_option("--token-env", mcp.token_env,
                 "The variable that holds the bearer token of the URL")
      ->type_name("NAME")
      ->needs("--url");
  sub.add_option_function<std::string>(
         "--timeout",
         [this](const std::string& text) {
           mcp.call_limit = parse_duration(text).value_or(mcp.call_limit);
         },
         "Longest time of each call of its tools (default: tools.timeout)")
      ->type_name("DURATION")
      ->check(CLI::Validator{check_wait, ""});
  sub.add_option("--agent", mcp.agents,
                 "An agent that gets its tools (default: default)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  sub.add_flag("--trust", mcp.trusts,
               "What its tools say of their effects counts");
}

}  // namespace riffle::cli
