// SPDX-License-Identifier: MIT
#pragma once

// Exceptions where an actor handles a message.

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/actors/fixture.hpp"

namespace riffle::testing {

/// Names of the handlers of an actor, read from its shell.
inline std::set<std::string> handlers_of(const std::string& actor) {
  const std::string folder{RIFFLE_SOURCE_DIR "/actors/"};
  std::ifstream in{folder + "process/" + actor + ".cpp"};
  if (!in) in.open(folder + "tools/" + actor + ".cpp");
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const std::regex name{"\"(" + actor + "\\.[a-z_]+)\""};
  std::set<std::string> names;
  for (std::sregex_iterator i{text.begin(), text.end(), name}, end; i != end;
       ++i)
    names.insert((*i)[1]);
  return names;
}

struct fault {
  std::string handler;
  int skip = 0;
  bool fired = false;

  fault_hook hook() {
    return [this](const std::string& at) {
      if (at != handler || fired || skip-- > 0) return;
      fired = true;
      throw std::runtime_error{"a fault in " + at};
    };
  }
};

inline void kill_pool(actor_fixture& x, const std::string& tool) {
  caf::anon_send_exit(x.pools.at(tool), caf::exit_reason::kill);
}

}  // namespace riffle::testing
