// SPDX-License-Identifier: MIT
#include "runtime/storage/crc32c.hpp"

#include <random>
#include <string>

#include "tests/support/catch.hpp"

using riffle::storage::crc32c;
using riffle::storage::crc32c_portable;
using riffle::storage::row_crc;

TEST_CASE("CRC32C gives the values of RFC 3720") {
  std::string up;
  for (char c = 0; c < 32; ++c) up.push_back(c);
  const std::string down{up.rbegin(), up.rend()};
  for (const auto& crc : {crc32c, crc32c_portable}) {
    CHECK(crc(std::string(32, '\0'), 0) == 0x8A9136AAU);
    CHECK(crc(std::string(32, '\xFF'), 0) == 0x62A8AB43U);
    CHECK(crc(up, 0) == 0x46DD794EU);
    CHECK(crc(down, 0) == 0x113FDB5CU);
    CHECK(crc("123456789", 0) == 0xE3069283U);
    CHECK(crc("", 0) == 0U);
  }
}

TEST_CASE("CRC32C by instruction, by table and in pieces is the same") {
  std::mt19937 random{7};
  std::string bytes(1000, '\0');
  for (auto& c : bytes) c = static_cast<char>(random());
  const std::string_view all = bytes;
  for (std::size_t size = 0; size < 100; ++size) {
    const auto start = random() % 900;
    const auto cut = size == 0 ? 0 : random() % size;
    const auto part = all.substr(start, size);
    CHECK(crc32c(part) == crc32c_portable(part));
    CHECK(crc32c(part.substr(cut), crc32c(part.substr(0, cut))) ==
          crc32c(part));
  }
}

TEST_CASE("bytes that move between the parts of a row change its checksum") {
  CHECK(row_crc{}.add("ab").add("c").value() !=
        row_crc{}.add("a").add("bc").value());
  CHECK(row_crc{}.add(std::uint64_t{1}).value() !=
        row_crc{}.add(std::uint64_t{256}).value());
}
