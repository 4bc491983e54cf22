// SPDX-License-Identifier: MIT
// What one answer may cost in memory, whatever a provider sends: the peak of
// the real program, over what it needs for a short answer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/packed.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::size_t allowed_mib = 64;
/// Where the limit of a turn alone would keep it below that.
constexpr std::size_t allowed_short_mib = 24;

/// 1 GiB in the long form.
std::size_t much() {
  const char* all = std::getenv("RIFFLE_TORTURE");
  return all != nullptr && *all != '\0' ? 1024 * mib : 50 * mib;
}

std::string text_chunk(const json& delta) {
  const json x{{"choices", json::array({{{"index", 0}, {"delta", delta}}})}};
  return "data: " + x.dump() + "\n\n";
}

std::string arguments_chunk(const std::string& text) {
  return text_chunk(
      {{"tool_calls",
        json::array({{{"index", 0}, {"function", {{"arguments", text}}}}})}});
}

/// Peak memory of a run whose provider answers so first, in MiB.
std::size_t peak_of(const std::function<http_reply()>& first,
                    const std::string& dialect = "openai") {
  const work_folder folder;
  int asked = 0;
  http_server server{[&](const http_request&) {
    return asked++ == 0 ? first() : respond_sse(answer("The end."));
  }};
  folder.configure(server.url("/v1"),
                   "model = \"m\"\ncontext_window = 100000\n"
                   "retry = { max_attempts = 1 }\ndialect = \"" +
                       dialect + "\"\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  CHECK(end.status < 2);
  checked_events(end.out);
  return end.peak_kib / 1024;
}

http_reply endless(const std::string& begin, const std::string& unit) {
  auto reply = http_reply::sse();
  reply.send(begin);
  reply.repeat(unit, much() / unit.size() + 1);
  return reply;
}

void stays_small(const char* what, const std::function<http_reply()>& reply,
                 std::size_t allowed = allowed_mib,
                 const std::string& dialect = "openai") {
  const auto base = peak_of([] { return respond_sse(answer("Short.")); });
  auto peak = peak_of(reply, dialect);
  // The best of three: beside other work what was freed is given back late.
  for (int again = 0; again < 2 && peak > base + allowed; ++again)
    peak = std::min(peak, peak_of(reply, dialect));
  std::printf("memory: %s: %zu MiB over %zu\n", what, peak - base, base);
  CHECK(base > 5);
  CHECK(peak <= base + allowed);
}

}  // namespace

TEST_CASE("an answer costs no more memory than allowed", "[torture]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return skip("a sanitizer's own memory hides the program's");
#endif
  const std::string page(4000, 'x');
  SECTION("text") {
    stays_small("text",
                [&] { return endless("", text_chunk({{"content", page}})); });
  }
  SECTION("text of characters that are longer when written") {
    stays_small("text to be escaped", [&] {
      return endless("", text_chunk({{"content", std::string(4000, '\x01')}}));
    });
  }
  SECTION("reasoning") {
    stays_small("reasoning", [&] {
      return endless("", text_chunk({{"reasoning_content", page}}));
    });
  }
  SECTION("arguments of a call") {
    stays_small("arguments", [&] {
      return endless(call(0, "a", "write", json::object()),
                     arguments_chunk(page));
    });
  }
  SECTION("arguments of a few bytes each") {
    stays_small("short arguments", [&] {
      return endless(call(0, "a", "write", json::object()),
                     arguments_chunk(" "));
    });
  }
  SECTION("ids of calls") {
    const auto reply = [] {
      std::string all;
      for (int i = 0; i < 60; ++i)
        all += call(i, std::to_string(i) + std::string(2'000'000, 'y'), "read",
                    {{"path", "x"}});
      return http_reply::sse().send(all).send(finish("tool_calls"));
    };
    stays_small("ids", reply, allowed_short_mib);
  }
  SECTION("names of calls") {
    const auto reply = [] {
      std::string all;
      for (int i = 0; i < 400; ++i)  // of which some stand behind the limit
        all += call(i, std::to_string(i), std::string(600'000, 'n'), json{});
      return http_reply::sse().send(all).send(finish("tool_calls"));
    };
    stays_small("names", reply, allowed_short_mib);
  }
  SECTION("calls, as many as are looked at and more") {
    const auto reply = [] {
      std::string all;
      for (int i = 0; i < 6000; ++i)
        all += call(i, std::to_string(i), "read",
                    {{"path", std::string(235, 'x')}});
      return http_reply::sse().send(all).send(finish("tool_calls"));
    };
    stays_small("calls", reply);
  }
  SECTION("what is compressed to a thousandth") {
    stays_small(
        "a bomb", [] { return packed(gzip_bomb(much() >> 16)); },
        allowed_short_mib);
    stays_small(
        "a bomb as an error",
        [] {
          return packed(gzip_bomb(much() >> 16), "gzip", "text/html", 500);
        },
        allowed_short_mib);
  }
  SECTION("fragments of nothing") {
    stays_small("empty fragments",
                [&] { return endless("", arguments_chunk("")); });
  }
  SECTION("a line without an end") {
    stays_small("one line", [&] { return endless("data: {\"x\":\"", page); });
  }
  SECTION("a document without an end") {
    stays_small("one document", [&] {
      auto reply = http_reply{200, http_reply::framing::chunked};
      reply.header("content-type", "application/json");
      reply.send("{\"choices\":[");
      reply.repeat("0,", much() / 2);
      return reply;
    });
  }
  SECTION("numbers, as many as an event holds") {
    std::string numbers;
    while (numbers.size() < 2 * mib - 1000) numbers += "0,";
    stays_small("numbers", [&] {
      return http_reply::sse()
          .send("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"x\":[" +
                numbers + "0],\"y\":\"\\ud83d\"}\n\n")
          .send(answer("x"));
    });
  }
  SECTION("an error without an end") {
    stays_small("an error", [&] {
      auto reply = http_reply{400, http_reply::framing::chunked};
      reply.repeat(page, much() / page.size());
      return reply;
    });
  }
}

// -- what is kept of an answer to be sent back --------------------------------

namespace {

/// Of events that differ: as many as `repeat` would send, up to this.
constexpr std::size_t most_different = 100 * mib;

/// `begin`, then units that are made from their number, then `end`.
http_reply flood_of(const std::string& begin,
                    const std::function<std::string(int)>& unit,
                    std::size_t bytes = most_different,
                    const std::string& end = {}) {
  std::string all = begin;
  for (int i = 0; all.size() < std::min(bytes, much()); ++i) all += unit(i);
  return http_reply::sse().send(all + end);
}

std::string flood_event(const json& x) {
  return "event: " + x.at("type").get<std::string>() + "\ndata: " + x.dump() +
         "\n\n";
}

const std::string flood_start =
    flood_event({{"type", "message_start"},
                 {"message", {{"id", "m"}, {"content", json::array()}}}});

std::string flood_block(int index, const json& what) {
  return flood_event({{"type", "content_block_start"},
                      {"index", index},
                      {"content_block", what}});
}

std::string flood_delta(int index, const json& what) {
  return flood_event(
      {{"type", "content_block_delta"}, {"index", index}, {"delta", what}});
}

std::string flood_stop(int index) {
  return flood_event({{"type", "content_block_stop"}, {"index", index}});
}

std::string flood_end(const std::string& reason) {
  return flood_event({{"type", "message_delta"},
                      {"delta", {{"stop_reason", reason}}}}) +
         flood_event({{"type", "message_stop"}});
}

const std::string flood_thought =
    flood_start + flood_block(0, {{"type", "thinking"}, {"thinking", ""}});

std::string flood_details(const json& x) {
  return text_chunk({{"reasoning_details", json::array({x})}});
}

std::string reasoning_item(int index, const std::string& secret) {
  return flood_event({{"type", "response.output_item.done"},
                      {"output_index", index},
                      {"item",
                       {{"type", "reasoning"},
                        {"id", "i" + std::to_string(index)},
                        {"summary", json::array()},
                        {"encrypted_content", secret}}}});
}

const std::string flood_created =
    flood_event({{"type", "response.created"}, {"response", {{"id", "r"}}}});

}  // namespace

TEST_CASE("what is kept of an answer costs no more memory", "[torture]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return skip("a sanitizer's own memory hides the program's");
#endif
  const std::string page(4000, 'x');
  const auto stays = [](const char* what, const std::string& dialect,
                        const std::function<http_reply()>& reply) {
    stays_small(what, reply, allowed_mib, dialect);
  };
  SECTION("a signature") {
    stays("signature", "anthropic", [&] {
      return endless(flood_thought, flood_delta(0, {{"type", "signature_delta"},
                                                    {"signature", page}}));
    });
  }
  SECTION("the same thought again and again") {
    stays("one thought", "anthropic", [&] {
      return endless(flood_thought, flood_delta(0, {{"type", "thinking_delta"},
                                                    {"thinking", page}}));
    });
  }
  SECTION("blocks that nobody can read") {
    stays("blocks", "anthropic", [&] {
      return flood_of(flood_start, [&](int i) {
        return flood_block(i, {{"type", "redacted_thinking"}, {"data", page}}) +
               flood_stop(i);
      });
    });
  }
  SECTION("blocks of almost nothing") {
    stays("small blocks", "anthropic", [&] {
      return flood_of(flood_start,
                      [](int i) { return flood_block(i, {{"type", "x"}}); });
    });
  }
  SECTION("citations of numbers") {
    const json numbers(std::vector<int>(2000, 0));
    stays("citations", "anthropic", [&] {
      return endless(
          flood_start + flood_block(0, {{"type", "text"}, {"text", ""}}),
          flood_delta(0, {{"type", "citations_delta"},
                          {"citation", {{"x", numbers}}}}));
    });
  }
  SECTION("input of a tool that runs at the provider") {
    stays("input", "anthropic", [&] {
      return endless(flood_start + flood_block(0, {{"type", "server_tool_use"},
                                                   {"id", "a"},
                                                   {"name", "web"},
                                                   {"input", json::object()}}),
                     flood_delta(0, {{"type", "input_json_delta"},
                                     {"partial_json", page}}));
    });
  }
  SECTION("tools that run at the provider, without results, told at the end") {
    stays("paused tools", "anthropic", [&] {
      return flood_of(
          flood_start,
          [&](int i) {
            return flood_block(i, {{"type", "server_tool_use"},
                                   {"id", std::to_string(i)}}) +
                   flood_stop(i);
          },
          2 * mib, flood_end("end_turn"));
    });
  }
  SECTION("as much as is kept, then its end") {
    stays("kept to the end", "anthropic", [&] {
      return flood_of(
          flood_thought,
          [&](int) {
            return flood_delta(
                0, {{"type", "signature_delta"}, {"signature", page}});
          },
          4 * mib - 200'000,
          flood_stop(0) +
              flood_block(1, {{"type", "text"}, {"text", "The end."}}) +
              flood_stop(1) + flood_end("end_turn"));
    });
  }
  SECTION("items that nobody can read") {
    stays("items", "responses", [&] {
      return flood_of(flood_created,
                      [&](int i) { return reasoning_item(i, page); });
    });
  }
  SECTION("the same item again and again") {
    stays("one item", "responses",
          [&] { return endless(flood_created, reasoning_item(0, page)); });
  }
  SECTION("items of almost nothing") {
    stays("small items", "responses", [&] {
      return flood_of(flood_created, [](int i) {
        return flood_event({{"type", "response.reasoning_summary_text.delta"},
                            {"output_index", i},
                            {"delta", ""}});
      });
    });
  }
  SECTION("details of reasoning, many") {
    stays("details", "openai", [&] {
      return flood_of("", [&](int i) {
        return flood_details({{"type", "reasoning.encrypted"},
                              {"index", i},
                              {"id", "x" + std::to_string(i)},
                              {"data", page}});
      });
    });
  }
  SECTION("details of reasoning, one") {
    stays("one detail", "openai", [&] {
      return endless(
          "", flood_details(
                  {{"type", "reasoning.text"}, {"index", 0}, {"text", page}}));
    });
  }
  SECTION("fields of calls that nobody knows") {
    stays("fields of calls", "openai", [&] {
      return flood_of("", [&](int i) {
        return text_chunk(
            {{"tool_calls", json::array({{{"index", i}, {"x", page}}})}});
      });
    });
  }
  SECTION("the same thought again and again, a line each") {
    stays("lines", "ollama", [&] {
      return endless("", json{{"message", {{"thinking", page}}}}.dump() + "\n");
    });
  }
}
