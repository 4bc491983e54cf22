// SPDX-License-Identifier: MIT
#include "runtime/base/digest.hpp"

#include <array>

#include <openssl/evp.h>

#include "messages/json_strict.hpp"

namespace riffle {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), hash.data(), &size, EVP_sha256(),
             nullptr);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * std::size_t{size});
  for (unsigned int i = 0; i < size; ++i) {
    text += digits[hash[i] >> 4U];
    text += digits[hash[i] & 15U];
  }
  return text;
}

std::string proposal_digest(std::string_view tool, std::string_view arguments) {
  std::string text{tool};
  text += '\n';
  if (const auto value = parse_strict(arguments))
    text +=
        value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  else
    text += arguments;
  return sha256(text);
}

}  // namespace riffle
