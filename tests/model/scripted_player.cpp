// SPDX-License-Identifier: MIT
#include "tests/model/scripted_player.hpp"

#include <utility>

#include "tests/support/catch.hpp"

namespace riffle::testing {

understood understand(const std::vector<std::string>& reads,
                      std::size_t piece) {
  const auto decoder = model::make_openai_dialect()->make_decoder();
  understood out;
  const auto take = [&out](const turn_delta& delta) {
    out.message.add(delta);
    for (const auto& x : delta.fragments) out.calls.on_fragment(x);
  };
  for (const std::string_view read : reads) {
    for (std::size_t at = 0; at < read.size(); at += piece) {
      turn_delta delta;
      decoder->feed(read.substr(at, piece), delta);
      take(delta);
    }
  }
  turn_delta delta;
  decoder->end(delta);
  take(delta);
  return out;
}

script_player::script_player(std::string_view toml) {
  auto script =
      model::parse_script(toml, model::script_format::toml, "test.toml");
  if (!script) FAIL(script.error().message);
  transport = model::make_scripted_transport(*std::move(script), clock);
}

std::shared_ptr<recording_listener> script_player::open(std::string body,
                                                        std::size_t credit) {
  auto listener = std::make_shared<recording_listener>();
  model::transport_request request;
  request.body = std::move(body);
  request.credit = credit;
  last_id = transport->open(std::move(request), listener);
  CHECK(listener->reads.empty());
  return listener;
}

std::shared_ptr<recording_listener> script_player::play(std::string body) {
  auto listener = open(std::move(body));
  clock.pass(std::chrono::hours{1});
  REQUIRE(listener->ends == 1);
  return listener;
}

std::string request_with(const std::vector<std::string>& messages,
                         bool streaming) {
  const auto dialect = model::make_openai_dialect();
  model::request_options options;
  options.model = "m";
  options.streaming = streaming;
  auto body = dialect->request_head(options);
  for (const auto& x : messages) {
    if (body.back() != '[') body += ',';
    body += x;
  }
  return body + dialect->request_tail(options);
}

std::string user(std::string_view text) {
  return model::make_openai_dialect()->user_message(text);
}

std::string assistant(const std::vector<std::string>& tools) {
  std::vector<model::told_call> calls;
  for (const auto& x : tools) calls.push_back({"id", x, "{}"});
  return model::make_openai_dialect()->assistant_message(
      {.text = "", .calls = calls});
}

std::string tool_result(std::string_view text) {
  return model::make_openai_dialect()->tool_message("id", "tool", text);
}

}  // namespace riffle::testing
