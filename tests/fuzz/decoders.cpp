// SPDX-License-Identifier: MIT
// A libFuzzer harness for the decoders of all dialects with their framing: an
// input is the body of an answer. In one piece and in pieces of any size it has
// to say the same.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/message_assembler.hpp"
#include "runtime/model/dialect.hpp"

namespace {

using namespace riffle;

/// What an answer said, whatever the pieces in which it came.
struct reading {
  core::message_assembler message;
  std::vector<call_fragment> calls;

  void add(const turn_delta& x) {
    message.add(x);
    for (const auto& fragment : x.fragments) add(fragment);
  }

  /// Arguments come in as many fragments as there were pieces.
  void add(const call_fragment& x) {
    const bool more = !calls.empty() && !calls.back().closes &&
                      calls.back().choice == x.choice &&
                      calls.back().index == x.index && x.id.empty() &&
                      x.name.empty() && !x.arguments_whole &&
                      !calls.back().arguments_whole;
    if (!more) return calls.push_back(x);
    calls.back().arguments += x.arguments;
    calls.back().closes = x.closes;
  }
};

bool same(const reading& x, const reading& y) {
  const auto& a = x.message;
  const auto& b = y.message;
  return a.text() == b.text() && a.reasoning() == b.reasoning() &&
         a.refusal() == b.refusal() && a.state() == b.state() &&
         a.finish() == b.finish() && a.done() == b.done() &&
         a.failure() == b.failure() && a.usage() == b.usage() &&
         x.calls == y.calls;
}

/// `next`: the size of the next piece, at least 1.
template <class F>
reading read(const model::dialect& dialect, std::string_view bytes, F next) {
  reading out;
  const auto decoder = dialect.make_decoder();
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, next());
    turn_delta delta;
    decoder->feed(piece, delta);
    out.add(delta);
    bytes.remove_prefix(piece.size());
  }
  turn_delta delta;
  decoder->end(delta);
  out.add(delta);
  return out;
}

void describe(const char* how, const reading& x) {
  std::fprintf(stderr, "%s: text %zu, reasoning %zu, calls %zu, done %d\n", how,
               x.message.text().size(), x.message.reasoning().size(),
               x.calls.size(), x.message.done() ? 1 : 0);
  std::fprintf(stderr, "  text: %s\n  state: %s\n", x.message.text().c_str(),
               x.message.state().c_str());
  if (x.message.failure())
    std::fprintf(stderr, "  failure: %s\n",
                 x.message.failure()->message.c_str());
  for (const auto& c : x.calls)
    std::fprintf(stderr, "  call %s %s %s %d\n", c.id.c_str(), c.name.c_str(),
                 c.arguments.c_str(), c.closes ? 1 : 0);
}

void check(const std::string& name, std::string_view bytes) {
  const auto dialect = model::make_dialect(name);
  const auto whole = read(*dialect, bytes, [&] { return bytes.size(); });
  std::minstd_rand random{
      static_cast<unsigned>(std::hash<std::string_view>{}(bytes))};
  const auto most = 1 + random() % 64;
  const auto cut = read(*dialect, bytes, [&] { return 1 + random() % most; });
  const auto single = read(*dialect, bytes, [] { return std::size_t{1}; });
  for (const auto* other : {&cut, &single}) {
    if (same(whole, *other)) continue;
    std::fprintf(stderr, "%s: pieces say something else\n", name.c_str());
    describe("whole", whole);
    describe("in pieces", *other);
    std::abort();
  }
}

/// $RIFFLE_FUZZ: one of them; nothing: all.
std::vector<std::string> chosen() {
  const auto* name = std::getenv("RIFFLE_FUZZ");
  if (name != nullptr && *name != '\0') return {name};
  return {"openai", "anthropic", "responses", "ollama"};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const auto names = chosen();
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  for (const auto& name : names) check(name, bytes);
  return 0;
}
