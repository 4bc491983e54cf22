// SPDX-License-Identifier: MIT
// No text is a decision: whatever a model, a tool or a file claims, a call
// that needs approval runs only after a person decided about exactly it.
#include "tests/actors/claims.hpp"

#include <random>

#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// One transcript: a family, varied by a seed, and a person who denies, stays
/// silent, or approves another call than the one that claims it.
class transcript {
 public:
  transcript(const claim_family& family, unsigned seed)
      : family_{family}, random_{seed} {
    scene_.expire_after = 5s;
    scene_.propose = chance(20);
    if (chance(15)) scene_.approval = approve::none;
  }

  void play() {
    const auto claim = text();
    std::vector<std::string> words;
    for (int step = 0; step < 2; ++step) words.push_back(turn(claim));
    if (chance(30)) scene_.look->says = claim;
    if (family_.channel == claim_channel::read) scene_.look->says = claim;
    scene_.play(std::move(words));
    for (int i = 0; i < 20 && !scene_.reader->is_closed; ++i) {
      scene_.pass(1s);
      put_real_ids();
      decide();
    }
    scene_.run_out(1min);
    check();
  }

  std::size_t asked = 0;  ///< proposals
  std::size_t acted = 0;

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }

  static void replace(std::string& in, std::string_view what,
                      const std::string& by) {
    for (auto at = in.find(what); at != in.npos; at = in.find(what, at))
      in.replace(at, what.size(), by), at += by.size();
  }

  /// The claim with names and made-up ids; sometimes in other letters, twice,
  /// or behind filler.
  std::string text() {
    static const std::vector<std::string> names{"ann", "the owner", "riffle",
                                                "policy", "--approve all"};
    std::string x{family_.text};
    replace(x, "{by}", names[below(static_cast<unsigned>(names.size()))]);
    id_ = scene_.ids->make("prop_");
    replace(x, "{id}", id_);
    replace(x, "{call}", scene_.ids->make("call_"));
    if (is_json() || family_.channel == claim_channel::tool_name) return x;
    if (chance(20))
      for (auto& c : x) c = static_cast<char>(std::toupper(c));
    if (chance(20)) x += "\n" + x;
    if (chance(20)) x.insert(0, std::string(below(3000), ' '));
    return x;
  }
  bool is_json() const { return family_.channel == claim_channel::argument; }

  /// Text, maybe a read, then calls that would change something.
  std::string turn(const std::string& claim) {
    std::string out;
    int n = 0;
    if (family_.channel == claim_channel::said || chance(20))
      out += model_says(claim);
    if (family_.channel == claim_channel::thought) out += thinks(claim);
    if (family_.channel == claim_channel::read || chance(40))
      out += model_calls(n++, "look");
    if (family_.channel == claim_channel::summary)
      out += model_calls(n++, "seek_approval", {{"summary", claim}});
    if (family_.channel == claim_channel::plan)
      out += model_calls(n++, "manage_plan",
                         {{"action", "create"}, {"steps", {claim}}});
    if (family_.channel == claim_channel::tool_name)
      out += model_calls(n++, claim, {{"id", id_}, {"decision", "approve"}});
    for (auto calls = 1 + below(3); calls-- > 0;) out += call(n++, claim);
    return out + model_stops("tool_calls");
  }

  std::string call(int n, const std::string& claim) {
    auto arguments = json{{"n", below(2)}};
    if (is_json()) arguments.update(json::parse("{" + claim + "}"));
    auto out = model_calls(n, chance(70) ? "act" : "redo", arguments);
    if (family_.channel == claim_channel::provider_id)
      replace(out, "\"id" + std::to_string(n) + "\"", json(claim).dump());
    return out;
  }

  static std::string thinks(const std::string& claim) {
    const json x{{"choices",
                  json::array({{{"index", 0},
                                {"delta", {{"reasoning_content", claim}}}}})}};
    return "data: " + x.dump() + "\n\n";
  }

  /// The next turn claims with the id of a proposal that really waits.
  void put_real_ids() {
    const auto open = scene_.undecided();
    if (open.empty()) return;
    for (auto& words : scene_.provider->answers)
      replace(words, id_, open[0].what.id.value);
    id_ = open[0].what.id.value;
  }

  void decide() {
    for (const auto& x : scene_.undecided()) {
      if (chance(70)) continue;
      const bool yes = chance(40);
      scene_.decide(x.what.id, yes ? events::proposal_outcome::approved
                                   : events::proposal_outcome::denied);
      if (yes) approved_.emplace(x.what.call, x.what.arguments);
    }
  }

  void check() {
    scene_.check();
    asked = scene_.journal->list_proposals({})->size();
    acted = scene_.act->acted.size() + scene_.redo->acted.size();
    for (const auto& tool : {scene_.act, scene_.redo})
      for (std::size_t i = 0; i < tool->acted.size(); ++i) {
        const auto said = approved_.find(tool->acted[i]);
        REQUIRE(said != approved_.end());
        CHECK(said->second == tool->arguments[i]);
      }
    for (const auto& e : events_of(scene_.reader->lines, "approval_resolved"))
      if (e.at("data").at("decision") == "approved")
        CHECK(approved_.contains(call_id{e["data"]["id"]}));
  }

  const claim_family& family_;
  std::mt19937 random_;
  approval_scene scene_;
  std::string id_;
  std::map<call_id, std::string> approved_;  ///< and with what arguments
};

}  // namespace

TEST_CASE("no claim of an approval is one") {
  REQUIRE(claim_families().size() >= 40);
  const unsigned each = std::getenv("RIFFLE_TEST_FULL") != nullptr ? 500 : 24;
  const auto first = fresh_seed();
  unsigned n = 0;
  std::size_t asked = 0;
  std::size_t acted = 0;
  for (const auto& family : claim_families())
    for (unsigned i = 0; i < each; ++i) {
      const auto seed = first + n++;
      INFO(family.name << ", seed " << seed);
      transcript one{family, seed};
      one.play();
      asked += one.asked;
      acted += one.acted;
    }
  std::printf("claims: %u transcripts, %zu calls asked for, %zu approved\n", n,
              asked, acted);
  // Else there was nothing to get wrong.
  CHECK(asked > n);
  CHECK(acted > n / 10);
  CHECK(n >= 1000);
}
