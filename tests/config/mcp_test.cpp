// SPDX-License-Identifier: MIT
// Tables [mcp.NAME]: every key arrives, every mistake is told.
#include <chrono>
#include <map>

#include "runtime/config/config.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/rule_warnings.hpp"
#include "runtime/config/trust.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

std::string value_of(const config::config& x, const config::setting& wanted) {
  for (const auto& s : config::settings(x))
    if (s.section == wanted.section && s.key == wanted.key) return s.value;
  return "missing";
}

}  // namespace

namespace {

/// A table with a key of [mcp.files.auth], and what that key needs beside it.
std::string with_auth(const std::string& key, const std::string& value) {
  std::map<std::string, std::string> all;
  const auto add = [&](const char* name, const char* text) {
    all.try_emplace(name, text);
  };
  all[key] = value;
  const bool own = key == "key_id" || key.starts_with("private_key");
  if (own) add("grant", "\"client_credentials\"");
  if (key == "key_id") add("private_key_env", "\"APP_KEY\"");
  if (key.starts_with("token")) add("grant", "\"workload_identity\"");
  if (key.starts_with("idp")) {
    add("grant", "\"enterprise\"");
    add("token_env", "\"ID_TOKEN\"");
    add("idp", "\"https://idp.example.com\"");
    add("idp_client_id", "\"app-2\"");
  }
  std::string out =
      "[mcp.files]\nurl = \"https://x.example\"\nclient_id = "
      "\"app-1\"\n";
  if (key == "grant") out += "client_secret_env = \"APP_SECRET\"\n";
  out += "[mcp.files.auth]\n";
  for (const auto& [name, text] : all) out += name + " = " + text + "\n";
  return out;
}

}  // namespace

TEST_CASE("every key of a server arrives in the configuration") {
  const std::map<std::string, std::string> values = {
      {"mcp.files.command", R"(["npx", "server"])"},
      {"mcp.files.url", R"("https://example.com/mcp")"},
      {"mcp.files.agents", R"(["default"])"},
      {"mcp.files.env", R"(["TOKEN"])"},
      {"mcp.files.variables", R"('{"A":"b"}')"},
      {"mcp.files.cwd", R"("/tmp")"},
      {"mcp.files.headers", R"('{"X":"y"}')"},
      {"mcp.files.token_env", R"("TOKEN")"},
      {"mcp.files.client_id", R"("app-1")"},
      {"mcp.files.client_secret_env", R"("APP_SECRET")"},
      {"mcp.files.auth.grant", R"("client_credentials")"},
      {"mcp.files.auth.issuer", R"("https://login.example.com")"},
      {"mcp.files.auth.scope", R"("read write")"},
      {"mcp.files.auth.dpop", R"("always")"},
      {"mcp.files.auth.private_key_file", R"("/tmp/key.pem")"},
      {"mcp.files.auth.private_key_env", R"("APP_KEY")"},
      {"mcp.files.auth.key_id", R"("key-1")"},
      {"mcp.files.auth.token_file", R"("/tmp/token")"},
      {"mcp.files.auth.token_env", R"("ID_TOKEN")"},
      {"mcp.files.auth.idp", R"("https://idp.example.com")"},
      {"mcp.files.auth.idp_client_id", R"("app-2")"},
      {"mcp.files.auth.idp_client_secret_env", R"("IDP_SECRET")"},
      {"mcp.files.trust", R"("annotations")"},
      {"mcp.files.startup_timeout", R"("5s")"},
      {"mcp.files.timeout", R"("5m")"},
      {"mcp.files.roots", R"(["/tmp"])"},
      {"mcp.files.elicitation", R"("defaults")"},
      {"mcp.files.tools.read.effect", R"("read_only")"},
      {"mcp.files.tools.read.keys", R"(["/path"])"},
      {"mcp.files.tools.read.timeout", R"("3s")"},
      {"mcp.files.tools.read.preview", R"('{"dryRun":true}')"},
  };
  const testing::temp_folder folder;
  config::config with;
  with.mcp["files"].tools["read"] = {};
  std::size_t found = 0;
  for (const auto& s : config::settings(with)) {
    if (!s.section.starts_with("mcp.")) continue;
    const auto key = s.section + "." + s.key;
    CAPTURE(key);
    REQUIRE(values.contains(key));
    ++found;
    const bool web = s.key == "headers" || s.key == "token_env" ||
                     s.key.starts_with("client_");
    const bool secret = s.key == "client_secret_env";
    auto text = "[" + s.section + "]\n" + s.key + " = " + values.at(key) + "\n";
    if (s.key != "command" && s.key != "url")
      text += std::string{"[mcp.files]\n"} +
              (web ? "url = \"http://x\"\n" : "command = [\"x\"]\n");
    if (s.section == "mcp.files" && s.key != "command" && s.key != "url")
      text = "[mcp.files]\n" + s.key + " = " + values.at(key) + "\n" +
             (web ? "url = \"http://x\"\n" : "command = [\"x\"]\n") +
             (secret ? "client_id = \"app-1\"\n" : "");
    if (s.section == "mcp.files.auth") text = with_auth(s.key, values.at(key));
    const auto x = config::load({folder.write("x.toml", text), {}, {}});
    REQUIRE(x);
    CHECK(value_of(*x, s) == values.at(key));
  }
  CHECK(found == values.size());
}

TEST_CASE("mistakes of a server's table are told") {
  const testing::temp_folder folder;
  const auto mistakes_of = [&](const std::string& text) {
    const auto x = config::load({folder.write("x.toml", text), {}, {}});
    std::string out;
    if (!x)
      for (const auto& m : x.error()) out += m.message + "\n";
    return out;
  };
  const std::vector<std::pair<std::string, std::string>> samples = {
      {"[mcp.files]\n", "mcp.files.command: is missing"},
      {"[mcp.files]\ncommand = [\"x\"]\nurl = \"http://x\"\n",
       "mcp.files.url: give either command or url"},
      {"[mcp.files]\ncommand = [\"\"]\n", "the first text is the program"},
      {"[mcp.files]\ncommand = [\"x\"]\ntoken_env = \"A\"\n",
       "only a url has a token"},
      {"[mcp.files]\ncommand = [\"x\"]\nheaders = { A = \"b\" }\n",
       "only a url has headers"},
      {"[mcp.files]\ncommand = [\"x\"]\nclient_id = \"a\"\n",
       "mcp.files.client_id: only a url has logins"},
      {"[mcp.files]\nurl = \"http://x\"\nclient_secret_env = \"A\"\n",
       "mcp.files.client_secret_env: is the secret of a client_id"},
      {"[mcp.files]\nurl = \"http://x\"\nenv = [\"A\"]\n",
       "only a command sees variables"},
      {"[mcp.files]\nurl = \"http://x\"\nvariables = { A = \"b\" }\n",
       "only a command sees variables"},
      {"[mcp.files]\nurl = \"http://x\"\ncwd = \".\"\n",
       "only a command runs in a folder"},
      {"[mcp.files]\ncommand = [\"x\"]\nenv = [\"OPENAI_API_KEY\"]\n",
       "is the key of models.default"},
      {"[mcp.files]\ncommand = [\"x\"]\nagents = [\"nobody\"]\n",
       "there is no agent \"nobody\""},
      {"[mcp.web]\nurl = \"http://x\"\nheaders = { \"Bad Name\" = \"b\" }\n",
       "mcp.web.headers: \"Bad Name\" is no name of an HTTP header"},
      {"[mcp.web]\nurl = \"http://x\"\nheaders = { A = \"b\\nC: d\" }\n",
       "\"A\" must not hold a line end"},
      {"[mcp.web]\nurl = \"http://x\"\nheaders = { A = \"${B}${C\" }\n",
       "\"A\" must name variables as in"},
      {"[mcp.web]\nurl = \"http://x\"\nheaders = { hoSt = \"b\" }\n",
       "\"hoSt\" is a header of the transport"},
      {"[mcp.web]\nurl = \"http://x\"\nheaders = { Mcp-Session-Id = \"b\" }\n",
       "\"Mcp-Session-Id\" is a header of the transport"},
      {"[mcp.web]\nurl = \"http://x\"\nheaders = { Content-Length = \"5\" }\n",
       "\"Content-Length\" says how a request is sent"},
      {"[mcp.web]\nurl = \"http://x\"\nheaders = { X-Q = \"a\", x-q = \"b\" "
       "}\n",
       "\"x-q\" stands twice"},
      {"[mcp.web]\nurl = \"http://x\"\ntoken_env = \"T\"\nheaders = { "
       "authorization = \"${B}\" }\n",
       "\"authorization\" is what token_env gives"},
      {"[mcp.a__b]\ncommand = [\"x\"]\n", "no \"__\""},
      {"[mcp.files]\ncommand = [\"x\"]\ntrust = \"all\"\n", "trust"},
  };
  for (const auto& [text, message] : samples) {
    CAPTURE(text);
    CHECK(mistakes_of(text).find(message) != std::string::npos);
  }
  CHECK(mistakes_of("[mcp.files]\ncommand = [\"x\"]\n").empty());
}

TEST_CASE("what tokens without a person need is told, and what they cannot") {
  const testing::temp_folder folder;
  const auto mistakes_of = [&](const std::string& above,
                               const std::string& auth) {
    const auto text = "[mcp.web]\n" + above + "[mcp.web.auth]\n" + auth;
    const auto x = config::load({folder.write("x.toml", text), {}, {}});
    std::string out;
    if (!x)
      for (const auto& m : x.error()) out += m.message + "\n";
    return out;
  };
  const std::string url = "url = \"https://x.example\"\n";
  const auto me = url + "client_id = \"app\"\n";
  const std::string own = "grant = \"client_credentials\"\n";
  const std::string key = "private_key_env = \"K\"\n";
  const std::string work = "grant = \"workload_identity\"\n";
  const std::string company = "grant = \"enterprise\"\n";
  struct sample {
    std::string above, auth, message;
  };
  for (const auto& [above, auth, message] : std::vector<sample>{
           {"command = [\"x\"]\n", own, "mcp.web.auth: only a url has tokens"},
           {me + "token_env = \"T\"\n", own + key,
            "mcp.web.auth.grant: the server has a token already"},
           {url + "token_env = \"T\"\n", "issuer = \"https://i.example\"\n",
            "mcp.web.auth.issuer: does nothing: the server has a token"},
           {url + "headers = { Authorization = \"${T}\" }\n",
            "dpop = \"always\"\n", "mcp.web.auth.dpop: does nothing"},
           {url + "token_env = \"T\"\n", "scope = \"read\"\n",
            "mcp.web.auth.scope: does nothing"},
           {url, own + key, "wants the client_id that this program has"},
           {me, own, "wants something that shows who asks"},
           {me + "client_secret_env = \"S\"\n", own + key,
            "mcp.web.auth.private_key_env: give either a key or"},
           {me, own + key + "private_key_file = \"k\"\n",
            "give either a file or a variable"},
           {me, key, "a login shows none"},
           {me, "key_id = \"1\"\n", "is the name of a private key"},
           {url, work, "wants a token to begin with"},
           {url, work + "token_env = \"T\"\ntoken_file = \"t\"\n",
            "mcp.web.auth.token_env: give either"},
           {me, own + key + "token_file = \"t\"\n",
            "mcp.web.auth.token_file: is what"},
           {me, company + "token_env = \"T\"\n",
            "mcp.web.auth.idp: is missing"},
           {url, work + "token_env = \"T\"\nidp = \"https://i.example\"\n",
            "is of the grant \"enterprise\" alone"},
           {me,
            company + "token_env = \"T\"\nidp = \"https://i.example\"\n"
                      "idp_client_secret_env = \"S\"\n",
            "is the secret of an idp_client_id"},
           {url, "grant = \"password\"\n", "grant"}}) {
    CAPTURE(above, auth);
    CHECK(mistakes_of(above, auth).find(message) != std::string::npos);
  }
  CHECK(mistakes_of(me, own + key).empty());
  CHECK(mistakes_of(url + "token_env = \"T\"\n", "dpop = \"auto\"\n").empty());
  CHECK(mistakes_of(url, work + "token_file = \"t\"\n").empty());
  // They are keys like any: no tool sees them, and who lacks one is told.
  config::load_request request;
  request.text = "[mcp.web]\n" + me + "[mcp.web.auth]\n" + own +
                 "private_key_env = \"NOT_SET_HERE\"\n";
  const auto x = config::load(request);
  REQUIRE(x);
  CHECK(config::key_variables(x->mcp.at("web")) ==
        std::vector<std::string>{"NOT_SET_HERE"});
  REQUIRE(config::rule_warnings(*x).size() == 1);
  CHECK(config::rule_warnings(*x)[0].find(
            "mcp.web.auth.private_key_env: the variable NOT_SET_HERE") !=
        std::string::npos);
}

TEST_CASE("tools of a server may be named by agents and have tables") {
  const testing::temp_folder folder;
  config::load_request request;
  request.tools = config::builtin_tools();
  const auto good = [&](const std::string& text) {
    request.file = folder.write("x.toml", text);
    return config::load(request).has_value();
  };
  const std::string server = "[mcp.files]\ncommand = [\"x\"]\n";
  CHECK(good(server + "[agents.default]\ntools = [\"mcp:files\"]\n"));
  CHECK(good(server + "[agents.default]\ntools = [\"files__read\"]\n"));
  CHECK(good(server + "[tools.files__read]\napproval = \"allow\"\n"));
  CHECK_FALSE(good(server + "[agents.default]\ntools = [\"mcp:other\"]\n"));
  CHECK_FALSE(good(server + "[agents.default]\ntools = [\"other__read\"]\n"));
  CHECK_FALSE(good("[agents.default]\ntools = [\"mcp:files\"]\n"));
}

TEST_CASE("what is offered to clients are tools that there are") {
  const testing::temp_folder folder;
  config::load_request request;
  request.tools = config::builtin_tools();
  const auto mistakes_of = [&](const std::string& text) {
    request.file = folder.write("x.toml", text);
    std::string out;
    if (const auto x = config::load(request); !x)
      for (const auto& m : x.error()) out += m.message + "\n";
    return out;
  };
  const std::string own =
      "[tools.own]\ntype = \"command\"\ncommand = [\"/bin/true\"]\n"
      "description = \"d\"\nparameters = { type = \"object\" }\n";
  CHECK(mistakes_of(own + "[mcp_server]\ntools = [\"read\", \"own\"]\n") == "");
  CHECK(mistakes_of("[mcp_server]\ntools = [\"reed\"]\n")
            .find("did you mean \"read\"") != std::string::npos);
  CHECK(mistakes_of("[mcp_server]\ntools = [\"complete\"]\n")
            .find("belongs to an agent's run") != std::string::npos);
  CHECK(mistakes_of("[mcp.files]\ncommand = [\"x\"]\n[mcp_server]\ntools = "
                    "[\"files__read\"]\n")
            .find("clients name that server") != std::string::npos);
  // A folder's file offers nothing before it is trusted.
  const auto needs =
      config::keys_that_need_trust("[mcp_server]\ntools = [\"bash\"]\n");
  REQUIRE(needs.size() == 1);
  CHECK(needs[0].key == "mcp_server.tools");
}

TEST_CASE("a mistyped server of an agent is told with one that there is") {
  config::load_request request;
  request.tools = config::builtin_tools();
  request.text =
      "[mcp.files]\ncommand = [\"x\"]\n"
      "[agents.default]\ntools = [\"mcp:file\"]\n";
  const auto x = config::load(request);
  REQUIRE_FALSE(x);
  REQUIRE(x.error().size() == 1);
  CHECK(x.error()[0].message.find("did you mean \"mcp:files\"?") !=
        std::string::npos);
}

TEST_CASE("a tool of a server has the settings of its server, or its own") {
  config::tools_config x;
  x.of_servers["files__"].timeout = std::chrono::minutes{5};
  x.by_name["files__own"].timeout = std::chrono::seconds{1};
  CHECK(x.of("files__read").timeout == std::chrono::minutes{5});
  CHECK(x.of("files__own").timeout == std::chrono::seconds{1});
  CHECK(x.of("others__read").timeout == x.defaults.timeout);
  CHECK(x.of("read").timeout == x.defaults.timeout);
}

TEST_CASE("servers whose names of tools look alike are told, and told apart") {
  config::load_request request;
  request.tools = config::builtin_tools();
  request.text = "[mcp.l]\ncommand = [\"x\"]\n[mcp.l_]\ncommand = [\"x\"]\n";
  const auto x = config::load(request);
  REQUIRE(x);
  const auto warnings = config::rule_warnings(*x);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("mcp.l_: with the server \"l\" beside it") !=
        std::string::npos);
  CHECK(config::server_of(*x, "l___t") == "l");  // the tool "_t"
  CHECK(config::server_of(*x, "l___t_0123abcd") == "l_");
  CHECK(config::server_of(*x, "mcp:l_") == "l_");
}

TEST_CASE("the name of a server, and its headers, have their bounds") {
  using config::mistake_in_mcp_header;
  using config::mistake_in_mcp_name;
  for (const auto* good : {"a", "my-files_2", "A"})
    CHECK(mistake_in_mcp_name(good).empty());
  for (const auto& bad :
       {std::string{}, std::string{"a b"}, std::string{"a.b"},
        std::string{"\u00e9"}, std::string{"a__b"}, std::string(33, 'a')})
    CHECK(mistake_in_mcp_name(bad).find("letters, digits, - and _") !=
          std::string::npos);
  CHECK(mistake_in_mcp_header("X-A", std::string(8192, 'a')).empty());
  CHECK(mistake_in_mcp_header("X-A", std::string(8193, 'a'))
            .find("longer than") != std::string::npos);
}
