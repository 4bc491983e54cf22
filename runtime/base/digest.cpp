// SPDX-License-Identifier: MIT
#include "runtime/base/digest.hpp"

#include <array>

#include <openssl/evp.h>

#include "messages/json_strict.hpp"
#include "runtime/base/encoding.hpp"

namespace riffle {

namespace {

EVP_MD_CTX* md(void* x) { return static_cast<EVP_MD_CTX*>(x); }

}  // namespace

sha256_stream::sha256_stream() : context_{EVP_MD_CTX_new()} {
  EVP_DigestInit_ex(md(context_), EVP_sha256(), nullptr);
}

sha256_stream::~sha256_stream() { EVP_MD_CTX_free(md(context_)); }

void sha256_stream::add(std::string_view bytes) {
  EVP_DigestUpdate(md(context_), bytes.data(), bytes.size());
}

std::string sha256_stream::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(md(context_), hash.data(), &size);
  return hex_text({reinterpret_cast<const char*>(hash.data()), size});
}

std::string sha256(std::string_view bytes) {
  sha256_stream x;
  x.add(bytes);
  return x.finish();
}

/// Each part with its length, so that none can pass for another.
std::string proposal_digest(std::string_view tool, std::string_view arguments,
                            std::string_view definition,
                            std::string_view basis) {
  std::string canonical{arguments};
  if (const auto value = parse_strict(arguments))
    canonical =
        value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  sha256_stream x;
  for (const auto part : {tool, std::string_view{canonical}, definition, basis})
    x.add(std::to_string(part.size()).append(":").append(part));
  return x.finish();
}

}  // namespace riffle
