// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/types.h>
#include <vector>

namespace riffle {

/// What /proc/PID/stat says of a process, behind its name, which may hold
/// blanks.
class proc_stat {
 public:
  explicit proc_stat(pid_t pid) {
    std::ifstream in{"/proc/" + std::to_string(pid) + "/stat"};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    const auto name_end = text.rfind(')');
    if (name_end == text.npos) return;
    std::istringstream words{text.substr(name_end + 1)};
    for (std::string x; words >> x;) words_.push_back(std::move(x));
  }

  /// By its number in proc(5): the state is 3. Empty: it is not known.
  [[nodiscard]] std::string word(std::size_t number) const {
    constexpr std::size_t first = 3;
    return number - first < words_.size() ? words_[number - first] : "";
  }
  [[nodiscard]] unsigned long long number(std::size_t number) const {
    return std::strtoull(word(number).c_str(), nullptr, 10);
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace riffle
