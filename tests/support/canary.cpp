// SPDX-License-Identifier: MIT
#include "tests/support/canary.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

namespace riffle::testing {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

namespace {

/// Its first 21 characters: as they are, in base64 behind no, one and two other
/// bytes, in hexadecimal.
constexpr std::array key_forms{
    "sk-canary-4e7f0b52d9c"sv, "c2stY2FuYXJ5LTRlN2YwYjUyZDlj"sv,
    "NrLWNhbmFyeS00ZTdmMGI1MmQ5Y"sv, "zay1jYW5hcnktNGU3ZjBiNTJkOW"sv,
    "736b2d63616e6172792d3465376630623532643963"sv};

constexpr std::size_t longest_form = 64;
static_assert(std::ranges::all_of(key_forms, [](auto x) {
  return x.size() > 16 && x.size() < longest_form;
}));
static_assert(provider_key.starts_with(key_forms[0]));

bool file_holds_it(const fs::path& file) {
  constexpr std::size_t piece = 1u << 20;
  std::ifstream in{file, std::ios::binary};
  std::string text;
  while (in) {
    // A form may stand across two pieces.
    text.erase(0, text.size() - std::min(text.size(), longest_form));
    const auto known = text.size();
    text.resize(known + piece);
    in.read(text.data() + known, piece);
    text.resize(known + static_cast<std::size_t>(in.gcount()));
    if (holds_provider_key(text)) return true;
  }
  return false;
}

}  // namespace

bool holds_provider_key(std::string_view text) {
  return std::ranges::any_of(key_forms, [&](std::string_view form) {
    return ::memmem(text.data(), text.size(), form.data(), form.size()) !=
           nullptr;
  });
}

std::vector<std::string> files_with_provider_key(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code gone;
  fs::recursive_directory_iterator i{
      folder, fs::directory_options::skip_permission_denied, gone};
  for (; !gone && i != fs::recursive_directory_iterator{}; i.increment(gone)) {
    std::error_code none;
    if (i->symlink_status(none).type() == fs::file_type::regular &&
        file_holds_it(i->path()))
      found.push_back(i->path().string());
  }
  return found;
}

}  // namespace riffle::testing
