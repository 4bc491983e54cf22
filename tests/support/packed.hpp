// SPDX-License-Identifier: MIT
#pragma once

// Bodies as a server has them that compresses.

#include <cstddef>
#include <string>

#include "tests/support/http_server.hpp"

namespace riffle::testing {

/// "data: squeezed\n\n", by gzip.
inline std::string squeezed() {
  constexpr char bytes[] =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x49\x2c\x49\xb4\x52"
      "\x28\x2e\x2c\x4d\x4d\xad\x4a\x4d\xe1\xe2\x02\x00\x0c\x6c\xf5\xd7"
      "\x10\x00\x00\x00";
  return {bytes, sizeof(bytes) - 1};
}

/// The start of a gzip file of `blocks` * 64 KiB of x: the header, then one
/// deflate block that ends at a byte, again and again.
inline std::string gzip_bomb(std::size_t blocks) {
  constexpr char header[] = "\x1f\x8b\x08\0\0\0\0\0\0\xff";
  constexpr char block[] =
      "\xec\xc1\x01\x01\x00\x00\x00\x80\x90\xdb\xcd\xef\x08\x0a\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x6a\x00\x00"
      "\x00\xff\xff";
  std::string out{header, sizeof(header) - 1};
  for (std::size_t i = 0; i < blocks; ++i) out.append(block, sizeof(block) - 1);
  return out;
}

inline http_reply packed(std::string bytes, const std::string& how = "gzip",
                         const std::string& type = "text/event-stream",
                         int status = 200) {
  return http_reply{status}
      .header("content-type", type)
      .header("content-encoding", how)
      .send(std::move(bytes));
}

}  // namespace riffle::testing
