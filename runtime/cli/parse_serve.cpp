// SPDX-License-Identifier: MIT
// riffle serve
#include "runtime/cli/help.hpp"
#include "runtime/cli/parser.hpp"

namespace riffle::cli {

void parser::add_serve() {
  auto* x = app.add_subcommand("serve", "Serve runs over HTTP");
  x->footer(help::serve);
  x->add_option("--listen", raw.listen,
                "Where to listen, instead of server.listen; port 0: any")
      ->type_name("HOST:PORT");
  x->add_flag("--no-token", serve.no_token,
              "Whoever reaches it may do everything; on loopback only");
  add_common(*x);
  auto* token = x->add_subcommand("token", "Make a token for somebody");
  token->footer(help::serve);
  token->add_option("NAME", serve.token_for, "Who it is for")->required();
  add_common(*token);
  for (auto* sub : {x, token})
    sub->final_callback([this] {
      serve.common = finish_common();
      if (!raw.listen.empty())
        serve.common.sets.push_back("server.listen=\"" + raw.listen + "\"");
      result = serve;
    });
}

}  // namespace riffle::cli
