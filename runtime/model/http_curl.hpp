// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include <curl/curl.h>

#include "runtime/model/http_transport.hpp"

namespace riffle::model {

struct curl_deleter {
  void operator()(CURL* x) const noexcept { curl_easy_cleanup(x); }
  void operator()(curl_slist* x) const noexcept { curl_slist_free_all(x); }
};

struct multi_deleter {
  void operator()(CURLM* x) const noexcept { curl_multi_cleanup(x); }
};

using easy_handle = std::unique_ptr<CURL, curl_deleter>;
using multi_handle = std::unique_ptr<CURLM, multi_deleter>;
using header_list = std::unique_ptr<curl_slist, curl_deleter>;

/// What curl reads at a time. Bigger reads cost memory for each stream and
/// brought no measurable speed.
inline constexpr long read_size = 16L << 10;

/// Easy handles with all options that do not depend on the request; used
/// again, because making one costs more than a small request. I/O thread only.
class easy_pool {
 public:
  explicit easy_pool(const http_options& options) : options_{options} {}

  /// Null without memory.
  easy_handle take();
  void give(easy_handle x);

 private:
  const http_options& options_;
  std::vector<easy_handle> idle_;
};

/// curl's global initialisation, once in the process.
void init_curl();

}  // namespace riffle::model
