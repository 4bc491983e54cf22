// SPDX-License-Identifier: MIT
#pragma once

// Many things of one kind, in the three forms of `--output`.

#include <string>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/service/views.hpp"

namespace riffle::cli {

/// Writes each as `text_of(x)`, or `json_of(x)` as one line or member of an
/// array. `none`: what is said to people if there are none. The exit status.
template <class All, class TextOf, class JsonOf>
int write_list(const All& all, const common_options& options,
               const std::string& none, TextOf text_of, JsonOf json_of,
               console& io) {
  auto array = nlohmann::ordered_json::array();
  for (const auto& x : all) {
    switch (options.output) {
      case output_kind::text:
        io.out.write(wrap_rows(text_of(x), io.out.columns()));
        break;
      case output_kind::jsonl:
        io.out.write(service::dump(json_of(x)) + "\n");
        break;
      case output_kind::json: array.push_back(json_of(x)); break;
    }
  }
  if (options.output == output_kind::json)
    io.out.write(service::dump(array) + "\n");
  const bool told = all.empty() && !none.empty() &&
                    options.output == output_kind::text &&
                    options.level != verbosity::quiet;
  if (told) io.complain(none);
  return io.out.good() ? completed : failed;
}

}  // namespace riffle::cli
